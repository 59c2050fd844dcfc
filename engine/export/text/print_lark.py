r"""Printer for llguidance's dialect of Lark, and a parser for the printed subset.

llguidance reads a text in two steps (`docs/syntax.md`): terminals are regular and matched by a lexer that takes the
longest match and never backtracks, rules are context-free over terminals. So where two terminals share a prefix, a text
can be lost: `("a" | "ab") ("bcd" | "cx")` does not match "abcd" (1.9.1). The printed text has no such terminals:

- a grammar without recursion becomes terminals that refer to each other, which llguidance combines to one automaton;
- one with recursion becomes rules whose terminals are one character each.

Rejected: longer terminals where no other shares a prefix. It would be more readable, but wrong as soon as it is edited.
Classes are written in Rust's regex syntax, of which `&&`, `--` and `~~` in a class never occur, since each character
occurs once and `-` is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engine.export.rules.cleanup import renamed
from engine.export.rules.flatten import is_recursive
from engine.export.text.print_regex import print_regex, quantifier
from engine.grammar import Chars, CharSet, Choice, Empty, Grammar, Never, Node, Repeat, Rule, RuleReference, Sequence
from engine.notations.regex.parser import parse as parse_regex
from engine.source import EngineError, Limits, SourceText

_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9]+")
_IN_STRING: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SURROGATES: Final = CharSet(((0xD800, 0xDFFF),))
_AROUND: Final = (0xD7FF, 0xE000)
_START: Final = "start"
_LONGEST_LINE: Final = 100


class NoLarkError(EngineError):
    """A grammar cannot be written as Lark, or a text was not written by `print_lark`."""


def print_lark(grammar: Grammar) -> str:
    """Print a grammar from `plain_grammar`.

    Raises:
        NoLarkError: it has conditions or tokens matched by id.
    """
    is_regular = not is_recursive(grammar)
    rename = _terminal if is_regular else _rule
    found = renamed(grammar, lambda name: rename("start" if name == grammar.start else name))
    printer = _Printer(joins=is_regular)
    lines = [f"{_START}: {found.start}"] if is_regular else []
    rules = sorted(found.rules, key=lambda rule: rule.name != found.start)
    lines += [f"{rule.name}: {printer.body(rule.node)}" for rule in rules]
    return "\n".join(lines) + "\n"


def _terminal(name: str) -> str:
    plain = _NOT_A_NAME.sub("_", name).strip("_").upper() or "RULE"
    return f"RULE_{plain}" if plain[0].isdigit() else plain


def _rule(name: str) -> str:
    plain = _NOT_A_NAME.sub("_", name).strip("_").lower() or "rule"
    return f"rule_{plain}" if plain[0].isdigit() else plain


class _Printer:
    def __init__(self, *, joins: bool) -> None:
        self._joins = joins  # whether adjacent characters may be in one string

    def body(self, node: Node) -> str:
        alternatives = node.alternatives if isinstance(node, Choice) else (node,)
        written = [self._text(one, 1) for one in alternatives]
        line = " | ".join(written)
        return line if len(line) <= _LONGEST_LINE else "\n  | ".join(written)

    def _text(self, node: Node, around: int) -> str:
        """Return the text of a node inside alternatives (1), a sequence (2) or a repetition (3)."""
        match node:
            case Empty():
                return '""'
            case Chars():
                return _class(node)
            case RuleReference():
                return node.name
            case Sequence():
                whole = " ".join(self._items(node.items))
                return f"({whole})" if around == 3 else whole
            case Choice():
                whole = " | ".join(self._text(one, 1) for one in node.alternatives)
                return f"({whole})" if around >= 2 else whole
            case Repeat():
                if node.maximum == 0:
                    return '""'
                whole = self._text(node.node, 3) + quantifier(node.minimum, node.maximum)
                return f"({whole})" if around == 3 else whole
            case Never():
                raise NoLarkError("errors.export.print_lark.matches_nothing")
            case _:
                raise NoLarkError("errors.export.print_lark.inexpressible", kind=type(node).__name__.lower())

    def _items(self, items: tuple[Node, ...]) -> Iterator[str]:
        literal = ""
        for item in items:
            character = _character(item)
            if character and self._joins:
                literal += _IN_STRING.get(character, character)
                continue
            if literal:
                yield f'"{literal}"'
                literal = ""
            yield self._text(item, 2)
        if literal:
            yield f'"{literal}"'


def _character(node: Node) -> str:
    """Return the one character of a node that a string can show; empty for any other node."""
    if isinstance(node, Chars) and len(node.set.ranges) == 1 and node.set.ranges[0][0] == node.set.ranges[0][1]:
        character = chr(node.set.ranges[0][0])
        return character if character.isprintable() or character in _IN_STRING else ""
    return ""


def _class(node: Chars) -> str:
    if character := _character(node):
        return f'"{_IN_STRING.get(character, character)}"'
    characters = node.set
    if all(code in characters for code in _AROUND):  # Rust's classes contain no surrogates, and cannot name them either
        characters |= _SURROGATES
    return f"/{print_regex(Chars(characters)).replace('/', chr(92) + '/')}/"


# ---------------------------------------------------------------------- read back

_TOKEN: Final = re.compile(
    r"""[ ]*(?:(?P<string>"(?:[^"\\]|\\.)*")|/(?P<regex>(?:[^/\\]|\\.)*)/|(?P<name>[A-Za-z][A-Za-z0-9_]*)"""
    r"""|(?P<count>\{\d+(?:,\d*)?\}|[*+?])|(?P<sign>[()|]))""",
)
_LINE: Final = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_]*):(?P<body>[^\n]*(?:\n  \|[^\n]*)*)")
_UNESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t"}


def read_lark(text: str) -> Grammar:
    """Parse a text from `print_lark`, after comments and the line of options.

    Raises:
        NoLarkError: it is another text.
    """
    lines = [line for line in text.split("\n") if line and not line.startswith(("//", "%llguidance {}"))]
    left = "\n".join(lines)
    rules, at = [], 0
    for found in _LINE.finditer(left):
        if left[at : found.start()].strip():
            break
        rules.append(Rule(found["name"], _Reader(found["body"].replace("\n", " ")).whole()))
        at = found.end()
    if left[at:].strip():
        raise NoLarkError("errors.export.print_lark.no_rule", text=repr(left[at : at + 40]))
    defined = {rule.name for rule in rules}
    if _START not in defined:
        raise NoLarkError("errors.export.print_lark.no_start")
    return Grammar(tuple(rules), _START)


class _Reader:
    def __init__(self, body: str) -> None:
        self._tokens = self._split(body)
        self._at = 0

    def _split(self, body: str) -> list[tuple[str, str]]:
        found, at = [], 0
        while at < len(body.rstrip()):
            match = _TOKEN.match(body, at)
            if match is None or match.lastgroup is None:
                raise NoLarkError("errors.export.print_lark.no_part", text=repr(body[at : at + 40]))
            found.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        return found

    def whole(self) -> Node:
        node = self._choice()
        if self._at < len(self._tokens):
            raise NoLarkError("errors.export.print_lark.out_of_place", text=repr(self._tokens[self._at][1]))
        return node

    def _next(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("", "")

    def _choice(self) -> Node:
        alternatives = [self._sequence()]
        while self._next() == ("sign", "|"):
            self._at += 1
            alternatives.append(self._sequence())
        return alternatives[0] if len(alternatives) == 1 else Choice(tuple(alternatives))

    def _sequence(self) -> Node:
        items: list[Node] = []
        while self._next()[0] and self._next() not in (("sign", "|"), ("sign", ")")):
            items.append(self._repetition())
        if not items:
            raise NoLarkError("errors.export.print_lark.empty_alternative")
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _repetition(self) -> Node:
        node = self._item()
        kind, count = self._next()
        if kind != "count":
            return node
        self._at += 1
        if count in "*+?":
            return Repeat(node, int(count == "+"), 1 if count == "?" else None)
        low, comma, high = count[1:-1].partition(",")
        return Repeat(node, int(low), int(high) if high else None if comma else int(low))

    def _item(self) -> Node:
        kind, text = self._next()
        self._at += 1
        match kind:
            case "string":
                characters = re.sub(r"\\(.)", lambda m: _UNESCAPED.get(m[1], m[1]), text[1:-1], flags=re.DOTALL)
                node, _ = parse_regex(SourceText(re.escape(characters)), "python", Limits())
                return node
            case "regex":
                node, _ = parse_regex(SourceText(text.replace(r"\/", "/")), "python", Limits())
                return node
            case "name":
                return RuleReference(text)
            case _ if text == "(":
                node = self._choice()
                if self._next() != ("sign", ")"):
                    raise NoLarkError("errors.export.print_lark.unclosed")
                self._at += 1
                return node
        raise NoLarkError("errors.export.print_lark.out_of_place", text=repr(text))
