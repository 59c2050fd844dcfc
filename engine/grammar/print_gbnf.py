"""A grammar as GBNF text, which reads back as the same language.

The text keeps to what llama.cpp itself takes: names of letters, digits and
dashes, `root` for the start, and a line that goes on only after `|`. What
matches nothing is written as a range that runs backwards, `[b-a]`, since GBNF
has no word for it.

The nodes are written from a list of what is still to come, so depth costs no
Python frames and each character is written once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Final

from engine.grammar.charset import ANY, CharSet
from engine.grammar.nodes import (
    Chars,
    Choice,
    Empty,
    Grammar,
    Look,
    Never,
    Node,
    Reference,
    Repeat,
    Rule,
    Sequence,
    TokenSet,
)
from engine.source import EngineError

START: Final = "root"
_NEVER: Final = "[b-a]"
_LONGEST_LINE: Final = 100
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9-]+")
_TOKEN_NAME: Final = re.compile(r"<(?!\[)[^>\r\n]*>")
_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\"}
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
        negates: whether a class may be written as what it leaves out, `.` included, where that is shorter.

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
    """Names that llama.cpp takes, each once."""
    names = {grammar.start: START}
    taken = {START}
    others = [rule.name for rule in grammar.rules if rule.name != grammar.start]
    for name in others:  # a name that is good keeps itself, whatever others come to
        if name != START and not _NOT_A_NAME.search(name) and name:
            names[name] = name
            taken.add(name)
    counts: dict[str, int] = {}
    for name in others:
        if name not in names:
            plain = _NOT_A_NAME.sub("-", name).strip("-") or "rule"
            candidate = plain
            while candidate in taken:
                counts[plain] = counts.get(plain, 0) + 1
                candidate = f"{plain}-{counts[plain]}"
            names[name] = candidate
            taken.add(candidate)
    return names


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
        case Reference():
            yield names[node.name]
        case TokenSet():
            yield _tokens(node)
        case Sequence():
            yield from _sequence(node, around)
        case Choice():
            yield from _choice(node, around)
        case Repeat():
            yield from _repeat(node, around)
        case Look():
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
            literal += _escaped(code, '"')
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
    if node.maximum == 0 or isinstance(node.node, Empty):
        yield '""'  # llama.cpp refuses to repeat nothing
    elif bounds == (1, 1):
        yield node.node, around
    else:
        grouped = around is _Around.REPETITION
        yield "(" if grouped else ""
        yield node.node, _Around.REPETITION
        yield _QUANTIFIERS.get(bounds) or _counts(node)
        yield ")" if grouped else ""


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
    if characters == ANY and negates:
        return "."
    if not characters:
        return _NEVER
    first = characters.ranges[0][0]
    if characters.ranges == ((first, first),):
        return f'"{_escaped(first, chr(34))}"'
    negated, ranges = members(characters) if negates else (False, characters.ranges)
    return f"[{'^' if negated else ''}{''.join(_range(*pair) for pair in ranges)}]"


def members(characters: CharSet) -> tuple[bool, tuple[tuple[int, int], ...]]:
    """How a set is best written as a class: whether negated, and its ranges."""
    ranges, excluded = characters.ranges, (~characters).ranges
    negated = len(excluded) < len(ranges) or ranges[-1][1] == ANY.ranges[-1][1]
    return negated, excluded if negated else ranges


def _range(first: int, last: int) -> str:
    special = "[]^-"  # `^` is special in front only, and has no other escape than its code
    if first == last:
        return _escaped(first, special)
    return f"{_escaped(first, special)}{'-' if last > first + 1 else ''}{_escaped(last, special)}"


def _escaped(code: int, special: str) -> str:
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
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
