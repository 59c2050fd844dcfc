"""A cursor over GBNF text: blanks, comments, names, characters and their escapes.

The lexical rules are those of llama.cpp's parser (`src/llama-grammar.cpp`) and of
its description in `grammars/README.md`.
"""

from __future__ import annotations

import re
from typing import Final

from engine.source import Diagnostic, Severity, Span, checkpoint

NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
RULE_START: Final = re.compile(r"^[ \t]*([A-Za-z0-9_-]+)[ \t]*::=", re.MULTILINE)
# Possessive: a comment that holds `#` could be read in more ways than there is time for.
_BLANK: Final = re.compile(r"(?:[ \t]++|#[^\r\n]*+)++")
_BLANK_LINES: Final = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)++")
_CONTINUATION: Final = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+\|")
_NUMBER: Final = re.compile(r"[0-9]+")

_SIMPLE_ESCAPES: Final = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
_ESCAPES: Final = 'one of `\\n \\r \\t \\\\ \\" \\[ \\] \\-`, or `\\xNN`, `\\uNNNN`, `\\UNNNNNNNN`'
_HEX: Final = re.compile(r"[0-9A-Fa-f]*")
_HEX_LENGTHS: Final = {"x": 2, "u": 4, "U": 8}
_LAST_CODE_POINT: Final = 0x10FFFF


class RuleError(Exception):
    """A rule cannot be read on; the finding says why."""

    def __init__(self, finding: Diagnostic) -> None:
        super().__init__(finding.message)
        self.finding = finding


def error(code: str, span: Span, message: str, hint: str) -> RuleError:
    """A finding that ends the reading of a rule."""
    return RuleError(Diagnostic(f"gbnf-{code}", Severity.ERROR, span, message, hint))


class GbnfReader:
    """Where the reading of a text stands, and what was found so far.

    Attributes:
        text: the whole text.
        at: the offset of the next character.
        crossing: the first literal or class of this rule that runs over the end of a line.
        findings: in the order in which they were made.
        errors: how many of them are errors.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.crossing: Span | None = None
        self.findings: list[Diagnostic] = []
        self.errors = 0

    def add(self, finding: Diagnostic) -> None:
        """Keep a finding."""
        self.findings.append(finding)
        self.errors += finding.severity is Severity.ERROR

    def note(self, code: str, severity: Severity, span: Span, message: str, hint: str) -> None:
        """Keep a finding that does not end the rule."""
        self.add(Diagnostic(f"gbnf-{code}", severity, span, message, hint))

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.text)

    def peek(self, length: int = 1) -> str:
        """The next characters; fewer at the end."""
        return self.text[self.at : self.at + length]

    def accept(self, word: str) -> bool:
        """Go past a word if it stands here."""
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def since(self, start: int) -> Span:
        """From an earlier place up to here."""
        return Span(start, self.at)

    def here(self) -> Span:
        """The next character, or the end."""
        return Span(self.at, min(self.at + 1, len(self.text)))

    def skip_blanks(self, *, lines: bool) -> None:
        """Go past blanks and comments, and line ends where a rule may go on behind them."""
        blank = (_BLANK_LINES if lines else _BLANK).match(self.text, self.at)
        if blank:
            self.at = blank.end()

    def continues(self) -> bool:
        """Whether the next thing that is not blank, on this line or a later one, is another alternative."""
        return _CONTINUATION.match(self.text, self.at) is not None

    def name(self) -> str:
        """A rule's name; empty where none stands here."""
        found = NAME.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found.group()

    def number(self) -> int | None:
        """A decimal number; None where none stands here. Beyond any limit it is cut to 19 digits."""
        found = _NUMBER.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return int(found.group()[:19])

    def skip_to_next_rule(self) -> None:
        """Go to the next line that begins a rule, or to the end."""
        found = RULE_START.search(self.text, self.at + 1)
        self.at = found.start(1) if found else len(self.text)

    def character(self) -> int:
        """A character of a literal or a class, as itself or as an escape: its code point.

        A bad escape is told of and read as its own last character.
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
            message, hint = f"`\\{kind}` is not an escape", f"Write {_ESCAPES}"
            if kind.isascii() and kind.isprintable() and not kind.isalnum():
                hint = f"Write `{kind}` without the backslash, or `\\x{ord(kind):02X}`"
            self.note("unknown-escape", Severity.ERROR, self.since(start), message, hint)
            return ord(kind)
        found = _HEX.match(self.text, self.at, self.at + length)
        digits = found.group() if found else ""
        self.at += len(digits)
        if len(digits) < length:
            message = f"`\\{kind}` needs {length} hexadecimal digits"
            hint = f"Write it as `\\{kind}{(digits or '41').rjust(length, '0')}`"
            self.note("short-escape", Severity.ERROR, self.since(start), message, hint)
            return ord(kind)
        code = int(digits, 16)
        if code > _LAST_CODE_POINT:
            message, hint = f"there is no character {code:#x}", "The last one is `\\U0010FFFF`"
            self.note("beyond-unicode", Severity.ERROR, self.since(start), message, hint)
            return _LAST_CODE_POINT
        return code
