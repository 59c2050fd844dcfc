"""The parser's position among the tokens of a text, and its findings."""

from __future__ import annotations

from typing import Final

from engine.notations.gbnf.lexer import CHARACTER, RULE_START, TOKEN
from engine.source import Diagnostic, Span, diagnostic

_SIMPLE_ESCAPES: Final = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
_HEX_LENGTHS: Final = {"x": 2, "u": 4, "U": 8}
_LAST_CODE_POINT: Final = 0x10FFFF


class RuleError(Exception):
    """A rule cannot be parsed further; the finding says why."""

    def __init__(self, finding: Diagnostic) -> None:
        super().__init__(finding.message)
        self.finding = finding


def error(key: str, span: Span, /, **fields: object) -> RuleError:
    """Build an error that ends the parsing of a rule; the arguments are those of `diagnostic`."""
    return RuleError(diagnostic(key, span, **fields))


class GbnfReader:
    """The parser's position in a text, and the findings so far.

    Attributes:
        text: the complete text.
        kind: the kind of the next token.
        at: its offset.
        end: the offset after it.
        crossing: the first literal or class of this rule that crosses a line end.
        findings: the findings in order of detection.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.crossing: Span | None = None
        self.findings: list[Diagnostic] = []
        self.go_to(0)

    def report(self, key: str, span: Span, /, **fields: object) -> None:
        """Add a finding that does not end the rule; the arguments are those of `diagnostic`."""
        self.findings.append(diagnostic(key, span, **fields))

    def go_to(self, start: int) -> None:
        """Go to the token that begins at an offset, or the next one; see `advance`."""
        self._tokens = TOKEN.finditer(self.text, start)
        self.advance()

    def advance(self) -> None:
        """Go to the next token that is no white space within a line, and no comment."""
        for found in self._tokens:
            kind = found.lastgroup
            if kind not in {"blank", "comment"}:
                self.kind, (self.at, self.end) = kind, found.span()
                return
        self.kind, self.at, self.end = "end", len(self.text), len(self.text)

    def skip_line_ends(self) -> None:
        """Skip line ends where a rule may continue after them."""
        while self.kind == "line_end":
            self.advance()

    def here(self) -> Span:
        """Return the span of the next character, or the end."""
        return Span(self.at, min(self.at + 1, len(self.text)))

    def skip_to_next_rule(self) -> None:
        """Skip to the next line that begins a rule, or to the end."""
        found = RULE_START.search(self.text, self.at + 1)
        self.go_to(found.start(1) if found else len(self.text))

    def character_end(self, start: int) -> int:
        """Return the end of the character, literal or escaped, that begins at an offset."""
        found = CHARACTER.match(self.text, start)
        return found.end() if found else start + 1

    def code_point(self, start: int, end: int) -> int:
        """Return the code point of a character of a literal or a class, literal or escaped.

        An invalid escape is reported and read as its own last character.
        """
        text = self.text
        if text[start] != "\\":
            return ord(text[start])
        kind, digits = text[start + 1], text[start + 2 : end]
        if kind in _SIMPLE_ESCAPES:
            return ord(_SIMPLE_ESCAPES[kind])
        length = _HEX_LENGTHS.get(kind)
        if length is None:
            if kind.isascii() and kind.isprintable() and not kind.isalnum():
                self.report("gbnf-unknown-escape.sign", Span(start, end), letter=kind, code=ord(kind))
            else:
                self.report("gbnf-unknown-escape", Span(start, end), letter=kind)
            return ord(kind)
        if len(digits) < length:
            full = (digits or "41").rjust(length, "0")
            self.report("gbnf-short-escape", Span(start, end), letter=kind, length=length, digits=full)
            return ord(kind)
        code = int(digits, 16)
        if code > _LAST_CODE_POINT:
            self.report("gbnf-beyond-unicode", Span(start, end), code=code)
            return _LAST_CODE_POINT
        return code
