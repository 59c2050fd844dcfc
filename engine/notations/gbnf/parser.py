"""GBNF text to rules, in one pass with a stack of its own.

Open groups are frames on a list, so nesting never meets Python's call stack. A
mistake ends its rule; reading goes on with the next one, so one parse reports
all of them.

Beyond llama.cpp: names may hold `_`, `{,n}` counts from zero, an alternative may
begin on a line of its own, and left recursion compiles. Each is told of as a
hint, since llama.cpp refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.grammar import NEVER, Chars, CharSet, Choice, Grammar, Node, Reference, Repeat, Rule, Sequence, TokenSet
from engine.grammar.charset import ANY
from engine.notations.gbnf.checks import check
from engine.notations.gbnf.reader import Reader, RuleError, error
from engine.source import Diagnostic, GrammarError, Limits, Severity, SourceText, Span

# `MAX_REPETITION_THRESHOLD` of llama.cpp
_LLAMA_REPETITIONS = 2000


def parse(source: SourceText, limits: Limits) -> tuple[Grammar, tuple[Diagnostic, ...]]:
    """Parse a grammar.

    Returns:
        The rules, and warnings and hints in source order.

    Raises:
        GrammarError: the text is malformed, or a rule is missing; with all findings that could be made.
        LimitExceededError: the text is too long.
    """
    limits.check("characters of the grammar", len(source.text), limits.source_length)
    parser = _Parser(source.text, limits)
    parser.run()
    findings = parser.findings
    grammar = check(parser.rules, source, findings)
    findings.sort(key=lambda finding: finding.span)
    if grammar is None or any(finding.severity is Severity.ERROR for finding in findings):
        raise GrammarError(findings, source)
    return grammar, tuple(findings)


@dataclass(slots=True)
class _Frame:
    """An open group, or the rule itself."""

    start: int
    alternatives: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    # Where a quantifier would apply: false at the beginning and behind `|`
    has_item: bool = False
    alternative_start: int = 0

    def end_alternative(self, end: int) -> None:
        span = Span(min(self.alternative_start, end), end)
        self.alternatives.append(self.items[0] if len(self.items) == 1 else Sequence(tuple(self.items), span))
        self.items = []
        self.has_item = False

    def finish(self, end: int) -> Node:
        self.end_alternative(end)
        if len(self.alternatives) == 1:
            return self.alternatives[0]
        return Choice(tuple(self.alternatives), Span(self.start, end))


class _Parser:
    def __init__(self, text: str, limits: Limits) -> None:
        self.rules: dict[str, Rule] = {}
        self.findings: list[Diagnostic] = []
        self._reader = Reader(text)
        self._limits = limits

    def run(self) -> None:
        reader = self._reader
        reader.skip_blanks(lines=True)
        while not reader.at_end:
            try:
                self._rule()
            except RuleError as problem:
                self.findings.append(problem.finding)
                reader.skip_to_next_rule()
            reader.skip_blanks(lines=True)

    def _note(self, code: str, severity: Severity, span: Span, message: str, hint: str = "") -> None:
        self.findings.append(Diagnostic(f"gbnf-{code}", severity, span, message, hint))

    def _rule(self) -> None:
        reader = self._reader
        start = reader.at
        name = reader.name()
        if not name:
            raise error("no-rule", reader.here(), "a rule begins with its name", "Write `name ::= …`")
        span = reader.since(start)
        reader.skip_blanks(lines=False)
        if not reader.accept("::="):
            raise error("no-definition", reader.here(), f"`{name}` is followed by no `::=`", f"Write `{name} ::= …`")
        if "_" in name:
            hint = f"Write `{name.replace('_', '-')}` for llama.cpp"
            self._note("compat-name", Severity.HINT, span, f"llama.cpp takes no `_` in a name such as `{name}`", hint)
        reader.skip_blanks(lines=True)
        try:
            node = self._body()
        except RuleError:
            self.rules.setdefault(name, Rule(name, NEVER, span))  # what uses it is not to blame
            raise
        if name in self.rules:
            message = f"the rule `{name}` is defined twice; the later one counts"
            self._note("duplicate-rule", Severity.WARNING, span, message, "Remove one, or rename it")
        self.rules[name] = Rule(name, node, span)

    def _body(self) -> Node:
        reader = self._reader
        frames = [_Frame(reader.at, alternative_start=reader.at)]
        while True:
            frame, nested = frames[-1], len(frames) > 1
            following = reader.peek()
            if following == "(":
                frames.append(self._open(len(frames)))
            elif following == ")" and nested:
                frames.pop()
                self._close(frame, frames[-1], lines=len(frames) > 1)
            elif following == "|":
                frame.end_alternative(reader.at)
                reader.at += 1
                reader.skip_blanks(lines=True)
                frame.alternative_start = reader.at
            elif following and following in "*+?{":
                self._quantify(frame)
                reader.skip_blanks(lines=nested)
            elif self._item(frame):
                reader.skip_blanks(lines=nested)
            elif not nested and following in "\r\n" and reader.continues():
                reader.skip_blanks(lines=True)
                message = "llama.cpp ends a rule at the end of its line"
                self._note("compat-line", Severity.HINT, reader.here(), message, "Put the `|` before the line's end")
            else:
                return self._end(frames)

    def _end(self, frames: list[_Frame]) -> Node:
        reader = self._reader
        if len(frames) > 1:
            start = frames[-1].start
            if reader.at_end:
                raise error("unclosed-group", Span(start, start + 1), "the group `(` is never closed", "Add a `)`")
            raise self._unexpected()
        if not reader.at_end and reader.peek() not in "\r\n":
            raise self._unexpected()
        return frames[0].finish(reader.at)

    def _unexpected(self) -> RuleError:
        found = self._reader.peek()
        if found == ")":
            return error("no-group", self._reader.here(), "`)` closes no group", "Remove it, or add a `(`")
        hint = 'Literal text stands in quotes, such as `"text"`'
        return error("unexpected", self._reader.here(), f"`{found}` begins nothing here", hint)

    def _open(self, depth: int) -> _Frame:
        reader = self._reader
        start = reader.at
        reader.at += 1
        if depth > self._limits.nesting:
            message = f"groups are nested deeper than the limit of {self._limits.nesting:,}"
            raise error("nesting-limit", Span(start, start + 1), message, "Give inner groups a rule of their own")
        reader.skip_blanks(lines=True)
        return _Frame(start, alternative_start=reader.at)

    def _close(self, frame: _Frame, around: _Frame, *, lines: bool) -> None:
        reader = self._reader
        node = frame.finish(reader.at)
        reader.at += 1
        around.items.append(node)
        around.has_item = True
        reader.skip_blanks(lines=lines)

    def _item(self, frame: _Frame) -> bool:
        """Read a literal, class, name, dot or token; False where none of them stands here."""
        reader = self._reader
        start, following = reader.at, reader.peek()
        if following == '"':
            node = self._literal()
        elif following == "[":
            node = self._class()
        elif following == ".":
            reader.at += 1
            node = Chars(ANY, reader.since(start))
        elif following and following in "<!":
            node = self._token()
        elif name := reader.name():
            node = Reference(name, reader.since(start))
        else:
            return False
        frame.items.append(node)
        frame.has_item = True
        return True

    def _literal(self) -> Node:
        reader = self._reader
        start = reader.at
        reader.at += 1
        chars: list[Node] = []
        while not reader.accept('"'):
            if reader.at_end:
                raise error("unclosed-literal", Span(start, start + 1), "the text is never closed", 'Add a `"`')
            at = reader.at
            code = reader.character()
            chars.append(Chars(CharSet(((code, code),)), reader.since(at)))
        return chars[0] if len(chars) == 1 else Sequence(tuple(chars), reader.since(start))

    def _class(self) -> Node:
        reader = self._reader
        start = reader.at
        reader.at += 1
        negated = reader.accept("^")
        ranges: list[tuple[int, int]] = []
        while not reader.accept("]"):
            if reader.at_end:
                raise error("unclosed-class", Span(start, start + 1), "the class `[` is never closed", "Add a `]`")
            at = reader.at
            first = last = reader.character()
            if reader.peek() == "-" and reader.peek(2) not in ("-]", "-"):
                reader.at += 1
                last = reader.character()
            if last < first:
                message = f"the range `{reader.text[at : reader.at]}` runs backwards"
                raise error("bad-range", reader.since(at), message, "Swap its ends")
            ranges.append((first, last))
        chars = CharSet.of(ranges)
        return Chars(~chars if negated else chars, reader.since(start))

    def _token(self) -> Node:
        reader = self._reader
        start = reader.at
        negated = reader.accept("!")
        opened = reader.at
        if not reader.accept("<"):
            hint = "Write `!<token>` or `!<[123]>`"
            raise error("bad-token", reader.since(start), "`!` negates a token element only", hint)
        if reader.accept("["):
            number = reader.number()
            if number is None or not reader.accept("]>"):
                raise error("bad-token", reader.since(start), "a token id is written `<[123]>`", "Write digits only")
            return TokenSet((), (number,), negated, reader.since(start))
        end = reader.text.find(">", reader.at)
        line = reader.text.find("\n", reader.at)
        if end < 0 or (0 <= line < end):
            raise error("bad-token", Span(start, reader.at), "the token `<` is never closed", "Add a `>`")
        reader.at = end + 1
        return TokenSet((reader.text[opened : reader.at],), (), negated, reader.since(start))

    def _quantify(self, frame: _Frame) -> None:
        reader = self._reader
        start = reader.at
        minimum, maximum = self._bounds()
        span = reader.since(start)
        if not frame.has_item:
            message = f"`{reader.text[start : reader.at]}` repeats nothing"
            raise error("nothing-to-repeat", span, message, "Put it behind what it repeats")
        for count in (minimum, maximum or 0):
            if count > self._limits.repetition:
                message = f"{count:,} repetitions, where the limit is {self._limits.repetition:,}"
                raise error("repetition-limit", span, message, "Use `*` or `+`, or raise the limit `repetition`")
        if max(minimum, maximum or 0) > _LLAMA_REPETITIONS:
            message = f"llama.cpp refuses more than {_LLAMA_REPETITIONS:,} repetitions"
            self._note("compat-repetition", Severity.HINT, span, message, "Use `*` or `+` for llama.cpp")
        node = frame.items.pop()
        frame.items.append(Repeat(node, minimum, maximum, Span(min(node.span.start, start), reader.at)))

    def _bounds(self) -> tuple[int, int | None]:
        reader = self._reader
        start = reader.at
        sign = reader.peek()
        reader.at += 1
        if sign != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        reader.skip_blanks(lines=False)
        minimum = reader.number()
        reader.skip_blanks(lines=False)
        maximum = minimum
        if reader.accept(","):
            reader.skip_blanks(lines=False)
            maximum = reader.number()
            reader.skip_blanks(lines=False)
        if not reader.accept("}") or (minimum is None and maximum is None):
            hint = "Write `{2}`, `{2,}` or `{2,5}`"
            raise error("bad-repetition", reader.since(start), "`{` begins a count that is malformed", hint)
        if minimum is None:
            message = "llama.cpp wants a number before the comma"
            self._note("compat-repetition", Severity.HINT, reader.since(start), message, "Write `{0,…}`")
            return 0, maximum
        if maximum is not None and maximum < minimum:
            message = f"at least {minimum} and at most {maximum} is impossible"
            raise error("bad-repetition", reader.since(start), message, "Swap the numbers")
        return minimum, maximum
