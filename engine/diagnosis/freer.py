"""Options of a compile under which an output would have gone further than it did."""

from __future__ import annotations

from dataclasses import replace

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.walk import reach
from engine.source import CancelToken, GrammarError, LimitExceededError

_IN_ANY_ORDER = "its properties may come in any order (here they come as the schema declares them)"
_BLANKS = "white space is free (option `any`)"


def what_would_help(
    grammar: CompiledGrammar, output: bytes, legal: int, cancel: CancelToken | None = None
) -> tuple[str, ...]:
    """A sentence for each option of a JSON Schema that would take an output further than `legal` bytes."""
    if grammar.notation != "json_schema":
        return ()
    options, notes = grammar.options, []
    for what, freer in (
        (_IN_ANY_ORDER, replace(options, property_order="any")),
        (_BLANKS, replace(options, whitespace="any")),
    ):
        if freer != options and (how_far := _how_far(grammar, freer, output, legal, cancel)):
            notes.append(f"It would be {how_far} where {what}.")
    return tuple(notes)


def relaxed_for_verdict(
    grammar: CompiledGrammar, output: bytes, cancel: CancelToken | None = None
) -> CompiledGrammar | None:
    """Compile a grammar so that it accepts how others may write the texts that it describes.

    Returns:
        The grammar with any escapes; None where that changes nothing for this output.
    """
    if grammar.notation != "json_schema" or grammar.options.escapes == "any" or b"\\" not in output:
        return None
    try:
        return compile_grammar(grammar.notation, grammar.source, replace(grammar.options, escapes="any"), cancel=cancel)
    except (GrammarError, LimitExceededError):
        return None


def needless_escape(grammar: CompiledGrammar, output: bytes, front: int) -> int:
    """Return where the escape begins at which an output leaves its grammar, of which it is legal with any escapes.

    Args:
        grammar: the grammar, with fewer escapes.
        output: the output.
        front: how many bytes are skipped in front of it.
    """
    legal = front + reach(grammar.automaton, output[front:])
    return output.rfind(b"\\", front, legal + 1)


def _how_far(
    grammar: CompiledGrammar, options: CompileOptions, output: bytes, legal: int, cancel: CancelToken | None
) -> str:
    """How far an output gets under other options; empty where that is no further."""
    try:
        freer = compile_grammar(grammar.notation, grammar.source, options, cancel=cancel)
        gets = 0 if freer.is_empty else reach(freer.automaton, output)
        if gets <= legal:
            return ""
        if gets < len(output):
            return "legal further on"
        return "complete" if freer.fullmatch(output) else "legal to its end"
    except (GrammarError, LimitExceededError):
        return ""
