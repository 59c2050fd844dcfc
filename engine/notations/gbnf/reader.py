"""A cursor over GBNF text: white space, comments, names, characters and their escapes.

The lexical rules are those of llama.cpp's parser (`src/llama-grammar.cpp`) and of its description in
`grammars/README.md`.
"""

from __future__ import annotations

import re
from typing import Final

from engine.source import Diagnostic, Severity, Span, checkpoint, diagnostic

NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
RULE_START: Final = re.compile(r"^[ \t]*([A-Za-z0-9_-]+)[ \t]*::=", re.MULTILINE)
# Possessive: otherwise a comment with `#` could be matched in exponentially many ways.
_BLANK: Final = re.compile(r"(?:[ \t]++|#[^\r\n]*+)++")
_BLANK_LINES: Final = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)++")
_CONTINUATION: Final = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+\|")
_NUMBER: Final = re.compile(r"[0-9]+")

_SIMPLE_ESCAPES: Final = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
_HEX: Final = re.compile(r"[0-9A-Fa-f]*")
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
        at: the offset of the next character.
        crossing: the first literal or class of this rule that crosses a line end.
        findings: the findings in order of detection.
        errors: how many of them are errors.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.crossing: Span | None = None
        self.findings: list[Diagnostic] = []
        self.errors = 0

    def add(self, finding: Diagnostic) -> None:
        """Add a finding."""
        self.findings.append(finding)
        self.errors += finding.severity is Severity.ERROR

    def report(self, key: str, span: Span, /, **fields: object) -> None:
        """Add a finding that does not end the rule; the arguments are those of `diagnostic`."""
        self.add(diagnostic(key, span, **fields))

    @property
    def at_end(self) -> bool:
        """True at the end of the text."""
        return self.at >= len(self.text)

    def peek(self, length: int = 1) -> str:
        """Return the next characters; fewer at the end."""
        return self.text[self.at : self.at + length]

    def accept(self, word: str) -> bool:
        """Consume a word if it comes next."""
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def since(self, start: int) -> Span:
        """Return the span from an earlier offset to the current one."""
        return Span(start, self.at)

    def here(self) -> Span:
        """Return the span of the next character, or the end."""
        return Span(self.at, min(self.at + 1, len(self.text)))

    def skip_blanks(self, *, lines: bool) -> None:
        """Skip white space and comments, and line ends where a rule may continue after them."""
        blank = (_BLANK_LINES if lines else _BLANK).match(self.text, self.at)
        if blank:
            self.at = blank.end()

    def continues(self) -> bool:
        """Return whether the next token, on this line or a later one, is a `|`."""
        return _CONTINUATION.match(self.text, self.at) is not None

    def name(self) -> str:
        """Read a rule's name; return an empty text if there is none."""
        found = NAME.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found.group()

    def number(self) -> int | None:
        """Read a decimal number, or return None. It is cut to 19 digits, which is beyond any limit."""
        found = _NUMBER.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return int(found.group()[:19])

    def skip_to_next_rule(self) -> None:
        """Skip to the next line that begins a rule, or to the end."""
        found = RULE_START.search(self.text, self.at + 1)
        self.at = found.start(1) if found else len(self.text)

    def character(self) -> int:
        """Read a character of a literal or a class, literal or escaped, and return its code point.

        An invalid escape is reported and read as its own last character.
        """
        checkpoint()
        start = self.at
        if not self.accept("\\"):
            self.at += 1
            return ord(self.text[start])
        kind = self.peek()
        self.at += 1
        if kind in _SIMPLE_ESCAPES:
            return ord(_SIMPLE_ESCAPES[kind])
        length = _HEX_LENGTHS.get(kind)
        if length is None:
            if kind.isascii() and kind.isprintable() and not kind.isalnum():
                self.report("gbnf-unknown-escape.sign", self.since(start), letter=kind, code=ord(kind))
            else:
                self.report("gbnf-unknown-escape", self.since(start), letter=kind)
            return ord(kind)
        found = _HEX.match(self.text, self.at, self.at + length)
        digits = found.group() if found else ""
        self.at += len(digits)
        if len(digits) < length:
            full = (digits or "41").rjust(length, "0")
            self.report("gbnf-short-escape", self.since(start), letter=kind, length=length, digits=full)
            return ord(kind)
        code = int(digits, 16)
        if code > _LAST_CODE_POINT:
            self.report("gbnf-beyond-unicode", self.since(start), code=code)
            return _LAST_CODE_POINT
        return code
