"""The rules of a job's grammar for printing, and the reasons why it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from engine.compile import CompiledGrammar, compile_grammar
from engine.export.rules.cleanup import trimmed, without_direct_left_recursion
from engine.export.rules.flatten import is_recursive
from engine.export.schema.settings import NumberSpelling
from engine.export.target import ExportJob, ExportOptions, OptionName
from engine.export.text.conversion import (
    Conversion,
    automaton_grammar,
    close_objects,
    to_gbnf,
    to_regex,
    without_frames,
)
from engine.grammar import Grammar
from engine.grammar.analysis import left_recursion
from engine.source import CancelToken, GrammarError, LimitExceededError
from engine.source.catalogue import catalogue_text

_KNOWN: Final[
    WeakKeyDictionary[CompiledGrammar, dict[NumberSpelling, Conversion | GrammarError | LimitExceededError]]
] = WeakKeyDictionary()
"""The rules of a grammar, or why it has none: shared by all targets of a list and the export itself."""
_WITHOUT_STACK: Final[WeakKeyDictionary[CompiledGrammar, dict[NumberSpelling, str]]] = WeakKeyDictionary()
"""Why a grammar cannot be written without a stack."""


def nothing_to_write() -> str:
    """Return why a grammar that matches nothing does not fit."""
    return catalogue_text("export.refusal.fragment.nothing_to_write")


def names_tokens() -> str:
    """Return why a grammar that names tokens does not fit."""
    return catalogue_text("export.refusal.fragment.names_tokens")


def nests_without_bound() -> str:
    """Return why recursive rules do not fit without a depth."""
    return catalogue_text("export.refusal.fragment.nests_without_bound")


_NESTING: Final = {"export-recursive": nests_without_bound, "export-open": close_objects}
"""The reasons in lists, by the code of the finding."""


@dataclass(frozen=True, slots=True)
class PlainGrammar:
    """Rules, and which texts they lack, a sentence each."""

    grammar: Grammar
    notes: tuple[str, ...]


def refusal(compiled: CompiledGrammar, options: ExportOptions) -> str:
    """Return why a grammar cannot be written as rules over characters; for a JSON Schema this writes them."""
    if compiled.is_empty:
        return nothing_to_write()
    if compiled.automaton.token_elements:
        return names_tokens()
    return schema_refusal(compiled, options)


def schema_refusal(compiled: CompiledGrammar, options: ExportOptions) -> str:
    """Return why a JSON Schema cannot be written as rules; empty for other notations."""
    if not compiled.describes_json:
        return ""
    try:
        converted(compiled, options.spelling)
    except GrammarError as error:
        return error.diagnostics[0].message
    except LimitExceededError as error:
        return str(error)
    return ""


def is_converted(compiled: CompiledGrammar) -> bool:
    """Return whether `converted` has an answer in plain spelling."""
    return NumberSpelling.PLAIN in _KNOWN.get(compiled, {})


def left_recursive_rule(compiled: CompiledGrammar) -> str:
    """Return the name of a GBNF rule whose left recursion cannot be removed; empty if there is none."""
    if not compiled.has_named_rules or compiled.grammar is None or _is_finite(compiled):
        return ""
    cycles = left_recursion(without_direct_left_recursion(compiled.grammar))
    return cycles[0].references[-1].name if cycles else ""


def _is_finite(compiled: CompiledGrammar) -> bool:
    return compiled.is_regular and not compiled.automaton.token_elements


def gbnf_grammar(job: ExportJob) -> PlainGrammar:
    """Return the rules of a GBNF grammar, rewritten if they are left-recursive and need not be.

    Raises:
        LimitExceededError: the automaton that replaces them is too large.
        CancelledError: the job was cancelled.
    """
    compiled = job.compiled
    assert compiled.grammar is not None
    if not left_recursion(compiled.grammar):
        return PlainGrammar(compiled.grammar, ())
    grammar = without_direct_left_recursion(compiled.grammar)
    if not left_recursion(grammar):
        return PlainGrammar(grammar, (catalogue_text("export.note.fragment.as_loops"),))
    if _is_finite(compiled):
        return PlainGrammar(
            automaton_grammar(compiled, job.cancel), (catalogue_text("export.note.fragment.rewritten"),)
        )
    return PlainGrammar(compiled.grammar, ())


def refusal_without_stack(compiled: CompiledGrammar, options: ExportOptions) -> str:
    """Return why a grammar cannot be written as one expression; empty where it can.

    Recursion is checked first, since it is usually found before all rules of a JSON Schema are written.
    """
    if compiled.is_empty:
        return nothing_to_write()
    if compiled.automaton.token_elements:
        return names_tokens()
    if found := nesting_refusal(compiled, options):
        return found
    # Without a depth, nesting_refusal has already written the expression.
    return schema_refusal(compiled, options) if options.depth is not None else ""


def nesting_refusal(compiled: CompiledGrammar, options: ExportOptions) -> str:
    """Return why rules cannot be written without a stack; for a JSON Schema this writes them."""
    if options.depth is not None or compiled.is_regular:
        return ""
    if compiled.grammar is not None:
        return nests_without_bound() if is_recursive(compiled.grammar) else ""
    known = _WITHOUT_STACK.setdefault(compiled, {})
    if options.spelling not in known:
        try:
            to_regex(compiled, options.spelling)
            known[options.spelling] = ""
        except GrammarError as error:
            found = error.diagnostics[0]
            reason = _NESTING.get(found.code)
            known[options.spelling] = found.message if reason is None else reason()
    return known[options.spelling]


def converted(compiled: CompiledGrammar, spelling: NumberSpelling, cancel: CancelToken | None = None) -> Conversion:
    """Return a JSON Schema or a regex as rules, as `to_gbnf` does; cached as long as the grammar exists.

    Args:
        compiled: the grammar.
        spelling: for a schema, the encodings of strings and numbers.
        cancel: cancels the conversion.

    Raises:
        GrammarError, LimitExceededError: as `to_gbnf`; the error is cached too.
        CancelledError: `cancel` was used.
    """
    known = _KNOWN.setdefault(compiled, {})
    if spelling not in known:
        try:
            known[spelling] = to_gbnf(compiled, spelling, cancel=cancel)
        except (GrammarError, LimitExceededError) as error:
            known[spelling] = without_frames(error)
            raise
    found = known[spelling]
    if isinstance(found, Conversion):
        return found
    raise without_frames(found)


def spelled(compiled: CompiledGrammar) -> frozenset[OptionName]:
    """Return the options of a target that writes rules."""
    return frozenset({"spelling"} if compiled.describes_json else ())


def has_fewer_texts(job: ExportJob) -> bool:
    """Return whether the rules of the job may lack texts of the grammar."""
    return job.compiled.describes_json and job.options.spelling is NumberSpelling.PLAIN


def plain_grammar(job: ExportJob) -> PlainGrammar:
    """Return the job's rules.

    Raises:
        GrammarError: no grammar without a memory can express a schema, or only one that is too large.
        LimitExceededError: a regex with conditions has too large an automaton.
        CancelledError: the job was cancelled.
    """
    if job.compiled.has_named_rules:
        found = gbnf_grammar(job)
    else:
        conversion = converted(job.compiled, job.options.spelling, job.cancel)
        found = PlainGrammar(conversion.grammar, conversion.notes)
    return PlainGrammar(trimmed(found.grammar), found.notes)


def regular_form(job: ExportJob) -> tuple[CompiledGrammar, tuple[str, ...]]:
    """Return a grammar with a finite automaton: the job's own, or its regex, for which a depth may be given.

    Raises:
        GrammarError: its rules nest, and no depth was given; or the regex would be too large.
        CancelledError: the job was cancelled.
    """
    compiled = job.compiled
    if compiled.is_regular:
        return compiled, ()
    conversion = to_regex(compiled, job.options.spelling, depth=job.options.depth, cancel=job.cancel)
    return compile_grammar("regex", conversion.text, cancel=job.cancel), conversion.notes
