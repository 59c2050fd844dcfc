"""Compile options under which an output would be legal further than it is."""

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
from engine.source.catalogue import catalogue_text
from engine.source.json_scanner import JSON_NUMBER, is_in_string

_OTHER_FORM: Final = re.compile(rb"[0-9][.eE]|-0")
_NUMBER: Final = re.compile(rb"-?[0-9][0-9.eE+-]*|-")  # the last number of a text may be cut off
_LONGEST_PLAIN: Final = 40


def option_suggestions(
    grammar: CompiledGrammar, output: bytes, legal: int, cancel: CancelToken | None = None
) -> tuple[str, ...]:
    """Return a sentence for each option of a JSON Schema under which more than `legal` bytes of an output are legal.

    Args:
        grammar: the grammar.
        output: the output.
        legal: the number of legal bytes.
        cancel: cancels the compilations.
    """
    if not grammar.describes_json:
        return ()
    options, notes = grammar.options, []
    for name, relaxed in (
        ("any_order", replace(options, property_order="any")),
        ("any_space", replace(options, whitespace="any")),
    ):
        if relaxed != options and (progress := _progress_under(grammar, relaxed, output, legal, cancel)):
            notes.append(catalogue_text(f"verdicts.option.{name}", progress=progress))
    return tuple(notes)


def relaxed_grammar(
    grammar: CompiledGrammar, output: bytes, cancel: CancelToken | None = None, *, numbers: bool = True
) -> CompiledGrammar | None:
    """Compile a grammar so that it accepts other valid forms of the texts that it describes.

    Args:
        grammar: the grammar.
        output: the output to judge.
        cancel: cancels the compilation.
        numbers: whether to allow numbers in any form; escapes are always allowed.

    Returns:
        The grammar; None if the verdict on this output would be the same.
    """
    if not grammar.describes_json:
        return None
    options = grammar.options
    if b"\\" in output:
        options = replace(options, escapes="any")
    if numbers and _OTHER_FORM.search(output):
        options = replace(options, numbers="any")
    return _compiled(grammar, options, cancel)


@dataclass(frozen=True, slots=True)
class UnusualForm:
    """A part of an output in a form that JSON permits and Turnstile never writes.

    Attributes:
        start, end: the bytes of the escape or the number.
        is_number: whether it is a number.
        plain: Turnstile's form of the number; empty for an escape, a long number, and a number that is cut off.
    """

    start: int
    end: int
    is_number: bool
    plain: str = ""


def unusual_forms(
    grammar: CompiledGrammar, output: bytes, front: int, cancel: CancelToken | None = None
) -> tuple[UnusualForm, ...]:
    """Find the first escape and the first number whose form makes an output illegal.

    Args:
        grammar: the grammar, which permits one form of each.
        output: the output.
        front: the number of bytes to skip at its start.
        cancel: cancels the compilations.
    """
    found: list[UnusualForm] = []
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


def _unusual_at(output: bytes, front: int, at: int) -> UnusualForm | None:
    if is_in_string(output[front:at]):
        escape = output.rfind(b"\\", front, at + 1)
        size = 6 if output[escape + 1 : escape + 2] == b"u" else 2
        return UnusualForm(escape, escape + size, is_number=False) if escape >= 0 else None
    for match in _NUMBER.finditer(output, front):
        if match.start() <= at <= match.end():
            return UnusualForm(match.start(), match.end(), is_number=True, plain=_plain(match[0].decode("ascii")))
    return None


def _plain(written: str) -> str:
    value = number(written) if JSON_NUMBER.fullmatch(written) else None
    if not isinstance(value, Fraction):
        return ""
    plain = number_language(minimum=value, maximum=value).witness() or ""
    return plain if len(plain) <= _LONGEST_PLAIN else ""


def _compiled(grammar: CompiledGrammar, options: CompileOptions, cancel: CancelToken | None) -> CompiledGrammar | None:
    """Compile a grammar with other options; return None if they are the same, or it does not compile with them."""
    if options == grammar.options:
        return None
    try:
        return compile_grammar(grammar.notation, grammar.source, options, cancel=cancel)
    except (GrammarError, LimitExceededError):
        return None


def _progress_under(
    grammar: CompiledGrammar, options: CompileOptions, output: bytes, legal: int, cancel: CancelToken | None
) -> str:
    """Describe how far an output is legal under other options; empty if it is no further."""
    try:
        relaxed = compile_grammar(grammar.notation, grammar.source, options, cancel=cancel)
        reached = 0 if relaxed.is_empty else reach(relaxed.automaton, output)
        if reached <= legal:
            return ""
        if reached < len(output):
            return catalogue_text("verdicts.option.fragment.further")
        is_complete = relaxed.fullmatch(output)
        return catalogue_text("verdicts.option.fragment.complete" if is_complete else "verdicts.option.fragment.legal")
    except (GrammarError, LimitExceededError):
        return ""
