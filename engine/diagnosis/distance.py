"""The distance to the end of a text, in a sentence or two."""

from __future__ import annotations

from engine.analysis.token_completion import TokenCompletion
from engine.automata.completion import Completion
from engine.source.catalogue import catalogue_text
from engine.vocabulary.visible import visible

LONGEST_ENDING = 80


def distance_prose(completion: Completion, tokens: TokenCompletion | None = None) -> str:
    """Describe the shortest ending of a text: its length in bytes, and in tokens if given."""
    if completion.is_impossible and tokens is None:
        return catalogue_text("verdicts.distance.token")
    if completion.at_most == 0:
        return catalogue_text("verdicts.distance.here")
    sentences = [] if completion.is_impossible else [_in_bytes(completion)]
    if tokens is not None and tokens.is_dead_end:
        sentences.append(catalogue_text("verdicts.budget.dead_end"))
    elif tokens is not None:
        sentences.append(catalogue_text("verdicts.distance.tokens", bounds=_bounds(tokens.at_least, tokens.at_most)))
    return " ".join(sentences)


def _in_bytes(completion: Completion) -> str:
    bounds = _bounds(completion.at_least, completion.at_most)
    count = 1 if completion.at_most == 1 and completion.is_exact else 2
    ending = ""
    if completion.text is not None:
        shown = visible(completion.text)
        ending = f": `{shown if len(shown) <= LONGEST_ENDING else shown[: LONGEST_ENDING - 1] + '…'}`"
    return catalogue_text("verdicts.distance.bytes", count=count, bounds=bounds, ending=ending)


def _bounds(at_least: int | None, at_most: int | None) -> str:
    if at_least == at_most:
        return f"{at_least:,}"
    if at_most is None:
        return catalogue_text("verdicts.fragment.needs.at_least", least=at_least)
    return catalogue_text("verdicts.distance.fragment.between", least=at_least, most=at_most)
