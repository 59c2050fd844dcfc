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
from dataclasses import dataclass
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
from engine.notations.gbnf.checks import check_rules
from engine.notations.gbnf.reader import GbnfReader, RuleError, error
from engine.source import Diagnostic, GrammarError, Limits, Severity, SourceText, Span, checkpoint

MOST_FINDINGS: Final = 100
"""The largest number of reported findings; errors come before warnings, and these before hints."""

_DEFINES: Final = re.compile(r"[ \t]*::=")
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
    limits.check("characters of the grammar", len(source.text), limits.source_length, "source_length")
    parser = _Parser(source, limits)
    parser.run()
    grammar, findings = check_rules(parser.rules, source, parser.reader.findings)
    findings = sorted(findings, key=lambda finding: _RANK[finding.severity])[:MOST_FINDINGS]
    findings.sort(key=lambda finding: finding.span)
    if grammar is None:
        raise GrammarError(findings, source)
    return grammar, tuple(findings)


class _Parser:
    def __init__(self, source: SourceText, limits: Limits) -> None:
        self.rules: dict[str, Rule] = {}
        self.reader = GbnfReader(source.text)
        self._source = source
        self._limits = limits
        self._symbols = _LlamaSymbols()
        self._frames: list[_Frame] = []
        self._underscored: list[Span] = []

    def run(self) -> None:
        """Read all rules, or stop after enough errors."""
        reader = self.reader
        reader.skip_blanks(lines=True)
        while not reader.at_end and reader.errors < MOST_FINDINGS:
            try:
                self._rule()
            except RuleError as problem:
                reader.add(problem.finding)
                reader.skip_to_next_rule()
            reader.skip_blanks(lines=True)
        if self._underscored:
            self._report_underscores()

    def _report_underscores(self) -> None:
        first = self._underscored[0]
        name = self.reader.text[first.start : first.end]
        others = len(self._underscored) - 1
        instead = name.replace("_", "-")
        if others:
            self.reader.report("gbnf-compat-name.several", first, name=name, instead=instead, others=others)
        else:
            self.reader.report("gbnf-compat-name", first, name=name, instead=instead)

    def _rule(self) -> None:
        reader = self.reader
        start = reader.at
        name = reader.name()
        if not name:
            raise error("gbnf-no-rule", reader.here())
        span = reader.since(start)
        reader.skip_blanks(lines=False)
        if not reader.accept("::="):
            raise error("gbnf-no-definition", reader.here(), name=name)
        if "_" in name:
            self._underscored.append(span)
        self._symbols.name(name)
        reader.skip_blanks(lines=True)
        reader.crossing = None
        try:
            node = self._body(span)
        except RuleError as problem:
            self.rules.setdefault(name, Rule(name, NEVER, span))  # defined, so that its uses are not reported
            if reader.crossing is None:
                raise
            raise self._crossed() from problem
        self._report_line_crossing()
        if name in self.rules:
            line, _ = self._source.line_column(start)
            reader.report("gbnf-duplicate-rule", self.rules.pop(name).span, name=name, line=line)
        self.rules[name] = Rule(name, node, span)

    # Literals and classes that cross a line end

    def _crossed(self) -> RuleError:
        """Return the likely error in a broken rule: a quote or bracket that is closed on a later line."""
        reader = self.reader
        assert reader.crossing is not None
        reader.at = reader.crossing.start
        is_literal = reader.peek() == '"'
        key = "gbnf-unclosed-literal.on-line" if is_literal else "gbnf-unclosed-class.on-line"
        return error(key, Span(reader.at, reader.at + 1))

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
            frame, nested = frames[-1], len(frames) > 1
            following = reader.peek()
            if following == "(":
                self._open()
            elif following == ")" and nested:
                self._close()
            elif following == "|":
                reader.at += 1
                reader.skip_blanks(lines=True)
                frame.end_alternative(reader.at)
            elif following and following in "*+?{":
                self._repeat(frame)
            elif self._element(frame, rule):
                reader.skip_blanks(lines=nested)
            elif not nested and following and following in "\r\n" and reader.continues():
                reader.skip_blanks(lines=True)
                reader.report("gbnf-compat-line", reader.here())
            else:
                return self._end()

    def _end(self) -> Node:
        reader, frames = self.reader, self._frames
        if reader.at_end and len(frames) > 1:
            raise self._unclosed_group()
        if not reader.at_end and reader.peek() not in "\r\n":
            raise self._unexpected()
        return frames[0].finish(None)

    def _unclosed_group(self) -> RuleError:
        start = self._frames[-1].start
        return error("gbnf-unclosed-group", Span(start, start + 1))

    def _unexpected(self) -> RuleError:
        found = self.reader.peek()
        if found == ")":
            return error("gbnf-no-group", self.reader.here())
        shown = found if found.isprintable() else found.encode("unicode_escape").decode("ascii")
        return error("gbnf-unexpected", self.reader.here(), character=shown)

    def _open(self) -> None:
        reader = self.reader
        start = reader.at
        reader.at += 1
        self._check_depth(len(self._frames), Span(start, start + 1))
        before = self._symbols.count
        self._symbols.generate(1)
        reader.skip_blanks(lines=True)
        self._frames.append(_Frame(reader.at, before, start))

    def _check_depth(self, depth: int, span: Span) -> None:
        if depth > self._limits.nesting:
            raise error("gbnf-nesting-limit", span, limit=self._limits.nesting)

    def _close(self) -> None:
        reader = self.reader
        frame = self._frames.pop()
        reader.at += 1
        span = reader.since(frame.start)
        node = frame.finish(span)
        symbols = max(1, self._symbols.count - frame.symbols_before)
        self._frames[-1].add(_Item(node, span, frame.depth + 1, frame.weight, symbols))
        reader.skip_blanks(lines=len(self._frames) > 1)

    def _element(self, frame: _Frame, rule: Span) -> bool:
        """Read a literal, class, name, dot or token; return False if there is none."""
        reader = self.reader
        start, following = reader.at, reader.peek()
        node: Node
        if following == '"':
            node = _read_literal(reader)
        elif following == "[":
            node = _read_class(reader)
        elif following == ".":
            reader.at += 1
            node = Chars(ANY, reader.since(start))
        elif following and following in "<!":
            node = _read_token(reader)
        elif name := reader.name():
            if _DEFINES.match(reader.text, reader.at):
                raise self._definition_inside(name, start, rule)
            self._symbols.name(name)
            node = RuleReference(name, reader.since(start))
        else:
            return False
        frame.add(_Item(node, reader.since(start), vanished=isinstance(node, Empty)))
        return True

    def _definition_inside(self, name: str, start: int, rule: Span) -> RuleError:
        """Report a rule that begins inside another; if it begins a line, parsing continues there."""
        reader = self.reader
        line_end = max(reader.text.rfind("\n", rule.end, start), reader.text.rfind("\r", rule.end, start))
        span = reader.since(start)
        reader.at = start if line_end < 0 else line_end
        if len(self._frames) > 1:
            return self._unclosed_group()
        return error("gbnf-rule-inside", span, name=name, outer=reader.text[rule.start : rule.end])

    # Repetition

    def _repeat(self, frame: _Frame) -> None:
        reader = self.reader
        start, nested = reader.at, len(self._frames) > 1
        minimum, maximum = _read_bounds(reader, lines=nested)
        span = reader.since(start)
        quantifier = reader.text[start : reader.at]
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
        repeated_span = reader.since(item.span.start)
        node = Repeat(item.node, minimum, maximum, repeated_span)
        frame.add(_Item(node, repeated_span, depth, weight, item.symbols, repeated=True, vanished=maximum == 0))
        reader.skip_blanks(lines=nested)


# An escape includes the next character, valid or not.
# ---------------------------------------------------------------------- literals, classes and token elements

_LITERAL: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_CLASS: Final = re.compile(r"\[(?:[^\]\\]++|\\.)*+\]", re.DOTALL)
_LINE_END: Final = re.compile(r"[\r\n]")
_SURROGATES: Final = CharSet(((0xD800, 0xDFFF),))
_LAST_TOKEN_ID: Final = 2**31 - 1


_ASCII: Final = tuple(CharSet(((code, code),)) for code in range(0x80))


def _read_literal(reader: GbnfReader) -> Node:
    """Read a literal: a character, a sequence of them, or nothing."""
    start = reader.at
    end = _closing(reader, _LITERAL)
    if end is None:
        raise error("gbnf-unclosed-literal", reader.here())
    reader.at += 1
    characters: list[Node] = []
    while reader.at < end:
        at = reader.at
        code = reader.character()
        node = Chars(_ASCII[code], Span(at, reader.at)) if code < 0x80 else _chars(reader, CharSet(((code, code),)), at)
        characters.append(node)
    reader.at = end + 1
    if not characters:
        return Empty(reader.since(start))
    return characters[0] if len(characters) == 1 else Sequence(tuple(characters), reader.since(start))


def _read_class(reader: GbnfReader) -> Node:
    """Read a class. Without members it matches the empty text, negated or not, as in llama.cpp."""
    start = reader.at
    end = _closing(reader, _CLASS)
    if end is None:
        raise error("gbnf-unclosed-class", reader.here())
    reader.at += 1
    negated = reader.accept("^")
    if reader.at == end:
        reader.at += 1
        reader.report("gbnf-empty-class", reader.since(start), text="[^]" if negated else "[]")
        return Empty(reader.since(start))
    ranges: list[tuple[int, int]] = []
    while reader.at < end:
        at = reader.at
        first = last = reader.character()
        if reader.peek() == "-" and reader.at + 1 < end:
            reader.at += 1
            last = reader.character()
        if first <= last:
            ranges.append((first, last))
        else:
            reader.report("gbnf-bad-range", reader.since(at), range=reader.text[at : reader.at])
    reader.at = end + 1
    members = CharSet.of(ranges)
    return _chars(reader, ~members if negated else members, start)


def _closing(reader: GbnfReader, pattern: re.Pattern[str]) -> int | None:
    """Return the offset of the closing quote or bracket, or None."""
    found = pattern.match(reader.text, reader.at)
    if found is None:
        return None
    if reader.crossing is None and _LINE_END.search(reader.text, found.start(), found.end()):
        reader.crossing = Span(*found.span())
    return found.end() - 1


def _chars(reader: GbnfReader, characters: CharSet, start: int) -> Node:
    span = Span(start, reader.at)
    if characters.ranges and characters.ranges[0][0] < 0xD800:
        return Chars(characters, span)
    if characters - _SURROGATES:
        return Chars(characters, span)
    if characters:
        reader.report("gbnf-lone-surrogate", span, text=reader.text[start : reader.at])
    return Never(span)


def _read_token(reader: GbnfReader) -> Node:
    """Read `<name>` or `<[id]>`, or `!` before one of them."""
    start = reader.at
    negated = reader.accept("!")
    opened = reader.at
    if not reader.accept("<"):
        raise error("gbnf-bad-token.negation", reader.since(start))
    if reader.accept("["):
        number = reader.number()
        if number is None or not reader.accept("]>"):
            raise error("gbnf-bad-token.id", reader.since(start))
        if number > _LAST_TOKEN_ID:
            raise error("gbnf-bad-token.too-large", reader.since(start), last=_LAST_TOKEN_ID)
        return TokenSet((), (number,), negated, reader.since(start))
    end = reader.text.find(">", reader.at)
    line = _LINE_END.search(reader.text, reader.at, end if end >= 0 else len(reader.text))
    if end < 0 or line:
        raise error("gbnf-bad-token.unclosed", Span(start, reader.at))
    reader.at = end + 1
    return TokenSet((reader.text[opened : reader.at],), (), negated, reader.since(start))


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


def _read_bounds(reader: GbnfReader, *, lines: bool) -> tuple[int, int | None]:
    """Read one of `* + ? {n} {n,} {n,m} {,n}`."""
    start = reader.at
    sign = reader.peek()
    reader.at += 1
    if sign in _SIGNS:
        return _SIGNS[sign]
    reader.skip_blanks(lines=lines)
    minimum = maximum = reader.number()
    reader.skip_blanks(lines=lines)
    if reader.accept(","):
        reader.skip_blanks(lines=lines)
        maximum = reader.number()
        reader.skip_blanks(lines=lines)
    if not reader.accept("}") or (minimum is None and maximum is None):
        raise error("gbnf-bad-repetition", reader.since(start))
    if minimum is None:
        reader.report("gbnf-compat-repetition.no-minimum", reader.since(start))
        return 0, maximum
    if maximum is not None and maximum < minimum:
        raise error("gbnf-bad-repetition.reversed", reader.since(start), minimum=minimum, maximum=maximum)
    return minimum, maximum


_LLAMA_REPETITIONS: Final = 2000  # its MAX_REPETITION_THRESHOLD


class _LlamaSymbols:
    """The number of symbols in llama.cpp's table, which it limits.

    llama.cpp expands repetitions to rules and refuses a size beyond a threshold (`handle_repetitions` in
    `src/llama-grammar.cpp`). It counts symbols: every name that it has seen, one for a group, and one for each optional
    repetition. The count is tracked here only to report what llama.cpp refuses.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._generated = 0

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
        if problem is None and item.symbols >= _LLAMA_REPETITIONS:
            problem = "gbnf-compat-repetition.rules", {"count": item.symbols, "most": _LLAMA_REPETITIONS}
        self.generate(1 if maximum is None else maximum - minimum)
        return problem
