r"""Print a grammar as GBNF text that llama.cpp, xgrammar and llguidance read as the same language.

The text keeps to the subset that the three readers share. It was found in their sources
(llama.cpp `src/llama-grammar.cpp`; xgrammar 0.2.8 `cpp/grammar_parser.cc` and
`cpp/support/encoding.h`; llguidance 1.9.1 `gbnf_to_lark.py` and `parser/src/lark/lexer.rs`)
and is tested against all of them:

- The start rule is `root`. A name begins with a letter and holds letters, digits and dashes. No
  two names may differ only in case or in dashes (llguidance writes `fooBar` and `foo-bar` as
  `foo_bar`), and xgrammar's keywords and llguidance's `start` are not used.
- A line continues only after `|`.
- The escapes are `\n`, `\r`, `\t`, `\\`, `\"` in a literal, `\[` and `\]` in a class, `\xHH` up to U+00FF
  and `\uHHHH` from U+1000. llguidance drops the leading zeros of `\u` and `\U`, so other characters,
  U+10FFFF included, are written as themselves.
- No hexadecimal digit follows `\xHH`, since xgrammar would read it as part of the number. A literal
  is divided there; in a class, such members come last.
- In a class, `-` stands last and is not escaped, and `^` is `\x5E`: llguidance knows no `\-`. A dash
  at the end of a range would be read as a set operator by llguidance (`[+--]`).
- Surrogates are never written, since llguidance refuses them and UTF-8 cannot spell them. llama.cpp
  and xgrammar read `[^a]` as including them, so a class that must be exact in bytes is printed
  without negation. A negated class that excludes both neighbours of the surrogates excludes one
  range over them, since llguidance misreads two ranges that meet there.
- What is repeated twice is written `("" x{2,})+`: llguidance drops parentheses around a single item, and then
  refuses `x{2,}+`.
- There is no `.`: xgrammar does not know it, and llguidance excludes line feeds from it.

Two constructs are outside the subset, because it has no word for them: tokens taken whole, and what
matches nothing, which is a range that runs backwards (`[b-a]`).

What the readers share is the spelling. llguidance also turns rules without recursion into tokens
that match as much as they can, so it may accept fewer texts (`engine.export.targets.ebnf`).

The nodes are written from a list of what is still to come, so depth costs no
Python frames and each character is written once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Final

from engine.grammar.charset import ANY, EVERY_SCALAR, CharSet
from engine.grammar.nodes import (
    Chars,
    Choice,
    Empty,
    Grammar,
    Lookaround,
    Never,
    Node,
    Repeat,
    Rule,
    RuleReference,
    Sequence,
    TokenSet,
)
from engine.source import EngineError

START: Final = "root"
_NEVER: Final = "[b-a]"
_LONGEST_LINE: Final = 100
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9-]+")
_TOKEN_NAME: Final = re.compile(r"<(?!\[)[^>\r\n]*>")
_NOT_FIRST: Final = re.compile(r"^[^A-Za-z]")
_CAMEL: Final = re.compile(r"([a-z])([A-Z])")
_RESERVED: Final = frozenset({"true", "false", "TagDispatch", "Token", "ExcludeToken", "TokenTagDispatch", "Regex"})
_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\"}
_HEX_DIGIT: Final = frozenset("0123456789abcdefABCDEF")
_SHORT_HEX: Final = re.compile(r"\\x[0-9A-F]{2}\Z")
_DASH: Final = ord("-")
_AROUND_SURROGATES: Final = (0xD7FF, 0xE000)
_FIRST_LONG: Final = 0x1000  # from here on `\u` has no leading zero
_QUANTIFIERS: Final = {(0, None): "*", (1, None): "+", (0, 1): "?"}


class NoGbnfError(EngineError):
    """A grammar holds what GBNF cannot say."""


class _Around(IntEnum):
    """What stands around a node, and so where parentheses are needed."""

    NOTHING = 0
    CHOICE = 1
    SEQUENCE = 2
    REPETITION = 3


def print_gbnf(grammar: Grammar, *, negates: bool = True) -> str:
    """Write a grammar, the start rule first and the others in their order.

    Args:
        grammar: what is written.
        negates: whether a class may be written as what it leaves out, where that is shorter.

    Raises:
        NoGbnfError: the grammar looks around, or excludes several tokens at once.
    """
    return "".join(text for _, text in print_rules(grammar, negates=negates))


def print_rules(grammar: Grammar, *, negates: bool = True) -> Iterator[tuple[Rule, str]]:
    """Write a grammar rule by rule, as `print_gbnf` does: each rule, and its text with the line end.

    Raises:
        NoGbnfError: the grammar looks around, or excludes several tokens at once.
    """
    names = _names(grammar)
    for rule in sorted(grammar.rules, key=lambda rule: rule.name != grammar.start):
        yield rule, f"{names[rule.name]} ::= {_body(rule.node, names, negates)}\n"


def _names(grammar: Grammar) -> dict[str, str]:
    """Names that all readers take, each once."""
    names = {grammar.start: START}
    taken = {START, "start"}
    others = [rule.name for rule in grammar.rules if rule.name != grammar.start]
    for name in others:  # a name that is good keeps itself, whatever others come to
        if name == _portable(name) and _folded(name) not in taken:
            names[name] = name
            taken.add(_folded(name))
    counts: dict[str, int] = {}
    for name in others:
        if name not in names:
            plain = _portable(name)
            candidate = plain
            while _folded(candidate) in taken:
                counts[plain] = counts.get(plain, 0) + 1
                candidate = f"{plain}-{counts[plain]}"
            names[name] = candidate
            taken.add(_folded(candidate))
    return names


def _portable(name: str) -> str:
    """A name with letters, digits and dashes only, a letter first, that no reader reserves."""
    plain = _NOT_A_NAME.sub("-", name).strip("-") or "rule"
    if _NOT_FIRST.match(plain):
        plain = f"rule-{plain}"
    return f"{plain}-rule" if plain in _RESERVED else plain


def _folded(name: str) -> str:
    """What llguidance's reader makes of a name, for one of two rules of the same name would be lost there."""
    return _CAMEL.sub(r"\1_\2", name.replace("-", "_")).lower()


def _body(node: Node, names: dict[str, str], negates: bool) -> str:
    if not isinstance(node, Choice) or not node.alternatives:
        return _text(node, names, _Around.NOTHING, negates)
    alternatives = [_text(part, names, _Around.CHOICE, negates) for part in node.alternatives]
    line = " | ".join(alternatives)
    return line if len(line) <= _LONGEST_LINE else " |\n  ".join(alternatives)


def _text(node: Node, names: dict[str, str], around: _Around, negates: bool) -> str:
    written: list[str] = []
    todo: list[str | tuple[Node, _Around]] = [(node, around)]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            written.append(part)
        else:
            todo.extend(reversed(list(_pieces(*part, names, negates))))
    return "".join(written)


def _pieces(node: Node, around: _Around, names: dict[str, str], negates: bool) -> Iterator[str | tuple[Node, _Around]]:
    match node:
        case Empty():
            yield '""'
        case Never():
            yield _NEVER
        case Chars():
            yield _chars(node.set, negates)
        case RuleReference():
            yield names[node.name]
        case TokenSet():
            yield _tokens(node)
        case Sequence():
            yield from _sequence(node, around)
        case Choice():
            yield from _choice(node, around)
        case Repeat():
            yield from _repeat(node, around)
        case Lookaround():
            raise NoGbnfError("GBNF has no conditions on what surrounds a place")


def _sequence(node: Sequence, around: _Around) -> Iterator[str | tuple[Node, _Around]]:
    items = list(_with_literals(node.items))
    if not items:
        yield '""'
    elif len(items) == 1:
        yield items[0] if isinstance(items[0], str) else (items[0], around)
    else:
        grouped = around is _Around.REPETITION
        yield "(" if grouped else ""
        for number, item in enumerate(items):
            yield " " if number else ""
            yield item if isinstance(item, str) else (item, _Around.SEQUENCE)
        yield ")" if grouped else ""


def _with_literals(items: tuple[Node, ...]) -> Iterator[str | Node]:
    """The items, with neighbours that are one character each as literals."""
    literal = ""
    for item in items:
        code = _single(item)
        if code is not None:
            text = _escaped(code, '"')
            if text[0] in _HEX_DIGIT and _SHORT_HEX.search(literal):
                yield f'"{literal}"'
                literal = ""
            literal += text
            continue
        if literal:
            yield f'"{literal}"'
            literal = ""
        yield item
    if literal:
        yield f'"{literal}"'


def _choice(node: Choice, around: _Around) -> Iterator[str | tuple[Node, _Around]]:
    if len(node.alternatives) <= 1:
        yield (node.alternatives[0], around) if node.alternatives else _NEVER
        return
    grouped = around >= _Around.SEQUENCE
    yield "(" if grouped else ""
    for number, alternative in enumerate(node.alternatives):
        yield " | " if number else ""
        yield alternative, _Around.CHOICE
    yield ")" if grouped else ""


def _repeat(node: Repeat, around: _Around) -> Iterator[str | tuple[Node, _Around]]:
    bounds = (node.minimum, node.maximum)
    if prints_as_empty(node):
        yield '""'  # llama.cpp refuses to repeat nothing
    elif bounds == (1, 1):
        yield node.node, around
    else:
        grouped = around is _Around.REPETITION
        yield '("" ' if grouped else ""  # llguidance's reader drops parentheses around a single item
        yield node.node, _Around.REPETITION
        yield _QUANTIFIERS.get(bounds) or _counts(node)
        yield ")" if grouped else ""


def prints_as_empty(node: Node) -> bool:
    """Tell whether a node is printed as empty literals alone."""
    todo = [node]
    while todo:
        part = todo.pop()
        match part:
            case Repeat():
                todo += [] if part.maximum == 0 else [part.node]
            case Sequence():
                todo += part.items
            case Choice() if part.alternatives:
                todo += part.alternatives
            case Empty():
                pass
            case _:
                return False
    return True


def _counts(node: Repeat) -> str:
    if node.maximum is None:
        return f"{{{node.minimum},}}"
    return f"{{{node.minimum}}}" if node.maximum == node.minimum else f"{{{node.minimum},{node.maximum}}}"


def _tokens(node: TokenSet) -> str:
    elements = [*node.names, *(f"<[{token_id}]>" for token_id in node.ids)]
    for name in node.names:
        if not _TOKEN_NAME.fullmatch(name):
            raise NoGbnfError(f"GBNF writes a token's name in angle brackets, and {name!r} has none")
    if node.negated:
        if len(elements) != 1:
            raise NoGbnfError("GBNF can exclude one token at a time only")
        return f"!{elements[0]}"
    if not elements:
        return _NEVER
    return elements[0] if len(elements) == 1 else f"({' | '.join(elements)})"


def _single(node: Node) -> int | None:
    """The code point of a node that is one character."""
    if isinstance(node, Chars) and len(node.set.ranges) == 1:
        first, last = node.set.ranges[0]
        return first if first == last else None
    return None


def _chars(characters: CharSet, negates: bool) -> str:
    scalars = characters & EVERY_SCALAR
    if not scalars:
        return _NEVER
    first = scalars.ranges[0][0]
    if scalars.ranges == ((first, first),):
        return f'"{_escaped(first, chr(34))}"'
    excluded = EVERY_SCALAR - scalars
    if _AROUND_SURROGATES[0] in excluded and _AROUND_SURROGATES[1] in excluded:
        # llguidance misreads `[^a-\uD7FF\uE000-\uF000]`: both neighbours of the surrogates would be allowed.
        excluded |= CharSet((_AROUND_SURROGATES,))
    negated = negates and bool(excluded) and _is_shorter_negated(scalars.ranges, excluded.ranges)
    return f"[{'^' if negated else ''}{_members(excluded if negated else scalars)}]"


def members(characters: CharSet) -> tuple[bool, tuple[tuple[int, int], ...]]:
    """How a set is best written as a class: whether negated, and its ranges."""
    ranges, excluded = characters.ranges, (~characters).ranges
    negated = _is_shorter_negated(ranges, excluded)
    return negated, excluded if negated else ranges


def _is_shorter_negated(ranges: tuple[tuple[int, int], ...], excluded: tuple[tuple[int, int], ...]) -> bool:
    return len(excluded) < len(ranges) or ranges[-1][1] == ANY.ranges[-1][1]


def _members(characters: CharSet) -> str:
    r"""Print the members of a class in code point order; those that end in `\xHH` and the dash come last."""
    written = [_range(first, last) for first, last in _without_dash_at_an_end(characters.ranges)]
    dash = any(_DASH in pair for pair in characters.ranges)
    return "".join(sorted(written, key=_order)) + ("-" if dash else "")


def _order(member: str) -> int:
    r"""Place members so that no hexadecimal digit follows `\xHH`; at most one begins with a digit and ends so."""
    if not _SHORT_HEX.search(member):
        return 0
    return 1 if member[0] in _HEX_DIGIT else 2


def _without_dash_at_an_end(ranges: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    for first, last in ranges:
        begin = first + 1 if first == _DASH else first
        end = last - 1 if last == _DASH else last
        if begin <= end:
            yield begin, end


def _range(first: int, last: int) -> str:
    special = "[]^"  # `^` is special in front only, and has no other escape than its code
    if first == last:
        return _escaped(first, special)
    return f"{_escaped(first, special)}{'-' if last > first + 1 else ''}{_escaped(last, special)}"


def _escaped(code: int, special: str) -> str:
    """A character in a literal or a class; see the beginning of this module for what its readers share."""
    character = chr(code)
    if character == "^" and "^" in special:
        return r"\x5E"
    if character in special:
        return f"\\{character}"
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if _FIRST_LONG <= code <= 0xFFFF else character
