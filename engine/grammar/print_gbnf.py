r"""Print a grammar as GBNF text that llama.cpp, xgrammar and llguidance read as the same language.

The text uses the subset of GBNF that the three parsers share, taken from their sources
(llama.cpp `src/llama-grammar.cpp`; xgrammar 0.2.8 `cpp/grammar_parser.cc` and
`cpp/support/encoding.h`; llguidance 1.9.1 `gbnf_to_lark.py` and `parser/src/lark/lexer.rs`)
and is tested against all of them:

- The start rule is `root`. A name begins with a letter and contains letters, digits and dashes. No
  two names may differ only in case or in dashes (llguidance converts `fooBar` and `foo-bar` to
  `foo_bar`), and xgrammar's keywords and llguidance's `start` are not used.
- A line continues only after `|`.
- The escapes are `\n`, `\r`, `\t`, `\\`, `\"` in a literal, `\[` and `\]` in a class, `\xHH` up to U+00FF
  and `\uHHHH` from U+1000. llguidance drops the leading zeros of `\u` and `\U`, so other characters,
  U+10FFFF included, are written as themselves.
- No hexadecimal digit follows `\xHH`, since xgrammar would read it as part of the number. A literal
  is split there; in a class, such members come last.
- In a class, `-` comes last and is not escaped, and `^` is `\x5E`: llguidance does not support `\-`.
  llguidance would read a dash at the end of a range as a set operator (`[+--]`).
- Surrogates are never written, since llguidance rejects them and UTF-8 cannot encode them. llama.cpp
  and xgrammar include them in `[^a]`, so a class that must be exact in bytes is printed
  without negation. A negated class that excludes both neighbours of the surrogates excludes one
  range over them, since llguidance misreads two ranges that meet there.
- A nested repetition is written `("" x{2,})+`: llguidance drops parentheses around a single item, and then
  rejects `x{2,}+`.
- There is no `.`: xgrammar does not support it, and llguidance excludes line feeds from it.

Two constructs are outside the subset, because it cannot express them: token elements, and the empty
language, which is printed as a reversed range (`[b-a]`).

The three parsers agree on the notation, not on its meaning: llguidance turns rules without recursion
into tokens that match greedily, so it may accept fewer texts (`engine.export.targets.ebnf`).

The printer uses an explicit stack, so deep nodes need no Python frames, and each character is
written once.
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
_MAX_LINE: Final = 100
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
_FIRST_FOUR_DIGITS: Final = 0x1000  # from this code point on `\u` has no leading zero
_QUANTIFIERS: Final = {(0, None): "*", (1, None): "+", (0, 1): "?"}


class NoGbnfError(EngineError):
    """A grammar contains something that GBNF cannot express."""


class _Context(IntEnum):
    """The construct around a node, which decides whether it needs parentheses."""

    TOP = 0
    CHOICE = 1
    SEQUENCE = 2
    REPETITION = 3


def print_gbnf(grammar: Grammar, *, negates: bool = True) -> str:
    """Print a grammar, the start rule first and the others in their order.

    Args:
        grammar: the grammar.
        negates: whether a class may be printed negated if that is shorter.

    Raises:
        NoGbnfError: the grammar has a lookaround, or a negated token element with several tokens.
    """
    return "".join(text for _, text in print_rules(grammar, negates=negates))


def print_rules(grammar: Grammar, *, negates: bool = True) -> Iterator[tuple[Rule, str]]:
    """Print a grammar rule by rule, as `print_gbnf` does, and yield each rule with its text and line end.

    Raises:
        NoGbnfError: the grammar has a lookaround, or a negated token element with several tokens.
    """
    names = _portable_names(grammar)
    for rule in sorted(grammar.rules, key=lambda rule: rule.name != grammar.start):
        yield rule, f"{names[rule.name]} ::= {_body(rule.node, names, negates)}\n"


def _portable_names(grammar: Grammar) -> dict[str, str]:
    """Choose a unique name for each rule that all three parsers accept."""
    names = {grammar.start: START}
    taken = {START, "start"}
    others = [rule.name for rule in grammar.rules if rule.name != grammar.start]
    for name in others:  # valid names are kept, so they are assigned first
        if name == _portable_name(name) and _llguidance_name(name) not in taken:
            names[name] = name
            taken.add(_llguidance_name(name))
    counts: dict[str, int] = {}
    for name in others:
        if name not in names:
            portable = _portable_name(name)
            candidate = portable
            while _llguidance_name(candidate) in taken:
                counts[portable] = counts.get(portable, 0) + 1
                candidate = f"{portable}-{counts[portable]}"
            names[name] = candidate
            taken.add(_llguidance_name(candidate))
    return names


def _portable_name(name: str) -> str:
    """Convert a name to letters, digits and dashes, a letter first, avoiding reserved names."""
    portable = _NOT_A_NAME.sub("-", name).strip("-") or "rule"
    if _NOT_FIRST.match(portable):
        portable = f"rule-{portable}"
    return f"{portable}-rule" if portable in _RESERVED else portable


def _llguidance_name(name: str) -> str:
    """Convert a name as llguidance does, which would lose one of two rules with the same converted name."""
    return _CAMEL.sub(r"\1_\2", name.replace("-", "_")).lower()


def _body(node: Node, names: dict[str, str], negates: bool) -> str:
    if not isinstance(node, Choice) or not node.alternatives:
        return _node_text(node, names, _Context.TOP, negates)
    alternatives = [_node_text(part, names, _Context.CHOICE, negates) for part in node.alternatives]
    line = " | ".join(alternatives)
    return line if len(line) <= _MAX_LINE else " |\n  ".join(alternatives)


def _node_text(node: Node, names: dict[str, str], context: _Context, negates: bool) -> str:
    pieces: list[str] = []
    todo: list[str | tuple[Node, _Context]] = [(node, context)]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            pieces.append(part)
        else:
            todo.extend(reversed(list(_print_node(*part, names, negates))))
    return "".join(pieces)


def _print_node(
    node: Node, context: _Context, names: dict[str, str], negates: bool
) -> Iterator[str | tuple[Node, _Context]]:
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
            yield _token_set(node)
        case Sequence():
            yield from _sequence(node, context)
        case Choice():
            yield from _choice(node, context)
        case Repeat():
            yield from _repeat(node, context)
        case Lookaround():
            raise NoGbnfError("errors.grammar.conditions")


def _sequence(node: Sequence, context: _Context) -> Iterator[str | tuple[Node, _Context]]:
    items = list(_merge_literals(node.items))
    if not items:
        yield '""'
    elif len(items) == 1:
        yield items[0] if isinstance(items[0], str) else (items[0], context)
    else:
        grouped = context is _Context.REPETITION
        yield "(" if grouped else ""
        for number, item in enumerate(items):
            yield " " if number else ""
            yield item if isinstance(item, str) else (item, _Context.SEQUENCE)
        yield ")" if grouped else ""


def _merge_literals(items: tuple[Node, ...]) -> Iterator[str | Node]:
    """Yield the items, with consecutive single characters merged into literals."""
    literal = ""
    for item in items:
        code = _single_code_point(item)
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


def _choice(node: Choice, context: _Context) -> Iterator[str | tuple[Node, _Context]]:
    if len(node.alternatives) <= 1:
        yield (node.alternatives[0], context) if node.alternatives else _NEVER
        return
    grouped = context >= _Context.SEQUENCE
    yield "(" if grouped else ""
    for number, alternative in enumerate(node.alternatives):
        yield " | " if number else ""
        yield alternative, _Context.CHOICE
    yield ")" if grouped else ""


def _repeat(node: Repeat, context: _Context) -> Iterator[str | tuple[Node, _Context]]:
    bounds = (node.minimum, node.maximum)
    if prints_as_empty(node):
        yield '""'  # llama.cpp rejects a repetition of the empty string
    elif bounds == (1, 1):
        yield node.node, context
    else:
        grouped = context is _Context.REPETITION
        yield '("" ' if grouped else ""  # llguidance drops parentheses around a single item
        yield node.node, _Context.REPETITION
        yield _QUANTIFIERS.get(bounds) or _quantifier(node)
        yield ")" if grouped else ""


def prints_as_empty(node: Node) -> bool:
    """Return whether a node is printed as empty literals only."""
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


def _quantifier(node: Repeat) -> str:
    if node.maximum is None:
        return f"{{{node.minimum},}}"
    return f"{{{node.minimum}}}" if node.maximum == node.minimum else f"{{{node.minimum},{node.maximum}}}"


def _token_set(node: TokenSet) -> str:
    elements = [*node.names, *(f"<[{token_id}]>" for token_id in node.ids)]
    for name in node.names:
        if not _TOKEN_NAME.fullmatch(name):
            raise NoGbnfError("errors.grammar.token_name", name=repr(name))
    if node.negated:
        if len(elements) != 1:
            raise NoGbnfError("errors.grammar.excluded_tokens")
        return f"!{elements[0]}"
    if not elements:
        return _NEVER
    return elements[0] if len(elements) == 1 else f"({' | '.join(elements)})"


def _single_code_point(node: Node) -> int | None:
    """Return the code point of a node that matches exactly one character."""
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
    return f"[{'^' if negated else ''}{_class_members(excluded if negated else scalars)}]"


def members(characters: CharSet) -> tuple[bool, tuple[tuple[int, int], ...]]:
    """Return the shorter form of a set as a character class: whether it is negated, and its ranges."""
    ranges, excluded = characters.ranges, (~characters).ranges
    negated = _is_shorter_negated(ranges, excluded)
    return negated, excluded if negated else ranges


def _is_shorter_negated(ranges: tuple[tuple[int, int], ...], excluded: tuple[tuple[int, int], ...]) -> bool:
    return len(excluded) < len(ranges) or ranges[-1][1] == ANY.ranges[-1][1]


def _class_members(characters: CharSet) -> str:
    r"""Print the members of a class in code point order; those that end in `\xHH` and the dash come last."""
    pieces = [_range(first, last) for first, last in _without_dash_at_an_end(characters.ranges)]
    dash = any(_DASH in pair for pair in characters.ranges)
    return "".join(sorted(pieces, key=_member_order)) + ("-" if dash else "")


def _member_order(member: str) -> int:
    r"""Return a sort key by which no hexadecimal digit follows `\xHH`; at most one member both begins and ends so."""
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
    special = "[]^"  # `^` is special only at the front; its only escape is its code
    if first == last:
        return _escaped(first, special)
    return f"{_escaped(first, special)}{'-' if last > first + 1 else ''}{_escaped(last, special)}"


def _escaped(code: int, special: str) -> str:
    """Escape a character of a literal or a class; the module docstring lists the escapes that all parsers share."""
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
    return f"\\u{code:04X}" if _FIRST_FOUR_DIGITS <= code <= 0xFFFF else character
