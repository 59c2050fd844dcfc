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
from typing import Final

from engine.grammar import NEVER, Chars, Empty, Grammar, Node, Repeat, Rule, RuleReference
from engine.grammar.charset import ANY
from engine.notations.gbnf.checks import check
from engine.notations.gbnf.elements import read_class, read_literal, read_token
from engine.notations.gbnf.frame import GbnfFrame, Item
from engine.notations.gbnf.reader import GbnfReader, RuleError, error
from engine.notations.gbnf.repetition import LlamaSymbols, read_bounds
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
    grammar, findings = check(parser.rules, source, parser.reader.findings)
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
        self._symbols = LlamaSymbols()
        self._frames: list[GbnfFrame] = []
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
        more = f" (and {others:,} more)" if others else ""
        message = f"llama.cpp takes no `_` in a name such as `{name}`{more}"
        hint = f"Write `{name.replace('_', '-')}` for llama.cpp"
        self.reader.note("compat-name", Severity.HINT, first, message, hint)

    def _rule(self) -> None:
        reader = self.reader
        start = reader.at
        name = reader.name()
        if not name:
            raise self._no_rule()
        span = reader.since(start)
        reader.skip_blanks(lines=False)
        if not reader.accept("::="):
            hint = "Write `name ::= …`; a rule goes on over several lines only in parentheses and after `|`"
            raise error("no-definition", reader.here(), f"`{name}` is followed by no `::=`", hint)
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
            message = f"the rule `{name}` is defined again on line {line:,}, and the last definition counts"
            earlier = self.rules.pop(name).span
            reader.note("duplicate-rule", Severity.WARNING, earlier, message, "Remove one, or rename it")
        self.rules[name] = Rule(name, node, span)

    def _no_rule(self) -> RuleError:
        hint = "Write `name ::= …`; a rule goes on over several lines only in parentheses and after `|`"
        return error("no-rule", self.reader.here(), "a rule begins with its name", hint)

    # Literals and classes that cross a line end

    def _crossed(self) -> RuleError:
        """Return the likely error in a broken rule: a quote or bracket that is closed on a later line."""
        reader = self.reader
        assert reader.crossing is not None
        reader.at = reader.crossing.start
        kind, closing = ("literal", '"') if reader.peek() == '"' else ("class", "]")
        what = "text" if kind == "literal" else "class `[`"
        span = Span(reader.at, reader.at + 1)
        return error(f"unclosed-{kind}", span, f"the {what} is not closed on its line", f"Add a `{closing}`")

    def _report_line_crossing(self) -> None:
        reader = self.reader
        if reader.crossing is not None:
            message = "the line's end is part of what this matches"
            reader.note("line-inside", Severity.WARNING, reader.crossing, message, "Write `\\n` for a line's end")

    # Sequences and groups

    def _body(self, rule: Span) -> Node:
        reader = self.reader
        frames = self._frames = [GbnfFrame(reader.at, self._symbols.count)]
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
                message = "llama.cpp ends a rule at the end of its line"
                reader.note("compat-line", Severity.HINT, reader.here(), message, "Put the `|` before the line's end")
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
        return error("unclosed-group", Span(start, start + 1), "the group `(` is never closed", "Add a `)`")

    def _unexpected(self) -> RuleError:
        found = self.reader.peek()
        if found == ")":
            return error("no-group", self.reader.here(), "`)` closes no group", "Remove it, or add a `(`")
        shown = found if found.isprintable() else found.encode("unicode_escape").decode("ascii")
        hint = 'Literal text stands in quotes, such as `"text"`'
        return error("unexpected", self.reader.here(), f"`{shown}` begins nothing here", hint)

    def _open(self) -> None:
        reader = self.reader
        start = reader.at
        reader.at += 1
        self._check_depth(len(self._frames), Span(start, start + 1))
        before = self._symbols.count
        self._symbols.generate(1)
        reader.skip_blanks(lines=True)
        self._frames.append(GbnfFrame(reader.at, before, start))

    def _check_depth(self, depth: int, span: Span) -> None:
        if depth > self._limits.nesting:
            message = f"groups are nested deeper than the limit `nesting` of {self._limits.nesting:,}"
            hint = "Give inner groups a rule of their own, or raise it with --limit nesting=N"
            raise error("nesting-limit", span, message, hint)

    def _close(self) -> None:
        reader = self.reader
        frame = self._frames.pop()
        reader.at += 1
        span = reader.since(frame.start)
        node = frame.finish(span)
        symbols = max(1, self._symbols.count - frame.symbols_before)
        self._frames[-1].add(Item(node, span, frame.depth + 1, frame.weight, symbols))
        reader.skip_blanks(lines=len(self._frames) > 1)

    def _element(self, frame: GbnfFrame, rule: Span) -> bool:
        """Read a literal, class, name, dot or token; return False if there is none."""
        reader = self.reader
        start, following = reader.at, reader.peek()
        node: Node
        if following == '"':
            node = read_literal(reader)
        elif following == "[":
            node = read_class(reader)
        elif following == ".":
            reader.at += 1
            node = Chars(ANY, reader.since(start))
        elif following and following in "<!":
            node = read_token(reader)
        elif name := reader.name():
            if _DEFINES.match(reader.text, reader.at):
                raise self._definition_inside(name, start, rule)
            self._symbols.name(name)
            node = RuleReference(name, reader.since(start))
        else:
            return False
        frame.add(Item(node, reader.since(start), vanished=isinstance(node, Empty)))
        return True

    def _definition_inside(self, name: str, start: int, rule: Span) -> RuleError:
        """Report a rule that begins inside another; if it begins a line, parsing continues there."""
        reader = self.reader
        line_end = max(reader.text.rfind("\n", rule.end, start), reader.text.rfind("\r", rule.end, start))
        span = reader.since(start)
        reader.at = start if line_end < 0 else line_end
        if len(self._frames) > 1:
            return self._unclosed_group()
        message = f"the rule `{name}` begins within the rule `{reader.text[rule.start : rule.end]}`"
        hint = "Begin it on a line of its own; the line before may not end with `|` or `::=`"
        return error("rule-inside", span, message, hint)

    # Repetition

    def _repeat(self, frame: GbnfFrame) -> None:
        reader = self.reader
        start, nested = reader.at, len(self._frames) > 1
        minimum, maximum = read_bounds(reader, lines=nested)
        span = reader.since(start)
        quantifier = reader.text[start : reader.at]
        item = frame.take_last()
        if item is None:
            raise error("nothing-to-repeat", span, f"`{quantifier}` repeats nothing", "Put it behind what it repeats")
        weight = item.weight * max(minimum if maximum is None else maximum, 1)
        if weight > self._limits.repetition:
            message = (
                f"`{quantifier}` makes {weight:,} repetitions, counting those inside it, "
                f"where the limit `repetition` is {self._limits.repetition:,}"
            )
            raise error("repetition-limit", span, message, "Use `*` or `+`, smaller counts, or --limit repetition=N")
        depth = item.depth + item.repeated
        self._check_depth(depth, span)
        problem = self._symbols.repeat(item, minimum, maximum)
        if problem is not None:
            reader.note("compat-repetition", Severity.HINT, span, *problem)
        repeated_span = reader.since(item.span.start)
        node = Repeat(item.node, minimum, maximum, repeated_span)
        frame.add(Item(node, repeated_span, depth, weight, item.symbols, repeated=True, vanished=maximum == 0))
        reader.skip_blanks(lines=nested)
