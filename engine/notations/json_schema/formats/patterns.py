"""The format `regex`: patterns of ECMA-262 with the u flag.

The set of valid patterns is not regular: groups nest, names and numbers refer
to groups, ranges and counts are compared. Everything accepted here is valid; to keep the automaton small, it leaves
out:

- groups nested deeper than `DEPTH`, and lookarounds that contain groups or are inside one;
- `{m,n}` of two counts with as many digits whose first digits are equal, and counts of more than three digits;
- a class range that begins with an escape or beyond ASCII, other than between two `\\uXXXX` or two `\\xXX` that differ
in an early digit; - back references other than `\\1`, and `\\k<…>` by one of the names in `REFERRED`, and those that do
not follow their
  group outside of all others; so at most one group has a name;
- `\\0`, and `\\uDXXX` in a range;
- Unicode properties and scripts that are not among the common ones, and modifiers such as `(?i:…)`.
"""

from __future__ import annotations

from typing import Final

from engine.grammar import Choice, Node, Repeat, Sequence
from engine.notations.json_schema.formats.pattern_nodes import matching, one_of

DEPTH: Final = 2
"""The nesting depth of groups."""
REFERRED: Final = ("n", "name", "quote", "tag", "x")
"""The names that references may use. The name is remembered to the end, so each costs some thousand states."""

OUTER_PATTERN: Final = r"(?s)(?:[^*+?)\]{}].*)?"
"""Everything that does not begin with a character that must follow another."""

_SYNTAX: Final = r"\^$\\.*+?()\[\]{}|/"
_HEX: Final = "0123456789ABCDEF"
_BEYOND_ASCII: Final = "\\u0080-\\uD7FF\\uE000-\\U0010FFFF"
_GENERAL: Final = "L Lu Ll Lt Lm Lo M Mn Mc N Nd Nl No P Pc Pd Ps Pe Po S Sm Sc So Z Zs C Cc Cf".split()
_BINARY: Final = "Letter Number Punctuation Symbol Alphabetic Uppercase Lowercase White_Space Emoji ASCII Any".split()
_SCRIPTS: Final = "Latin Greek Cyrillic Arabic Hebrew Han Hiragana Katakana Hangul Thai Devanagari".split()


def _escape() -> str:
    """Return what may follow a backslash, inside and outside of a class."""
    properties = one_of([*_GENERAL, *_BINARY, f"(?:Script|sc|Script_Extensions|scx)={one_of(_SCRIPTS)}"])
    return (
        rf"[dDsSwWfnrtv{_SYNTAX}]|c[A-Za-z]|x[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}}"
        rf"|u\{{0*(?:[0-9A-Fa-f]{{1,5}}|10[0-9A-Fa-f]{{4}})\}}|[pP]\{{{properties}\}}"
    )


def _digits(values: str) -> str:
    return f"[{values}{values.lower()}]"


def _hex_range(mark: str, prefix: str, free: int) -> list[str]:
    """Return ranges of two escapes with the same `prefix` whose next digits differ."""
    # Two surrogates are one character, and ranges compare the pair: neither may be an end.
    digits = _HEX.replace("D", "") if free == 3 else _HEX
    return [
        rf"\\{mark}{prefix}{_digits(digit)}[0-9A-Fa-f]{{{free}}}"
        rf"-\\{mark}{prefix}{_digits(digits[index + 1 :])}[0-9A-Fa-f]{{{free}}}"
        for index, digit in enumerate(digits[:-1])
    ]


def _range() -> str:
    """Return a class range whose ends are in order."""
    forms = []
    for code in range(0x20, 0x7F):
        if chr(code) not in "\\]-^":
            later = "".join(rf"\x{other:02x}" for other in range(code, 0x7F) if chr(other) not in "\\]-^")
            forms.append(rf"\x{code:02x}-[{later}{_BEYOND_ASCII}]")
    forms += _hex_range("x", "", 1)
    for prefix, free in (("", 3), ("0", 2), ("00", 1), ("04", 1)):
        forms += _hex_range("u", prefix, free)
    return one_of(forms)


def _class() -> str:
    """Return a class; a dash is part of a range, or first, or last."""
    member = rf"(?:[^\\\]\-]|\\(?:{_escape()}|[b\-])|{_range()})"
    return rf"\[\^?-?{member}*-?\]"


def _quantifier() -> str:
    """Return `*`, `+`, `?`, `{m}`, `{m,}` and `{m,n}` with m ≤ n, greedy or lazy."""
    counts = [r"\d{1,3},?", r"\d,[1-9]\d{1,2}", r"[1-9]\d,[1-9]\d{2}"]
    counts += [rf"{digit},[{digit}-9]" for digit in range(10)]
    counts += [rf"{digit}(?:\d,[{digit + 1}-9]|\d{{2}},[{digit + 1}-9]\d)\d" for digit in range(1, 9)]
    return rf"(?:[*+?]|\{{{one_of(counts)}\}})\??"


def pattern() -> Node:
    """Return the patterns up to `DEPTH`."""
    quantifier = Choice((matching(""), matching(_quantifier())))
    atom = matching(rf"\.|[^{_SYNTAX}]|/|\\(?:{_escape()})|{_class()}")
    simple = Choice((Sequence((atom, quantifier)), matching(r"\^|\$|\\[bB]|\|")))
    opening, closing = matching(r"\((?:\?:)?"), matching(r"\)")

    def around(inner: Node) -> Node:
        """Return items, and groups of such items."""
        return Choice((simple, Sequence((opening, Repeat(inner, 0, None), closing, quantifier))))

    nested = around(simple)
    looking = Sequence((matching(r"\(\?<?[=!]"), Repeat(simple, 0, None), closing))
    item = nested
    for _ in range(DEPTH - 1):
        item = around(item)
    unreferred = Repeat(Choice((item, looking)), 0, None)

    def group(begin: str, references: str) -> Node:
        """Return the group that references may name, and what follows it."""
        reference = Sequence((matching(references), quantifier))
        inner = Repeat(simple, 0, None), closing, quantifier
        return Sequence((matching(begin), *inner, Repeat(Choice((nested, reference)), 0, None)))

    first = r"\\1(?![0-9])"
    groups = [group(r"\((?:\?<[A-Za-z_$][A-Za-z0-9_$]*>)?", first)]
    groups += [group(rf"\(\?<{name}>", rf"{first}|\\k<{name}>") for name in REFERRED]
    return Choice((unreferred, Sequence((Repeat(simple, 0, None), Choice(tuple(groups))))))
