"""The input of the rules: an output, the grammar that it should match, and results computed from both on demand.

Outputs come from elsewhere, so a JSON output is judged with any white space, escapes and forms of numbers: that servers
choose them differently is no failure. A trigger and blanks behind it precede the judged part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.case import FailureCase, FinishReason, JudgedOutput, RequestConstraint
from engine.diagnosis.failures.counterfactual import (
    Counterfactual,
    option_counterfactual,
    rule_counterfactual,
    schema_counterfactual,
)
from engine.diagnosis.failures.schema_check import KeywordViolation, Schema, violated_keywords
from engine.diagnosis.failures.tolerant_json import ReadOutput, read_output
from engine.diagnosis.intake.schema_words import has_schema_keyword
from engine.diagnosis.verdicts.replay import TokenSource, replay_ids, replay_text
from engine.diagnosis.verdicts.replay_walk import ReplayWalk, output_loops, reach, walk
from engine.diagnosis.verdicts.tokenisation import OutputTokens, given_ids, tokenise
from engine.diagnosis.verdicts.verdict import OutputLoop
from engine.diagnosis.verdicts.wrappers import output_start
from engine.grammar import RuleReference
from engine.notations import NOTATIONS
from engine.notations.lexing import TokenKind, lex
from engine.source import CancelToken, EngineError, GrammarError, LimitExceededError, Limits, Span

EARLY: Final = 2
"""An output that is illegal within its first bytes was probably not constrained at all."""
_LINE_ENDS: Final = (b"\n", b"\r\n")
_THOUGHT: Final = re.compile(rb"\s*<(think|thinking|reasoning)>")
_BLANK_RUN: Final = re.compile(r"[ \t\r\n]{16,}")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_COUNT: Final = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_ANY_TEXT: Final = r"[\U00000001-\U0010FFFF]*"
_LONGEST_WALKED: Final = 800_000
_LONGEST_READ: Final = 800_000


@dataclass(frozen=True, slots=True)
class BlankRun:
    """A run of white space that is no indentation, in bytes of the judged part."""

    start: int
    end: int


class AcceptedPrefix(NamedTuple):
    """The part of an output that an engine accepts.

    Attributes:
        bytes: the number of bytes.
        is_complete: whether the output may end there, and these are all of its bytes.
    """

    bytes: int
    is_complete: bool = False


@dataclass(frozen=True, slots=True)
class ExaminationContext:
    """Hold the settings that all grammars of a failed request share.

    Attributes:
        target: the engine or server, as `NAME` or `NAME@VERSION`; empty if unknown.
        triggers: the texts after which the grammar begins.
        token_source: the vocabulary; None if unknown.
        accepted: the part of the output that other engines accept, by name.
        limits: the limits of each compile.
        cancel: cancels the examination.
    """

    target: str = ""
    triggers: tuple[str, ...] = ()
    token_source: TokenSource | None = None
    accepted: Mapping[str, AcceptedPrefix] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    cancel: CancelToken | None = None


class Examination:
    """An output and its grammar.

    Attributes:
        case: the failed request.
        constraint: the grammar that the output should match; None if there is none.
        part: the judged part of the output; None if there is no output.
        context: target, vocabulary and limits.
        complete_output: the output with thoughts and triggers.
        error: why the grammar does not compile; None if it does.
    """

    def __init__(
        self,
        case: FailureCase,
        constraint: RequestConstraint | None,
        part: JudgedOutput | None,
        context: ExaminationContext = ExaminationContext(),
    ) -> None:
        self.case, self.constraint, self.part, self.context = case, constraint, part, context
        self.complete_output = case.output or b""
        self.error: GrammarError | None = None

    @property
    def cancel(self) -> CancelToken | None:
        """Return what cancels the examination."""
        return self.context.cancel

    @property
    def tokens_from(self) -> TokenSource | None:
        """Return the vocabulary; None if it is unknown."""
        return self.context.token_source

    # --- the grammar

    @property
    def server(self) -> str:
        """Return the name of the target without its version."""
        return self.context.target.partition("@")[0]

    @cached_property
    def grammar(self) -> CompiledGrammar | None:
        """Return the grammar that judges outputs from elsewhere; None if there is none, or it does not compile."""
        if self.constraint is None:
            return None
        options = lenient_options(self.constraint.options, self.context.limits)
        try:
            return compile_grammar(self.constraint.notation, self.constraint.text, options, cancel=self.cancel)
        except GrammarError as error:
            self.error = error
            return None

    @property
    def holds_schema(self) -> bool:
        """Return whether the text of a grammar of rules is a JSON Schema."""
        if self.constraint is None or self.is_json or not self.constraint.text.lstrip().startswith("{"):
            return False
        try:
            return has_schema_keyword(json.loads(self.constraint.text))
        except (ValueError, RecursionError):
            return False

    @property
    def is_json(self) -> bool:
        """Return whether the grammar describes JSON values."""
        return self.constraint is not None and NOTATIONS[self.constraint.notation].describes_json

    @cached_property
    def schema(self) -> Schema:
        """Return the JSON Schema as data; None if the grammar is in another notation."""
        if not self.is_json or self.constraint is None:
            return None
        try:
            return json.loads(self.constraint.text)
        except (ValueError, RecursionError):
            return None

    # --- the output

    @property
    def data(self) -> bytes:
        """Return the judged part of the output."""
        return b"" if self.part is None else self.part.data

    @cached_property
    def text(self) -> str:
        """Return the judged part as text; each invalid byte is one character."""
        return self.data.decode("utf-8", "surrogateescape")

    def byte_of(self, at: int) -> int:
        """Return the offset in bytes of an offset in code points of the judged part."""
        return len(self.text[:at].encode("utf-8", "surrogateescape"))

    def offset_of(self, byte: int) -> int:
        """Return the offset in code points of an offset in bytes of the judged part."""
        return len(self.data[:byte].decode("utf-8", "ignore"))

    @cached_property
    def walked(self) -> ReplayWalk | None:
        """Return the walk over the output; None without a grammar or an output, or if it needs tokens."""
        grammar = self.grammar
        if grammar is None or self.part is None or grammar.is_empty or grammar.automaton.token_elements:
            return None
        try:
            return walk(grammar.automaton, self.data[:_LONGEST_WALKED], self.cancel)
        except LimitExceededError:
            return None

    @property
    def legal(self) -> int:
        """Return the number of legal bytes of the judged part."""
        return 0 if self.walked is None else self.walked.legal

    @property
    def is_prefix(self) -> bool:
        """Return whether all of the output is legal."""
        return self.walked is not None and self.legal == len(self.data)

    @property
    def is_illegal(self) -> bool:
        """Return whether a byte of the output is illegal; behind the longest part that is judged, none is."""
        return self.walked is not None and self.legal < min(len(self.data), _LONGEST_WALKED)

    @property
    def is_too_long(self) -> bool:
        """Return whether all of the part that is judged is legal, and the output is longer."""
        return self.walked is not None and self.legal == _LONGEST_WALKED < len(self.data)

    @cached_property
    def is_accepting(self) -> bool:
        """Return whether the legal part of the output is a complete match."""
        return self.walked is not None and self.grammar is not None and self.grammar.automaton.accepts(self.walked.last)

    @property
    def is_complete(self) -> bool:
        """Return whether the output is a complete match."""
        return self.is_prefix and self.is_accepting

    @cached_property
    def may_continue(self) -> bool:
        """Return whether something other than white space may follow the legal part."""
        if self.walked is None or self.grammar is None:
            return False
        blanks = frozenset(b" \t\r\n")
        ranges = self.grammar.automaton.expected(self.walked.last)
        return any(byte not in blanks for first, last in ranges for byte in range(first, last + 1))

    @property
    def rest(self) -> bytes:
        """Return what follows the legal part."""
        return self.data[self.legal :]

    @cached_property
    def shortest_ending(self) -> bytes | None:
        """Return the shortest text that completes the legal part; None if none was found."""
        if self.walked is None or self.grammar is None:
            return None
        return self.grammar.automaton.shortest_completion(self.walked.last, 2_000, self.cancel).text

    def reach(self, data: bytes) -> int:
        """Return the number of legal bytes of another text."""
        if self.grammar is None or self.grammar.is_empty:
            return 0
        try:
            return reach(self.grammar.automaton, data)
        except LimitExceededError:
            return 0

    def is_match(self, data: bytes) -> bool:
        """Return whether another text is a complete match."""
        try:
            return self.grammar is not None and self.grammar.fullmatch(data)
        except LimitExceededError:
            return False

    @cached_property
    def later_start(self) -> int:
        """Return the byte at which the intended output begins; 0 without evidence for another than the first."""
        if not self.is_illegal or self.grammar is None:
            return 0
        try:
            start = output_start(self.grammar.automaton, self.data, self.legal)
        except LimitExceededError:
            return 0
        root = None if self.read is None else self.read.root
        is_inside = root is not None and root.start < self.offset_of(start) < root.end
        return 0 if is_inside else start  # a part of a recursive schema's value is legal by itself

    @cached_property
    def thought_end(self) -> int | None:
        """Return where the text behind a thought begins; the length if it never ends, None if there is no thought."""
        opened = _THOUGHT.match(self.data)
        if opened is None:
            return None
        closing = b"</" + opened[1] + b">"
        at = self.data.find(closing, opened.end())
        return len(self.data) if at < 0 else at + len(closing)

    @cached_property
    def read(self) -> ReadOutput | None:
        """Return the output as JSON, whatever is wrong in it; None if it is not meant to be JSON."""
        if self.part is None or not (self.is_json or self.data.lstrip()[:1] in (b"{", b"[", b"`")):
            return None
        return None if self.is_too_long or len(self.data) > _LONGEST_READ else read_output(self.text)

    @cached_property
    def keyword_violations(self) -> tuple[KeywordViolation, ...]:
        """Return the keywords that the output violates."""
        if self.read is None or self.read.root is None or self.schema is None or self.grammar is None:
            return ()
        return violated_keywords(self.schema, self.read.root, self.grammar.options)

    @cached_property
    def is_repairable(self) -> bool:
        """Return whether the output is legal once it is JSON."""
        return self.repaired is not None

    @cached_property
    def repaired(self) -> bytes | None:
        """Return the output as legal JSON; None if it is JSON, or still illegal then."""
        if self.read is None or not self.read.defects:
            return None
        text = self.read.repaired
        for candidate in (text, re.sub(r"(?<=[:\[,\s])null(?=[\s,\]}])", "0", text)):
            data = candidate.encode("utf-8", "surrogateescape")
            if self.reach(data) == len(data):
                return data
        return None

    @cached_property
    def counterfactual(self) -> Counterfactual | None:
        """Return the smallest set of keywords, rules or options without which the output is legal."""
        grammar, data = self.grammar, self.data
        if not self.is_illegal or grammar is None or self.constraint is None:
            return None
        if self.is_json:
            if self.schema is None or self.read is None or self.read.root is None:
                return None
            if self.read.defects:
                data = self.read.repaired.encode("utf-8", "surrogateescape")
            return schema_counterfactual(self.schema, data, grammar.options, self.keyword_violations, self.cancel)
        if grammar.is_expression:
            return option_counterfactual(grammar, data, _expression_changes(grammar))
        if grammar.has_named_rules and self.legal > EARLY:
            names, without = _removable_rules(grammar)
            return rule_counterfactual(grammar, data, without, names)
        return None

    @cached_property
    def any_order(self) -> bool:
        """Return whether the output is legal with its properties in any order."""
        if not self.is_illegal or not self.is_json or self.grammar is None or self.constraint is None:
            return False
        options = replace(self.grammar.options, property_order="any")
        try:
            other = compile_grammar(self.constraint.notation, self.constraint.text, options, cancel=self.cancel)
            return reach(other.automaton, self.data) == len(self.data)
        except (GrammarError, LimitExceededError):
            return False

    # --- loops

    @cached_property
    def loops(self) -> tuple[OutputLoop, ...]:
        """Return the loops of the legal part."""
        if self.walked is None or self.grammar is None:
            return ()
        return output_loops(self.grammar.automaton, self.data, self.walked)

    @cached_property
    def blank_run(self) -> BlankRun | None:
        """Return the first long run of white space outside strings that is no indentation."""
        strings = [match.span() for match in _STRING.finditer(self.text)] if self._has_strings else []
        for match in _BLANK_RUN.finditer(self.text):
            if any(start < match.start() < end for start, end in strings):
                continue
            if not _is_indentation(match[0]):
                return BlankRun(self.byte_of(match.start()), self.byte_of(match.end()))
        return None

    @property
    def _has_strings(self) -> bool:
        return self.is_json or self.data.lstrip()[:1] in (b"{", b"[")

    # --- tokens

    @cached_property
    def tokens(self) -> OutputTokens | None:
        """Return the tokens of the output; None if they are unknown."""
        source, grammar = self.tokens_from, self.grammar
        if source is None or self.part is None:
            return None
        if self.case.ids and self.part.start == 0:
            try:
                return given_ids(self.case.ids, source.vocabulary)
            except EngineError:
                return None
        return None if grammar is None else tokenise(self.data, source.vocabulary, grammar.automaton, source.encode)

    @cached_property
    def used_tokens(self) -> int | None:
        """Return the number of tokens of the output, as the response, its scores or the vocabulary say."""
        if self.case.completion_tokens is not None:
            return self.case.completion_tokens
        if self.case.scores:
            return len(self.case.scores)
        if self.case.ids:
            return len(self.case.ids)
        return None if self.tokens is None else self.tokens.text_count

    @cached_property
    def verdict_sentence(self) -> str:
        """Return the sentence of the replay: the first illegal byte and what was expected there."""
        if self.grammar is None or self.part is None:
            return ""
        try:
            if self.grammar.automaton.token_elements:
                if self.tokens_from is None or not self.case.ids:
                    return ""
                return replay_ids(self.grammar, self.case.ids, self.tokens_from, advise=False).sentence
            return replay_text(self.grammar, self.data, self.tokens_from, advise=False, cancel=self.cancel).sentence
        except EngineError:
            return ""

    @property
    def is_cut_by_length(self) -> bool:
        """Return whether the response or the budget says that the output was cut off."""
        if self.case.finish is FinishReason.LENGTH:
            return True
        budget, used = self.case.max_tokens, self.used_tokens
        return self.case.finish is FinishReason.UNKNOWN and None not in (budget, used) and (used or 0) >= (budget or 0)


def lenient_options(options: CompileOptions, limits: Limits) -> CompileOptions:
    """Return options that accept every form of a value that JSON permits."""
    return replace(options, whitespace="any", escapes="any", numbers="any", unenforced="warn", limits=limits)


def without_line_end(data: bytes, is_legal: bool) -> bytes:
    """Return an output without the line end that an editor appends, if it is not legal with it."""
    if is_legal:
        return data
    for end in reversed(_LINE_ENDS):
        if data.endswith(end):
            return data.removesuffix(end)
    return data


def _is_indentation(run: str) -> bool:
    lines = run.count("\n")
    before, after = run.partition("\n")[0], run.rpartition("\n")[2]
    if lines == 0:
        return len(run) < 24
    return lines <= 2 and len(before.strip("\r")) <= 2 and len(after) <= 64


def _expression_changes(grammar: CompiledGrammar) -> list[tuple[str, str, CompileOptions]]:
    text, options = grammar.source.text, grammar.options
    changes = [
        ("ignore-case", f"(?i:{text})", options),
        ("dot-all", f"(?s:{text})", options),
        ("dialect", text, replace(options, dialect="ecma" if options.dialect == "python" else "python")),
        ("repetition", _without_bounds(text), options),
    ]
    return [change for change in changes if change[1:] != (text, options)]


def bounded_repetitions(expression: str) -> Iterator[re.Match[str]]:
    """Yield the counts of a regular expression, such as `{2,5}`, with the least and the greatest number as groups."""
    for token in lex(expression, NOTATIONS["regex"].lex_line):
        match = _COUNT.match(expression, token.start, token.end) if token.kind is TokenKind.QUANTIFIER else None
        if match is not None:
            yield match


def _without_bounds(expression: str) -> str:
    """Return a regular expression with `*` instead of each count."""
    for match in reversed(list(bounded_repetitions(expression))):
        expression = f"{expression[: match.start()]}*{expression[match.end() :]}"
    return expression


def _removable_rules(grammar: CompiledGrammar) -> tuple[list[str], Callable[[frozenset[str]], str]]:
    """Return the rules of a grammar that may be removed, and the function that replaces them by any text."""
    text, notation = grammar.source.text, NOTATIONS[grammar.notation]
    starts = list(notation.rule_starts(text))
    ends = (*(offset for _, offset in starts[1:]), len(text))[: len(starts)]
    spans = {
        name: Span(start, start + len(text[start:end].rstrip()))
        for (name, start), end in zip(starts, ends, strict=True)
    }
    wanted = [name.text for name in notation.names(text) if name.text in spans and name.uses]
    # a rule that is all of the first rule would make every output legal
    excluded = {name for name, _ in starts[:1]}
    bodies = {} if grammar.grammar is None else {rule.name: rule.node for rule in grammar.grammar.rules}
    here = "" if grammar.grammar is None else grammar.grammar.start
    while here in bodies:
        excluded.add(here)
        body = bodies.pop(here)
        here = body.name if isinstance(body, RuleReference) else ""

    def without(removed: frozenset[str]) -> str:
        changed = text
        for name in sorted(removed, key=lambda one: -spans[one].start):
            span = spans[name]
            changed = f"{changed[: span.start]}{name} ::= {_ANY_TEXT}{changed[span.end :]}"
        return changed

    return [name for name in wanted if name not in excluded], without
