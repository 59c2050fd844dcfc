"""GBNF parser: text to rules, in one pass with an explicit stack.

Open groups are frames on a list, so nesting never uses Python's call stack. An error inside a literal or a class is
reported and skipped; any other error ends its rule, and parsing continues with the next one. So one parse reports all
errors.

The accepted syntax and its meaning follow llama.cpp's own parser (`llama_grammar_parser` in `src/llama-grammar.cpp`).
In addition, names may contain `_`, `{,n}` counts from zero, an alternative may begin on a new line, any number of
repetitions within the limit is allowed, and left recursion compiles. Each is reported as a hint, since llama.cpp
refuses it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from engine.grammar import (
    NEVER,
    Chars,
    CharSet,
    Choice,
    Empty,
    Grammar,
    Never,
    Node,
    Repeat,
    Rule,
    RuleReference,
    Sequence,
    TokenSet,
)
from engine.grammar.charset import ANY
from engine.grammar.rule_facts import JoinedFacts, RuleFacts
from engine.notations.gbnf.checks import check_rules
from engine.notations.gbnf.lexer import MEMBER
from engine.notations.gbnf.reader import GbnfReader, RuleError, error
from engine.source import Diagnostic, GrammarError, Limits, Severity, SourceText, Span, checkpoint, diagnostic

MOST_FINDINGS: Final = 100
"""The largest number of reported findings; errors come before warnings, and these before hints."""

_ELEMENTS: Final = frozenset(("name", "literal", "class", "any", "element", "defined", "open_literal", "open_class"))
_RANK: Final = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.HINT: 2}


def parse(source: SourceText, limits: Limits) -> tuple[Grammar, tuple[Diagnostic, ...]]:
    """Parse a grammar.

    A rule that matches nothing is `Never` in the grammar, with a warning.

    Returns:
        The rules, and warnings and hints in source order.

    Raises:
        GrammarError: the text is malformed, or a rule is missing; it carries all findings.
        LimitExceededError: the text is too long.
    """
    limits.check("errors.limit.grammar_length", len(source.text), limits.source_length, "source_length")
    parser, joined = RuleParser(source, limits), JoinedRules(source)
    while joined.takes_more and (part := parser.next_part()) is not None:
        joined.add(part)
    grammar, findings = joined.checked()
    if grammar is None:
        raise GrammarError(findings, source)
    return grammar, findings


@dataclass(slots=True)
class RulePart:
    """The part of a parse from the beginning of one rule to that of the next one.

    Attributes:
        start: where the rule begins.
        header_end: the offset after its `::=`.
        rule: the rule; None if there is no definition.
        is_broken: whether an error ended it.
        findings: the findings in it, without those about several rules.
        has_many_symbols: whether a repetition may be too large for llama.cpp, depending on the names before it.
        facts: the facts about the rule.
    """

    start: int
    header_end: int = 0
    rule: Rule | None = None
    is_broken: bool = False
    findings: tuple[Diagnostic, ...] = ()
    has_many_symbols: bool = False
    facts: RuleFacts | None = None


class JoinedRules:
    """The rules of a text, and the findings about them.

    Args:
        source: the text.
        joined: the facts about the rules of the text before, if it was similar.
    """

    def __init__(self, source: SourceText, joined: JoinedFacts | None = None) -> None:
        self._source = source
        self._joined = joined or JoinedFacts()
        self._rules: dict[str, Rule] = {}
        self._facts: dict[str, RuleFacts] = {}
        self._shifts: dict[str, int] = {}
        self._findings: list[Diagnostic] = []
        self._errors = 0
        self._underscored: list[Span] = []

    @property
    def takes_more(self) -> bool:
        """Return whether there are not enough errors yet."""
        return self._errors < MOST_FINDINGS

    def add(self, part: RulePart, shift: int = 0) -> None:
        """Add the next part of the text.

        Args:
            part: the part.
            shift: by how much its spans are before those in the text.
        """
        for found in part.findings:
            self._findings.append(replace(found, span=found.span.moved(shift)) if shift else found)
            self._errors += found.severity is Severity.ERROR
        if part.rule is None:
            return
        name, span = part.rule.name, part.rule.span.moved(shift)
        if "_" in name:
            self._underscored.append(span)
        if name in self._rules:
            if part.is_broken:
                return
            line, _ = self._source.line_column(span.start)
            first = self._rules.pop(name).span
            del self._facts[name]
            self._findings.append(diagnostic("gbnf-duplicate-rule", first, name=name, line=line))
        if part.facts is None:
            part.facts = RuleFacts(part.rule.node)
        self._rules[name] = Rule(name, part.rule.node, span) if shift else part.rule
        self._facts[name], self._shifts[name] = part.facts, shift

    def checked(self) -> tuple[Grammar | None, tuple[Diagnostic, ...]]:
        """Return the grammar, or None if there are errors, and all findings in source order."""
        if self._underscored:
            self._report_underscores()
        self._joined.rules = self._facts
        grammar, findings = check_rules(self._rules, self._source, self._findings, self._joined, self._shifts)
        findings = sorted(findings, key=lambda finding: _RANK[finding.severity])[:MOST_FINDINGS]
        return grammar, tuple(sorted(findings, key=lambda finding: finding.span))

    def _report_underscores(self) -> None:
        first = self._underscored[0]
        name = self._source.excerpt(first)
        others = len(self._underscored) - 1
        instead = name.replace("_", "-")
        key = "gbnf-compat-name.several" if others else "gbnf-compat-name"
        fields = {"others": others} if others else {}
        self._findings.append(diagnostic(key, first, name=name, instead=instead, **fields))


class RuleParser:
    """Reads a text rule by rule.

    Args:
        source: the text.
        limits: the limits of rules.
        knows_names: whether a rule depends on the names before it, as llama.cpp's number of symbols does; otherwise,
            `RulePart.has_many_symbols` says whether it may.
    """

    def __init__(self, source: SourceText, limits: Limits, *, knows_names: bool = True) -> None:
        self.reader = GbnfReader(source.text)
        self.reader.skip_line_ends()
        self._limits = limits
        self._knows_names = knows_names
        self._symbols = _LlamaSymbols()
        self._frames: list[_Frame] = []

    def next_part(self) -> RulePart | None:
        """Read the next rule; None at the end of the text."""
        reader = self.reader
        if reader.kind == "end":
            return None
        if not self._knows_names:
            self._symbols = _LlamaSymbols()
        part, before = RulePart(reader.at), len(reader.findings)
        try:
            self._rule(part)
        except RuleError as problem:
            part.is_broken = True
            reader.findings.append(problem.finding)
            reader.skip_to_next_rule()
        reader.skip_line_ends()
        part.findings = tuple(reader.findings[before:])
        part.has_many_symbols = self._symbols.were_many
        return part

    def _rule(self, part: RulePart) -> None:
        reader = self.reader
        if reader.kind != "defined":
            raise self._no_definition()
        span = Span(reader.at, reader.end)
        name = reader.text[span.start : span.end]
        reader.advance()
        part.header_end = reader.end
        reader.advance()
        self._symbols.name(name)
        reader.skip_line_ends()
        reader.crossing = None
        part.rule = Rule(name, NEVER, span)  # defined also if it is broken, so that its uses are not reported
        try:
            part.rule = Rule(name, self._body(span), span)
        except RuleError as problem:
            if reader.crossing is None:
                raise
            raise self._crossed() from problem
        self._report_line_crossing()

    def _no_definition(self) -> RuleError:
        reader = self.reader
        if reader.kind != "name":
            return error("gbnf-no-rule", reader.here())
        name = reader.text[reader.at : reader.end]
        reader.advance()
        return error("gbnf-no-definition", reader.here(), name=name)

    # Literals and classes that cross a line end

    def _crossed(self) -> RuleError:
        """Return the likely error in a broken rule: a quote or bracket that is closed on a later line."""
        reader = self.reader
        assert reader.crossing is not None
        reader.go_to(reader.crossing.start)
        is_literal = reader.kind == "literal"
        return error("gbnf-unclosed-literal.on-line" if is_literal else "gbnf-unclosed-class.on-line", reader.here())

    def _report_line_crossing(self) -> None:
        reader = self.reader
        if reader.crossing is not None:
            reader.report("gbnf-line-inside", reader.crossing)

    # Sequences and groups

    def _body(self, rule: Span) -> Node:
        reader = self.reader
        frames = self._frames = [_Frame(reader.at, self._symbols.count)]
        while True:
            checkpoint()
            frame, nested, kind = frames[-1], len(frames) > 1, reader.kind
            if kind in _ELEMENTS:
                self._element(frame, rule)
                if nested:
                    reader.skip_line_ends()
            elif kind == "open":
                self._open()
            elif kind == "close" and nested:
                self._close()
            elif kind == "bar":
                reader.advance()
                reader.skip_line_ends()
                frame.end_alternative(reader.at)
            elif kind in {"sign", "count"}:
                self._repeat(frame)
            elif kind == "end" and nested:
                raise self._unclosed_group()
            elif kind in {"end", "line_end"}:
                reader.skip_line_ends()
                if reader.kind != "bar":
                    return frame.finish(None)
                reader.report("gbnf-compat-line", reader.here())
            else:
                raise self._unexpected()

    def _unclosed_group(self) -> RuleError:
        start = self._frames[-1].start
        return error("gbnf-unclosed-group", Span(start, start + 1))

    def _unexpected(self) -> RuleError:
        if self.reader.kind == "close":
            return error("gbnf-no-group", self.reader.here())
        found = self.reader.text[self.reader.at]
        if found == "!":
            return error("gbnf-bad-token.negation", self.reader.here())
        shown = found if found.isprintable() else found.encode("unicode_escape").decode("ascii")
        return error("gbnf-unexpected", self.reader.here(), character=shown)

    def _open(self) -> None:
        reader = self.reader
        start = reader.at
        reader.advance()
        self._check_depth(len(self._frames), Span(start, start + 1))
        before = self._symbols.count
        self._symbols.generate(1)
        reader.skip_line_ends()
        self._frames.append(_Frame(reader.at, before, start))

    def _check_depth(self, depth: int, span: Span) -> None:
        if depth > self._limits.nesting:
            raise error("gbnf-nesting-limit", span, limit=self._limits.nesting)

    def _close(self) -> None:
        reader = self.reader
        frame = self._frames.pop()
        span = Span(frame.start, reader.end)
        reader.advance()
        node = frame.finish(span)
        symbols = max(1, self._symbols.count - frame.symbols_before)
        self._frames[-1].add(_Item(node, span, frame.depth + 1, frame.weight, symbols))
        if len(self._frames) > 1:
            reader.skip_line_ends()

    def _element(self, frame: _Frame, rule: Span) -> None:
        """Read a literal, class, name, dot or token."""
        reader = self.reader
        kind, span = reader.kind, Span(reader.at, reader.end)
        node: Node
        if kind == "name":
            name = reader.text[span.start : span.end]
            self._symbols.name(name)
            node = RuleReference(name, span)
        elif kind == "literal":
            node = _read_literal(reader, span)
        elif kind == "class":
            node = _read_class(reader, span)
        elif kind == "any":
            node = Chars(ANY, span)
        elif kind == "element":
            node = _read_element(reader, span)
        elif kind == "defined":
            raise self._definition_inside(span, rule)
        elif kind == "open_literal":
            raise error("gbnf-unclosed-literal", reader.here())
        else:
            raise error("gbnf-unclosed-class", reader.here())
        reader.advance()
        frame.add(_Item(node, span, vanished=isinstance(node, Empty)))

    def _definition_inside(self, span: Span, rule: Span) -> RuleError:
        """Report a rule that begins inside another; if it begins a line, parsing continues there."""
        text = self.reader.text
        line_end = max(text.rfind("\n", rule.end, span.start), text.rfind("\r", rule.end, span.start))
        if line_end >= 0:
            self.reader.go_to(line_end)
        if len(self._frames) > 1:
            return self._unclosed_group()
        name, outer = text[span.start : span.end], text[rule.start : rule.end]
        return error("gbnf-rule-inside", span, name=name, outer=outer)

    # Repetition

    def _repeat(self, frame: _Frame) -> None:
        reader = self.reader
        nested, span = len(self._frames) > 1, Span(reader.at, reader.end)
        quantifier = reader.text[span.start : span.end]
        minimum, maximum = _read_count(reader, lines=nested) if quantifier[0] == "{" else _SIGNS[quantifier]
        item = frame.take_last()
        if item is None:
            raise error("gbnf-nothing-to-repeat", span, quantifier=quantifier)
        weight = item.weight * max(minimum if maximum is None else maximum, 1)
        if weight > self._limits.repetition:
            limit = self._limits.repetition
            raise error("gbnf-repetition-limit", span, quantifier=quantifier, given=weight, limit=limit)
        depth = item.depth + item.repeated
        self._check_depth(depth, span)
        problem = self._symbols.repeat(item, minimum, maximum)
        if problem is not None:
            key, fields = problem
            reader.report(key, span, **fields)
        repeated_span = Span(item.span.start, span.end)
        node = Repeat(item.node, minimum, maximum, repeated_span)
        frame.add(_Item(node, repeated_span, depth, weight, item.symbols, repeated=True, vanished=maximum == 0))
        reader.advance()
        if nested:
            reader.skip_line_ends()


# ---------------------------------------------------------------------- literals, classes and token elements

_ELEMENT: Final = re.compile(r"(!?)<(?:(\[)(?:([0-9]+)(\]>)?)?)?")
_SURROGATES: Final = CharSet(((0xD800, 0xDFFF),))
_LAST_TOKEN_ID: Final = 2**31 - 1
_MOST_DIGITS: Final = 19  # of a number, which is then beyond any limit
_PLAIN: Final = {chr(code): CharSet(((code, code),)) for code in range(0x80) if chr(code) != "\\"}


def _read_literal(reader: GbnfReader, span: Span) -> Node:
    """Read a literal: a character, a sequence of them, or nothing."""
    _note_crossing(reader, span)
    text, at, end, known = reader.text, span.start + 1, span.end - 1, _PLAIN
    characters: list[Node] = []
    while at < end:
        checkpoint()
        start, plain = at, known.get(text[at])
        if plain is not None:
            at += 1
            characters.append(Chars(plain, Span(start, at)))
        else:
            at = reader.character_end(start)
            code = reader.code_point(start, at)
            characters.append(_chars(reader, CharSet(((code, code),)), Span(start, at)))
    if not characters:
        return Empty(span)
    return characters[0] if len(characters) == 1 else Sequence(tuple(characters), span)


def _read_class(reader: GbnfReader, span: Span) -> Node:
    """Read a class. Without members it matches the empty text, negated or not, as in llama.cpp."""
    _note_crossing(reader, span)
    negated = reader.text.startswith("^", span.start + 1)
    first_member, end = span.start + 1 + negated, span.end - 1
    if first_member == end:
        reader.report("gbnf-empty-class", span, text="[^]" if negated else "[]")
        return Empty(span)
    ranges: list[tuple[int, int]] = []
    for found in MEMBER.finditer(reader.text, first_member, end):
        checkpoint()
        low, _, high = found.groups()
        first = last = ord(low) if len(low) == 1 else reader.code_point(*found.span(1))
        if high:
            last = ord(high) if len(high) == 1 else reader.code_point(*found.span(3))
        if first <= last:
            ranges.append((first, last))
        else:
            reader.report("gbnf-bad-range", Span(*found.span()), range=found[0])
    members = CharSet.of(ranges)
    return _chars(reader, ~members if negated else members, span)


def _note_crossing(reader: GbnfReader, span: Span) -> None:
    lines = reader.text.find("\n", span.start, span.end) >= 0 or reader.text.find("\r", span.start, span.end) >= 0
    if lines and reader.crossing is None:
        reader.crossing = span


def _chars(reader: GbnfReader, characters: CharSet, span: Span) -> Node:
    if characters.ranges and characters.ranges[0][0] < 0xD800:
        return Chars(characters, span)
    if characters - _SURROGATES:
        return Chars(characters, span)
    if characters:
        reader.report("gbnf-lone-surrogate", span, text=reader.text[span.start : span.end])
    return Never(span)


def _read_element(reader: GbnfReader, span: Span) -> Node:
    """Read `<name>` or `<[id]>`, or `!` before one of them."""
    text = reader.text
    found = _ELEMENT.match(text, span.start)
    assert found is not None
    negation, by_id, digits, closed = found.groups()
    if by_id and not closed:
        raise error("gbnf-bad-token.id", Span(*found.span()))
    if by_id:
        number = int(digits[:_MOST_DIGITS])
        if number > _LAST_TOKEN_ID:
            raise error("gbnf-bad-token.too-large", Span(*found.span()), last=_LAST_TOKEN_ID)
        return TokenSet((), (number,), bool(negation), span)
    if text[span.end - 1] != ">":
        raise error("gbnf-bad-token.unclosed", Span(*found.span()))
    return TokenSet((text[span.start + len(negation) : span.end],), (), bool(negation), span)


# ---------------------------------------------------------------------- open groups


@dataclass(slots=True)
class _Item:
    """The operand of a quantifier.

    Attributes:
        span: its span, parentheses included.
        depth: the nesting depth of groups and stacked repetitions inside.
        weight: the largest product of nested repetition counts.
        symbols: its size in llama.cpp's symbols, which llama.cpp limits.
        repeated: whether it is a repetition already.
        vanished: whether it is empty in llama.cpp, which then refuses to repeat it.
    """

    node: Node
    span: Span
    depth: int = 0
    weight: int = 1
    symbols: int = 1
    repeated: bool = False
    vanished: bool = False


class _Frame:
    """One open group, or a rule's complete body.

    Attributes:
        start: the offset of its parenthesis, or the start of the body.
        symbols_before: the number of llama.cpp's symbols before the group.
        depth: the largest of its items.
        weight: the largest of its items.
    """

    __slots__ = ("_alternatives", "_begin", "_items", "_last", "_spans", "depth", "start", "symbols_before", "weight")

    def __init__(self, begin: int, symbols_before: int, start: int | None = None) -> None:
        self.start = begin if start is None else start
        self.symbols_before = symbols_before
        self.depth = 0
        self.weight = 1
        self._alternatives: list[Node] = []
        self._items: list[Node] = []
        self._spans: list[Span] = []
        self._last: _Item | None = None
        self._begin = begin

    def add(self, item: _Item) -> None:
        """Append an item."""
        self._items.append(item.node)
        self._spans.append(item.span)
        self._last = item
        self.depth = max(self.depth, item.depth)
        self.weight = max(self.weight, item.weight)

    def take_last(self) -> _Item | None:
        """Remove and return the last item of this alternative, or None; it will be repeated."""
        item = self._last
        if item is not None:
            self._items.pop()
            self._spans.pop()
            self._last = None
        return item

    def end_alternative(self, begin: int) -> None:
        """Begin a new alternative at `begin`."""
        self._alternatives.append(self._sequence(None))
        self._items, self._spans, self._last, self._begin = [], [], None, begin

    def finish(self, span: Span | None) -> Node:
        """Return the node of everything read.

        Args:
            span: the group's span with its parentheses; None for a rule's body.
        """
        if not self._alternatives:
            return self._sequence(span)
        self._alternatives.append(self._sequence(None))
        alternatives = tuple(self._alternatives)
        return Choice(alternatives, span or Span(alternatives[0].span.start, self._end()))

    def _end(self) -> int:
        return self._spans[-1].end if self._spans else self._begin

    def _sequence(self, span: Span | None) -> Node:
        if len(self._items) == 1:
            return self._items[0]
        if not self._items:
            return Empty(span or Span(self._begin, self._begin))
        return Sequence(tuple(self._items), span or Span(self._spans[0].start, self._end()))


# ---------------------------------------------------------------------- quantifiers

_SIGNS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_COUNT: Final = r"\{{{blank}([0-9]++)?{blank}(,)?(?(2){blank}([0-9]++)?{blank})(\}})?"
_COUNT_IN_LINE: Final = re.compile(_COUNT.format(blank=r"(?:[ \t]|#[^\r\n]*+)*+"))
_COUNT_OVER_LINES: Final = re.compile(_COUNT.format(blank=r"(?:[ \t\r\n]|#[^\r\n]*+)*+"))


def _read_count(reader: GbnfReader, *, lines: bool) -> tuple[int, int | None]:
    """Read one of `{n} {n,} {n,m} {,n}`."""
    found = (_COUNT_OVER_LINES if lines else _COUNT_IN_LINE).match(reader.text, reader.at)
    assert found is not None
    low, comma, high, closed = found.groups()
    span = Span(*found.span())
    if not closed or not (low or high):
        reader.go_to(span.end)
        raise error("gbnf-bad-repetition", span)
    minimum = int(low[:_MOST_DIGITS]) if low else None
    maximum = int(high[:_MOST_DIGITS]) if high else None if comma else minimum
    if minimum is None:
        reader.report("gbnf-compat-repetition.no-minimum", span)
        return 0, maximum
    if maximum is not None and maximum < minimum:
        raise error("gbnf-bad-repetition.reversed", span, minimum=minimum, maximum=maximum)
    return minimum, maximum


_LLAMA_REPETITIONS: Final = 2000  # its MAX_REPETITION_THRESHOLD


class _LlamaSymbols:
    """The number of symbols in llama.cpp's table, which it limits.

    llama.cpp expands repetitions to rules and refuses a size beyond a threshold (`handle_repetitions` in
    `src/llama-grammar.cpp`). It counts symbols: every name that it has seen, one for a group, and one for each optional
    repetition. The count is tracked here only to report what llama.cpp refuses.

    Attributes:
        were_many: whether a repetition reached the threshold.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._generated = 0
        self.were_many = False

    @property
    def count(self) -> int:
        """The number of symbols."""
        return len(self._names) + self._generated

    def name(self, name: str) -> None:
        """Count the name of a rule that is defined or used."""
        self._names.add(name)

    def generate(self, number: int) -> None:
        """Count generated rules."""
        self._generated += number

    def repeat(self, item: _Item, minimum: int, maximum: int | None) -> tuple[str, dict[str, int]] | None:
        """Count a repetition and update its item.

        Args:
            item: the operand.
            minimum: the smallest count.
            maximum: the largest count; None for any number.

        Returns:
            The key of a diagnostic and its fields if llama.cpp behaves differently, else None.
        """
        problem: tuple[str, dict[str, int]] | None = None
        if item.vanished:
            problem = "gbnf-compat-repetition.empty", {}
        if minimum > _LLAMA_REPETITIONS:
            problem = "gbnf-compat-repetition.minimum", {"most": _LLAMA_REPETITIONS}
        elif maximum is not None and maximum > _LLAMA_REPETITIONS:
            problem = "gbnf-compat-repetition.maximum", {"most": _LLAMA_REPETITIONS}
            maximum = None
        total = max(minimum if maximum is None else maximum, 1)
        item.symbols *= total
        if item.symbols >= _LLAMA_REPETITIONS:
            self.were_many = True
        if problem is None and item.symbols >= _LLAMA_REPETITIONS:
            problem = "gbnf-compat-repetition.rules", {"count": item.symbols, "most": _LLAMA_REPETITIONS}
        self.generate(1 if maximum is None else maximum - minimum)
        return problem
