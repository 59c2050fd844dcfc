r"""Printer of nodes as regular expressions for a full match, in one of the supported dialects.

Only what all engines share is used: groups `(?:…)`, `|`, classes, `* + ?`,
`{m,n}`. Classes name code points, never `\d`, `\w` or `.`, which differ from
one engine to the next; only code points beyond U+FFFF are written differently.
"""

from __future__ import annotations

from typing import Final, Literal

from engine.export.rules.expressions import depth
from engine.grammar import Chars, CharSet, Choice, Empty, Never, Node, Repeat, Sequence
from engine.grammar.charset import LAST_CODE_POINT
from engine.source import EngineError, Limits

_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
_SPECIAL_INSIDE: Final = frozenset("\\]^-[")
_LETTERS: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_QUANTIFIERS: Final = {(0, None): "*", (1, None): "+", (0, 1): "?"}
_NOTHING: Final = "(?!)"

Dialect = Literal["python", "ecma"]


class NoRegexError(EngineError):
    """A node has a part that a regular expression cannot express."""


def print_regex(node: Node, dialect: Dialect = "python", limits: Limits | None = None) -> str:
    """Print a node.

    Args:
        node: the node.
        dialect: the dialect.
        limits: the limit of nesting.

    Raises:
        NoRegexError: it has references, tokens or conditions.
        LimitExceededError: its groups are nested too deeply for a regular expression.
    """
    limits = limits or Limits()
    limits.check("errors.limit.nested_groups", depth(node) + 1, limits.nesting, "nesting")
    return _Printer(dialect).text(node, 0)


class _Printer:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def text(self, node: Node, around: int) -> str:
        """Return the text of a node at the top or inside alternatives (0), a sequence (1) or a repetition (2)."""
        match node:
            case Empty():
                return "(?:)" if around == 2 else ""
            case Chars() if node.set:
                return self._chars(node.set)
            case Never() | Chars():
                return f"(?:{_NOTHING})" if around == 2 else _NOTHING
            case Sequence():
                whole = "".join(self.text(item, 1) for item in node.items)
                return f"(?:{whole})" if around == 2 else whole
            case Choice():
                whole = "|".join(self.text(item, 0) for item in node.alternatives)
                return f"(?:{whole})" if around else whole
            case Repeat():
                whole = self.text(node.node, 2) + quantifier(node.minimum, node.maximum)
                return f"(?:{whole})" if around == 2 else whole
            case _:
                raise NoRegexError("errors.export.print_regex.inexpressible", kind=type(node).__name__.lower())

    def _chars(self, characters: CharSet) -> str:
        ranges, excluded = characters.ranges, (~characters).ranges
        first, last = ranges[0]
        if len(ranges) == 1 and first == last:
            return self._escaped(first, _SPECIAL)
        if excluded and (len(excluded) < len(ranges) or ranges[-1][1] == LAST_CODE_POINT):
            return f"[^{self._ranges(excluded)}]"
        return f"[{self._ranges(ranges)}]"

    def _ranges(self, ranges: tuple[tuple[int, int], ...]) -> str:
        written = []
        for first, last in ranges:
            written.append(self._escaped(first, _SPECIAL_INSIDE))
            if last > first:
                written.append(("-" if last > first + 1 else "") + self._escaped(last, _SPECIAL_INSIDE))
        return "".join(written)

    def _escaped(self, code: int, special: frozenset[str]) -> str:
        character = chr(code)
        if character in special:
            return f"\\{character}"
        if character in _LETTERS:
            return _LETTERS[character]
        if character.isprintable():
            return character
        if code <= 0xFF:
            return f"\\x{code:02x}"
        if code <= 0xFFFF:
            return f"\\u{code:04x}"
        return f"\\U{code:08x}" if self._dialect == "python" else f"\\u{{{code:x}}}"


def quantifier(minimum: int, maximum: int | None) -> str:
    """Return the quantifier for a count."""
    if (minimum, maximum) in _QUANTIFIERS:
        return _QUANTIFIERS[minimum, maximum]
    if maximum is None:
        return f"{{{minimum},}}"
    return f"{{{minimum}}}" if minimum == maximum else f"{{{minimum},{maximum}}}"
