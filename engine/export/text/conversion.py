"""Conversion between notations: a JSON Schema or a regex to GBNF, a schema or GBNF to a regex.

The result has exactly the texts of the original, or fewer if requested: with plain spelling only those in one encoding,
with a depth only those that nest no deeper. Its notes say which. What a grammar without a memory cannot express is
refused.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from engine.compile import CompiledGrammar, compile_grammar
from engine.export.rules.character_automaton import MOST_STATES, character_system, read_characters
from engine.export.rules.flatten import RecursiveError, flatten, is_recursive
from engine.export.rules.llama_limits import within_llama_limits
from engine.export.rules.right_linear import solve
from engine.export.rules.rule_builder import START, RuleBuilder
from engine.export.schema.names import SchemaNames
from engine.export.schema.numbers import MOST_WHOLE
from engine.export.schema.rules import SchemaRules
from engine.export.schema.sequence_automata import NotContextFreeError
from engine.export.schema.settings import NumberSpelling, SchemaRuleSettings
from engine.export.text.print_regex import Dialect, NoRegexError, print_regex
from engine.grammar import NEVER, Grammar, Lookaround, Node, Rule
from engine.grammar.nodes import parts
from engine.grammar.print_gbnf import print_rules
from engine.grammar.simplify import simplify
from engine.notations.gbnf.parser import parse as parse_gbnf
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.schema_automaton.pushdown.automaton import DEEPEST, JsonAutomaton
from engine.source import CancelToken, EngineError, GrammarError, LimitExceededError, Span, diagnostic
from engine.source.catalogue import catalogue_text
from engine.source.collection import no_collection

TOO_LARGE: Final = "export-too-large"
"""The diagnostic code of a schema whose rules are too large."""
_Error = TypeVar("_Error", bound=EngineError)
_Places: TypeAlias = dict[str, tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class _Request:
    """The settings of a cached schema grammar; see `SchemaRuleSettings`."""

    spelling: NumberSpelling
    loops_as_rules: bool = True
    may_recurse: bool = True
    merges_copies: bool = False


@dataclass(frozen=True, slots=True)
class GrammarRules:
    """A schema or a regex as rules.

    Attributes:
        grammar: the rules.
        notes: which texts of the schema the rules leave out, one sentence each.
        places: the source positions of each rule.
        has_rule_loops: `loops_as_rules` made a difference.
    """

    grammar: Grammar
    notes: tuple[str, ...] = ()
    places: _Places = field(default_factory=dict)
    has_rule_loops: bool = False


_CLOSABLE: Final[WeakKeyDictionary[CompiledGrammar, bool]] = WeakKeyDictionary()
_SCHEMA_RULES: Final[WeakKeyDictionary[CompiledGrammar, dict[_Request, GrammarRules | EngineError]]] = (
    WeakKeyDictionary()
)
"""The rules of a schema, or the error. Several targets need them, each for its refusal and for the export."""


def already_regex() -> str:
    """Return why a regex is not converted to a regex."""
    return catalogue_text("export.refusal.fragment.already_regex")


def open_objects() -> str:
    """Return why a schema needs a stack if it needs none with `CompileOptions.additional="closed"`."""
    return catalogue_text("export.refusal.fragment.open_objects")


def close_objects() -> str:
    """Return the same as `open_objects`, and what to do on the command line."""
    return catalogue_text("export.refusal.fragment.close_objects")


class NotConvertibleError(EngineError):
    """There is no conversion from one notation to the other."""


@dataclass(frozen=True, slots=True)
class WrittenRule:
    """A rule of a converted text, and its source.

    Attributes:
        name: its name in the text.
        span: the span of the complete rule in that text, without the line end.
        places: the source positions: its own first, then others that it represents; for a schema each schema with its
            key. Empty for common rules, such as white space.
    """

    name: str
    span: Span
    places: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversion:
    """A grammar in another notation.

    Attributes:
        text: the text; it compiles in that notation.
        grammar: its rules as written; each with its source position, empty if it has none.
        notes: which texts of the source it lacks, a sentence each; empty if none.
        rules: the rules of GBNF, in the order of the text; empty for a regex.
    """

    text: str
    grammar: Grammar
    notes: tuple[str, ...] = ()
    rules: tuple[WrittenRule, ...] = ()


def to_gbnf(
    compiled: CompiledGrammar, spelling: NumberSpelling = NumberSpelling.PLAIN, *, cancel: CancelToken | None = None
) -> Conversion:
    """Convert a JSON Schema or a regex to GBNF that llama.cpp accepts.

    Args:
        compiled: the grammar, with its options.
        spelling: for a schema, the encodings of strings and numbers.
        cancel: cancels the conversion.

    Raises:
        GrammarError: no grammar without a memory can express it, or only one that is too large.
        LimitExceededError: a regex with conditions has too large an automaton.
        NotConvertibleError: it is GBNF already.
        CancelledError: `cancel` was used.
    """
    written = rules_of(compiled, spelling, cancel)
    lines = [f"# {note}\n" for note in written.notes]
    at = sum(map(len, lines))
    rules = []
    for rule, line in print_rules(written.grammar):
        own = (rule.span,) if rule.span.end else ()
        span = Span(at, at + len(line) - 1)
        rules.append(WrittenRule(line.partition(" ")[0], span, written.places.get(rule.name, own)))
        lines.append(line)
        at += len(line)
    return Conversion("".join(lines), written.grammar, written.notes, tuple(rules))


def rules_of(
    compiled: CompiledGrammar,
    spelling: NumberSpelling,
    cancel: CancelToken | None = None,
    *,
    merges_copies: bool = False,
) -> GrammarRules:
    """Return the rules of `to_gbnf` without their text.

    Args:
        compiled: the grammar, with its options.
        spelling: for a schema, the encodings of strings and numbers.
        cancel: cancels the conversion.
        merges_copies: for a schema, as in `SchemaRuleSettings`: faster, with less fitting names.

    Raises:
        GrammarError, LimitExceededError, NotConvertibleError, CancelledError: as `to_gbnf`.
    """
    with no_collection(), _deep_recursion(), _in_scope(cancel):
        if compiled.describes_json:
            found = _schema_grammar(compiled, _Request(spelling, merges_copies=merges_copies), cancel)
        elif compiled.has_named_rules:
            raise NotConvertibleError("errors.export.conversion.already_gbnf")
        else:
            found = GrammarRules(_expression_grammar(compiled, cancel))
        return replace(found, grammar=within_llama_limits(found.grammar))


def to_regex(
    compiled: CompiledGrammar,
    spelling: NumberSpelling = NumberSpelling.PLAIN,
    *,
    depth: int | None = None,
    dialect: Dialect = "python",
    cancel: CancelToken | None = None,
) -> Conversion:
    """Convert a JSON Schema or GBNF to one regex for a full match; or a regex with lookaround to one without.

    Args:
        compiled: the grammar, with its options.
        spelling: for a schema, the encodings of strings and numbers.
        depth: how often a rule may be nested in itself, itself included; None to refuse recursion.
        dialect: the regex dialect; they differ only in code points beyond U+FFFF.
        cancel: cancels the conversion.

    Raises:
        GrammarError: its rules are recursive and there is no `depth`, or the regex would be too large.
        LimitExceededError: a regex with lookaround has too large an automaton.
        NotConvertibleError: it is a regex already that needs no rewriting.
        CancelledError: `cancel` was used.
    """
    with no_collection(), _deep_recursion(), _in_scope(cancel):
        return _as_regex(compiled, spelling, depth, dialect, cancel)


def _as_regex(
    compiled: CompiledGrammar, spelling: NumberSpelling, depth: int | None, dialect: Dialect, cancel: CancelToken | None
) -> Conversion:
    notes: tuple[str, ...] = ()
    if compiled.describes_json:
        try:
            written = _without_rule_loops(compiled, spelling, cancel, may_recurse=depth is not None)
        except RecursiveError as error:
            raise _nests(compiled, error, cancel) from error
        grammar, notes = written.grammar, written.notes
    elif compiled.has_named_rules:
        grammar, _ = parse_gbnf(compiled.source, compiled.options.limits)
        if compiled.is_regular and is_recursive(grammar):
            grammar = automaton_grammar(compiled, cancel)
    elif looks_around(compiled):
        grammar = automaton_grammar(compiled, cancel)
    elif compiled.is_expression:
        raise NotConvertibleError("export.refusal.fragment.already_regex")
    else:
        grammar = Grammar((Rule(START, expression(compiled)),), START)
    if depth is not None and is_recursive(grammar):
        notes = (*notes, catalogue_text("export.note.fragment.cut", depth=depth))
    try:
        node = flatten(grammar, depth)
        text = print_regex(node, dialect, compiled.options.limits)
    except RecursiveError as error:
        raise _nests(compiled, error, cancel) from error
    except (NoRegexError, LimitExceededError) as error:
        raise _refused(compiled, "export-no-regex", Span(0, 0), reason=error) from error
    return Conversion(text, Grammar((Rule(START, node),), START), notes)


def without_frames(error: _Error) -> _Error:
    """Return a copy of an error without its traceback, whose frames would keep the grammar in memory."""
    return copy(error)


def _nests(compiled: CompiledGrammar, error: RecursiveError, cancel: CancelToken | None) -> GrammarError:
    if needs_closing(compiled, cancel):
        return _refused(compiled, "export-open", error.span, reason=close_objects())
    return _refused(compiled, "export-recursive", error.span, reason=error)


def needs_closing(compiled: CompiledGrammar, cancel: CancelToken | None = None) -> bool:
    """Return whether a JSON Schema needs a stack only for the properties that it does not declare.

    This compiles the schema with `additional="closed"`, once for each grammar.
    """
    if not compiled.describes_json or compiled.options.additional == "closed":
        return False
    known = _CLOSABLE.get(compiled)
    if known is None:
        options = replace(compiled.options, additional="closed")
        try:
            closed = compile_grammar(compiled.notation, compiled.source, options, cancel=cancel)
            with _deep_recursion(), _in_scope(cancel):
                written = _without_rule_loops(closed, NumberSpelling.PLAIN, cancel, may_recurse=False)
            known = not closed.is_empty and not is_recursive(written.grammar)
        except (GrammarError, LimitExceededError, RecursiveError):
            known = False
        _CLOSABLE[compiled] = known
    return known


def expression(compiled: CompiledGrammar) -> Node:
    """Return the only rule of a grammar without named rules."""
    assert compiled.grammar is not None
    (rule,) = compiled.grammar.rules
    return rule.node


def looks_around(compiled: CompiledGrammar) -> bool:
    """Return whether an expression has conditions after those decided by their position are removed."""
    return any(isinstance(part, Lookaround) for part in parts(simplify(expression(compiled))))


def is_plain_expression(compiled: CompiledGrammar) -> bool:
    """Return whether a grammar is a regular expression already that needs no rewriting."""
    return compiled.is_expression and not looks_around(compiled)


def automaton_grammar(compiled: CompiledGrammar, cancel: CancelToken | None) -> Grammar:
    """Return a regular grammar from its minimal automaton, its longer parts in non-recursive rules."""
    builder = RuleBuilder(compiled.options.limits)
    namer = builder.namer(Span(0, 0), "rest")
    dfa = compiled.materialise(MOST_STATES, cancel=cancel)
    node: Node = NEVER
    if dfa.start is not None:
        node = solve(read_characters(dfa), 0, namer, compiled.options.limits, loops_as_rules=False)
    builder.define(builder.name(START), node, Span(0, 0))
    return builder.grammar()


def _refused(compiled: CompiledGrammar, code: str, span: Span, **fields: object) -> GrammarError:
    span = span if span.end else Span(0, len(compiled.source.text))
    return GrammarError((diagnostic(code, span, **fields),), compiled.source)


def _expression_grammar(compiled: CompiledGrammar, cancel: CancelToken | None) -> Grammar:
    """Return a grammar of one expression as rules; from its automaton if it has lookaround."""
    limits, node = compiled.options.limits, expression(compiled)
    span, node = node.span, simplify(node)
    builder = RuleBuilder(limits)
    if any(isinstance(part, Lookaround) for part in parts(node)):
        system = character_system(node, limits, cancel=cancel)
        node = NEVER if system is None else solve(system, 0, builder.namer(span, "rest"), limits, loops_as_rules=True)
    builder.define(builder.name(START), node, span)
    return builder.grammar()


def _without_rule_loops(
    compiled: CompiledGrammar, spelling: NumberSpelling, cancel: CancelToken | None, *, may_recurse: bool
) -> GrammarRules:
    """Return a JSON Schema as rules that refer to themselves only where the schema recurses."""
    if spelling is NumberSpelling.PLAIN:  # with any spelling, loops_as_rules changes formats, too
        try:
            found = _schema_grammar(compiled, _Request(spelling, may_recurse=may_recurse), cancel)
        except GrammarError as error:
            if error.diagnostics[0].code != TOO_LARGE:
                raise
        else:
            if not found.has_rule_loops:
                return found
    return _schema_grammar(compiled, _Request(spelling, loops_as_rules=False, may_recurse=may_recurse), cancel)


def recurses(compiled: CompiledGrammar, spelling: NumberSpelling, cancel: CancelToken | None = None) -> bool:
    """Return whether a JSON Schema is found to recurse before all of its rules are written.

    If not, all rules are written and cached; they may still recurse.

    Args:
        compiled: the schema.
        spelling: the encodings of strings and numbers.
        cancel: cancels the work.

    Raises:
        GrammarError: rules cannot express the schema, or are too large.
        LimitExceededError: a part of it is too large.
        CancelledError: `cancel` was used.
    """
    with no_collection(), _deep_recursion(), _in_scope(cancel):
        try:
            _schema_grammar(compiled, _Request(spelling, may_recurse=False), cancel)
        except RecursiveError:
            return True
    return False


def _schema_grammar(compiled: CompiledGrammar, request: _Request, cancel: CancelToken | None) -> GrammarRules:
    """Return a JSON Schema as rules named after it. The result, or its error, is cached with the grammar.

    Raises:
        GrammarError: rules cannot express the schema, or are too large.
        RecursiveError: the schema recurses, and the request forbids it.
        LimitExceededError: a part of it is too large.
        CancelledError: `cancel` was used.
    """
    known = _SCHEMA_RULES.setdefault(compiled, {})
    found = known.get(request)
    if found is None and not request.may_recurse:
        found = known.get(replace(request, may_recurse=True))
    if found is None:
        try:
            found = _written_schema(compiled, request, cancel)
        except (GrammarError, RecursiveError, LimitExceededError) as error:
            known[request] = without_frames(error)
            raise
        known[replace(request, may_recurse=True)] = found  # it was completed, so it does not depend on may_recurse
    if isinstance(found, GrammarRules):
        return found
    raise without_frames(found)


def _written_schema(compiled: CompiledGrammar, request: _Request, cancel: CancelToken | None) -> GrammarRules:
    """Write a JSON Schema as rules; see `_schema_grammar`."""
    spelling = request.spelling
    automaton = compiled.automaton
    assert isinstance(automaton, JsonAutomaton)
    if compiled.is_empty:
        return GrammarRules(Grammar((Rule(START, NEVER, Span(0, len(compiled.source.text))),), START))
    solver, options = automaton.solver, compiled.options
    names = SchemaNames(solver.arena, compiled.source)
    settings = SchemaRuleSettings(
        spelling,
        Whitespace(options.whitespace),
        Escapes(options.escapes),
        request.loops_as_rules,
        request.may_recurse,
        request.merges_copies,
        options.limits,
        cancel or CancelToken(),
    )
    rules = SchemaRules(solver, names, settings)
    before = solver.provisional_epoch
    try:
        grammar = rules.write(automaton.goal)
    except NotContextFreeError as error:
        raise _not_written(compiled, names, error.span, error) from error
    except LimitExceededError as error:
        raise _not_written(compiled, names, rules.at, error) from error
    if solver.provisional_epoch != before:
        undecided = NotContextFreeError("errors.export.rules.undecided", names.span(automaton.goal))
        raise _not_written(compiled, names, undecided.span, undecided)
    if spelling is NumberSpelling.ANY:
        return GrammarRules(grammar, (), rules.places, rules.has_rule_loops)
    notes = [catalogue_text("export.note.fragment.plain")]
    if rules.counted:
        notes.append(catalogue_text("export.note.fragment.counted", digits=MOST_WHOLE))
    notes += (catalogue_text(f"export.format.fragment.{name}") for name in rules.approximate_formats)
    return GrammarRules(grammar, tuple(notes), rules.places, rules.has_rule_loops)


def _not_written(compiled: CompiledGrammar, names: SchemaNames, span: Span, error: EngineError) -> GrammarError:
    where = names.pointer(span) or catalogue_text("export.refusal.fragment.schema")
    code = TOO_LARGE if isinstance(error, LimitExceededError) else "export-not-context-free"
    return GrammarError((diagnostic(code, span, where=where, reason=error),), compiled.source)


@contextmanager
def _deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + DEEPEST)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@contextmanager
def _in_scope(cancel: CancelToken | None) -> Iterator[None]:
    """Let loops check `cancel`; without one, the current scope is unchanged."""
    if cancel is None:
        yield
    else:
        with cancel.scope():
            yield
