"""The distance to the end of a text, in a sentence or two."""

from __future__ import annotations

from engine.analysis.token_completion import TokenCompletion
from engine.automata.completion import Completion
from engine.vocabulary.visible import visible

LONGEST_ENDING = 80


def distance_prose(completion: Completion, tokens: TokenCompletion | None = None) -> str:
    """Describe the shortest ending of a text: its length in bytes, and in tokens if given."""
    if completion.is_impossible and tokens is None:
        return "No text completes it: the grammar wants a token taken whole."
    if completion.at_most == 0:
        return "The text may end here."
    sentences = [] if completion.is_impossible else [_in_bytes(completion)]
    if tokens is not None and tokens.is_dead_end:
        sentences.append("No tokens of this vocabulary complete it: this is a dead end.")
    elif tokens is not None:
        sentences.append(f"In tokens it takes {_bounds(tokens.at_least, tokens.at_most)}.")
    return " ".join(sentences)


def _in_bytes(completion: Completion) -> str:
    bounds = _bounds(completion.at_least, completion.at_most)
    plural = "" if completion.at_most == 1 and completion.is_exact else "s"
    ending = ""
    if completion.text is not None:
        shown = visible(completion.text)
        ending = f": `{shown if len(shown) <= LONGEST_ENDING else shown[: LONGEST_ENDING - 1] + '…'}`"
    return f"The shortest ending takes {bounds} byte{plural}{ending}."


def _bounds(at_least: int | None, at_most: int | None) -> str:
    if at_least == at_most:
        return f"{at_least:,}"
    return f"at least {at_least:,}" if at_most is None else f"between {at_least:,} and {at_most:,}"
