"""Options of a compile under which an output would have gone further than it did."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.verdicts.replay_walk import reach
from engine.schema_automaton.formula.values import number
from engine.schema_automaton.number_languages.language import number_language
from engine.source import CancelToken, GrammarError, LimitExceededError
from engine.source.json_scanner import JSON_NUMBER, is_in_string

_IN_ANY_ORDER = "its properties may come in any order (here they come as the schema declares them)"
_OTHER_FORM: Final = re.compile(rb"[0-9][.eE]|-0")
_NUMBER: Final = re.compile(rb"-?[0-9][0-9.eE+-]*|-")  # the last one of a text may be cut off
_LONGEST_PLAIN: Final = 40
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
    grammar: CompiledGrammar, output: bytes, cancel: CancelToken | None = None, *, numbers: bool = True
) -> CompiledGrammar | None:
    """Compile a grammar so that it accepts how others may write the texts that it describes.

    Args:
        grammar: the grammar.
        output: what is judged.
        cancel: asked now and then.
        numbers: whether numbers may be written in any form; escapes always may.

    Returns:
        The grammar; None where this output would be judged the same.
    """
    if grammar.notation != "json_schema":
        return None
    options = grammar.options
    if b"\\" in output:
        options = replace(options, escapes="any")
    if numbers and _OTHER_FORM.search(output):
        options = replace(options, numbers="any")
    return _compiled(grammar, options, cancel)


@dataclass(frozen=True, slots=True)
class UnusualSpelling:
    """A part of an output that the standard allows and Turnstile never writes so.

    Attributes:
        start, end: the bytes of the escape or the number.
        is_number: whether it is a number.
        plain: how Turnstile writes the number; empty for an escape, for a long number, and for one that is cut off.
    """

    start: int
    end: int
    is_number: bool
    plain: str = ""


def unusual_spellings(
    grammar: CompiledGrammar, output: bytes, front: int, cancel: CancelToken | None = None
) -> tuple[UnusualSpelling, ...]:
    """Find the first escape and the first number at which an output leaves its grammar, of which it is legal otherwise.

    Args:
        grammar: the grammar, which allows one spelling of each.
        output: the output.
        front: how many bytes are skipped in front of it.
        cancel: asked now and then.
    """
    found: list[UnusualSpelling] = []
    strict: CompiledGrammar | None = grammar
    while strict is not None and len(found) < 2:
        at = front + reach(strict.automaton, output[front:])
        if at == len(output):
            break
        unusual = _unusual_at(output, front, at)
        if unusual is None or (found and unusual.is_number == found[0].is_number):
            break
        found.append(unusual)
        options = grammar.options
        options = replace(options, numbers="any") if unusual.is_number else replace(options, escapes="any")
        strict = _compiled(grammar, options, cancel)
    return tuple(found)


def _unusual_at(output: bytes, front: int, at: int) -> UnusualSpelling | None:
    if is_in_string(output[front:at]):
        escape = output.rfind(b"\\", front, at + 1)
        size = 6 if output[escape + 1 : escape + 2] == b"u" else 2
        return UnusualSpelling(escape, escape + size, is_number=False) if escape >= 0 else None
    for match in _NUMBER.finditer(output, front):
        if match.start() <= at <= match.end():
            return UnusualSpelling(match.start(), match.end(), is_number=True, plain=_plain(match[0].decode("ascii")))
    return None


def _plain(written: str) -> str:
    value = number(written) if JSON_NUMBER.fullmatch(written) else None
    if not isinstance(value, Fraction):
        return ""
    plain = number_language(minimum=value, maximum=value).witness() or ""
    return plain if len(plain) <= _LONGEST_PLAIN else ""


def _compiled(grammar: CompiledGrammar, options: CompileOptions, cancel: CancelToken | None) -> CompiledGrammar | None:
    """Compile a grammar with other options; None where they are the same, or it does not compile with them."""
    if options == grammar.options:
        return None
    try:
        return compile_grammar(grammar.notation, grammar.source, options, cancel=cancel)
    except (GrammarError, LimitExceededError):
        return None


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
