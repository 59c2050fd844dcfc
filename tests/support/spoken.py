"""The stupid twin of a description: its words read back to grammar nodes, with nothing but the words at hand.

What is read back must be what the parser made of the text, so words that say
anything else than the grammar are found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from engine.grammar import (
    Chars,
    CharSet,
    Choice,
    Empty,
    Grammar,
    Lookaround,
    Never,
    Node,
    Repeat,
    RuleReference,
    TokenSet,
)
from engine.grammar import Sequence as Items
from engine.grammar.charset import EVERY_SCALAR
from engine.notations.explanation import Description, Phrase
from engine.notations.regex.parser import parse
from engine.notations.regex.unicode_sets import CaseFold, close_under_case
from engine.source import Limits, SourceText

_QUOTED = r"(?:`[^`]*`|``+ .*? ``+)"
_MARKS = {"␣": " ", "↵": "\n", "␍": "\r", "⇥": "\t"}
_PIECE = re.compile(r"\\x([0-9a-f]{2})|\\u\{([0-9a-f]+)\}|(.)", re.DOTALL)
_NAMED = {"a tab": 9, "a line feed": 10, "a carriage return": 13, "a space": 32}
_COUNTS = (
    (re.compile(r"any number of times"), lambda _: (0, None)),
    (re.compile(r"once or more"), lambda _: (1, None)),
    (re.compile(r"optional"), lambda _: (0, 1)),
    (re.compile(r"not at all"), lambda _: (0, 0)),
    (re.compile(r"exactly once"), lambda _: (1, 1)),
    (re.compile(r"exactly ([\d,]+) times"), lambda found: (_number(found[1]),) * 2),
    (re.compile(r"at least ([\d,]+) times"), lambda found: (_number(found[1]), None)),
    (re.compile(r"at most ([\d,]+) times"), lambda found: (0, _number(found[1]))),
    (re.compile(r"([\d,]+) to ([\d,]+) times"), lambda found: (_number(found[1]), _number(found[2]))),
)
_LOOKS = {
    "followed by": (True, False),
    "not followed by": (True, True),
    "preceded by": (False, False),
    "not preceded by": (False, True),
}
_SETS = {
    "a digit": r"\d",
    "anything but a digit": r"\D",
    "a letter, a digit or `_`": r"\w",
    "anything but a letter, a digit or `_`": r"\W",
    "white space": r"\s",
    "anything but white space": r"\S",
}
_OF = {" (ASCII)": "(?a)", " (Unicode)": ""}
_CONDITIONS = {
    "at the beginning of the text": r"\A",
    "at the beginning of a line": "(?m)^",
    "at the end of a line": "(?m)$",
    "at the end of the text": r"\Z",
    "at the end of the text, or before a line feed that ends it": "$",
    "at a word boundary": r"\b",
    "not at a word boundary": r"\B",
}


class UnreadableError(Exception):
    """The words do not tell all: they cite the source, or cut a long text."""


def read_back(description: Description) -> list[Node | tuple[str, Node]]:
    """The nodes that a description tells of: of rules with their names, of flags nothing."""
    return list(_all(description.phrases, 0, len(description.phrases)))


def _all(phrases: Sequence[Phrase], at: int, end: int) -> Iterator[Node | tuple[str, Node]]:
    while at < end:
        phrase = phrases[at]
        after = at + 1 + phrase.size
        if not phrase.text.startswith("From here on, "):
            yield _node(
                phrase.text[0].lower() + phrase.text[1:], lambda at=at, after=after: _all(phrases, at + 1, after)
            )
        at = after


def _node(words: str, inner: Callable[[], Iterator[Node | tuple[str, Node]]]) -> Node | tuple[str, Node]:
    rule = re.match(rf"rule ({_QUOTED})(?:, with which every match begins)?: ", words)
    if rule:
        return _text(rule[1]), _plain(_node(words[rule.end() :], inner))
    around = re.match(rf"(?:group (?:[\d,]+|{_QUOTED})|where [^:]*(?:`[^`]*`[^:`]*)*): ", words)
    if around:
        return _node(words[around.end() :], inner)
    before, colon, after = words.partition(": ")
    before = before.removesuffix(", lazily")
    for pattern, bounds in _COUNTS:
        found = pattern.fullmatch(before)
        if found:
            held = _plain(_node(after, inner)) if colon else _only(inner)
            return Repeat(held, *bounds(found))
    if before in _LOOKS:
        return Lookaround(_plain(_node(after, inner)) if colon else _only(inner), *_LOOKS[before])
    if words == "in this order":
        return Items(tuple(map(_plain, inner())))
    if re.fullmatch(r"one of these [\d,]+", words):
        alternatives = tuple(map(_plain, inner()))
        assert words == f"one of these {len(alternatives):,}"
        return Choice(alternatives)
    return _leaf(words)


def _plain(found: Node | tuple[str, Node]) -> Node:
    assert not isinstance(found, tuple)
    return found


def _only(inner: Callable[[], Iterator[Node | tuple[str, Node]]]) -> Node:
    (found,) = inner()
    return _plain(found)


def _leaf(words: str) -> Node:
    if words in {"the empty text", "nothing, since it is repeated 0 times"}:
        return Empty()
    if words in {"no text at all", "no character", "half of a surrogate pair, which no text contains"}:
        return Never()
    text = re.fullmatch(rf"the text ({_QUOTED})(, in any letter case|, in any case of A to Z)?", words)
    if text:
        fold = {None: None, ", in any letter case": CaseFold.PYTHON, ", in any case of A to Z": CaseFold.ASCII}[text[2]]
        chars = [CharSet.chars(char) for char in _text(text[1])]
        nodes = tuple(Chars(close_under_case(one, fold) if fold else one) for one in chars)
        return nodes[0] if len(nodes) == 1 else Items(nodes)
    reference = re.fullmatch(rf"the rule ({_QUOTED})", words)
    if reference:
        return RuleReference(_text(reference[1]))
    token = rf"(?:number (\d+)|({_QUOTED}))"
    tokens = re.fullmatch(rf"(any single token except|the token) {token}(?:, as a single token)?", words)
    if tokens:
        names, ids = ((_text(tokens[3]),), ()) if tokens[3] else ((), (int(tokens[2]),))
        return TokenSet(names, ids, tokens[1] == "any single token except")
    return _condition(words) or Chars(_set(words))


def _condition(words: str) -> Node | None:
    plain = words.removesuffix(" (ASCII)")
    pattern = _CONDITIONS.get(plain)
    if pattern is None:
        return None
    return parse(SourceText(("(?a)" if plain != words else "") + pattern), "python", Limits())[0]


def _set(words: str) -> CharSet:
    for ending, flag in _OF.items():
        if words.removesuffix(ending) != words:
            return _parsed(flag + _SETS[words.removesuffix(ending)])
    found = re.fullmatch(rf"a character (with|without) the property ({_QUOTED})(, in any letter case)?", words)
    if found:
        if found[3]:
            raise UnreadableError
        return _parsed(rf"\{'p' if found[1] == 'with' else 'P'}{{{_text(found[2])}}}")
    if words.startswith(("one of the characters of ", "a text of ")) or words.endswith("(ECMAScript)"):
        raise UnreadableError
    if words == "any character":
        return EVERY_SCALAR
    if words.startswith("any character except "):
        return EVERY_SCALAR - _listed(words.removeprefix("any character except "), "and")
    return _listed(words.removeprefix("one of "), "or")


def _listed(words: str, conjunction: str) -> CharSet:
    item = rf"({_QUOTED}|U\+[0-9A-F]+|a (?:tab|line feed|carriage return|space))"
    one = re.compile(rf"{item}(?: to {item})?(?:, | {conjunction} |$)")
    chosen, at = CharSet(), 0
    while at < len(words):
        found = one.match(words, at)
        assert found, f"{words[at:]!r} is no character"
        first = _code(found[1])
        chosen |= CharSet(((first, _code(found[2]) if found[2] else first),))
        at = found.end()
    return chosen


def _code(word: str) -> int:
    if word in _NAMED:
        return _NAMED[word]
    return int(word.removeprefix("U+"), base=16) if word.startswith("U+") else ord(_text(word))


def _text(quoted: str) -> str:
    """What stands between backticks, its marks taken for what they stand for."""
    fence = len(quoted) - len(quoted.lstrip("`"))
    inner = quoted[fence:-fence]
    inner = inner[1:-1] if fence > 1 else inner
    inner = inner.removeprefix("\N{DOTTED CIRCLE}")
    return "".join(
        chr(int(found[1] or found[2], 16)) if found[1] or found[2] else _MARKS.get(found[3], found[3])
        for found in _PIECE.finditer(inner)
    )


def _number(words: str) -> int:
    return int(words.replace(",", ""))


def _parsed(pattern: str) -> CharSet:
    node, _ = parse(SourceText(pattern), "python", Limits())
    assert isinstance(node, Chars)
    return node.set


def same(node: Node) -> object:
    """A node without places, sequences within sequences spelled out, and surrogates out of its sets."""
    match node:
        case Chars():
            return Never() if not node.set & EVERY_SCALAR else Chars(node.set & EVERY_SCALAR)
        case Items():
            items: list[object] = []
            for item in node.items:
                inner = same(item)
                items += inner[1:] if isinstance(inner, list) and inner[0] == "in order" else [inner]
            return ["in order", *items]
        case Choice():
            return ["one of", *map(same, node.alternatives)]
        case Repeat():
            return ["times", node.minimum, node.maximum, same(node.node)]
        case Lookaround():
            return ["look", node.ahead, node.negated, same(node.node)]
        case RuleReference():
            return RuleReference(node.name)
        case TokenSet():
            return TokenSet(node.names, node.ids, node.negated)
        case Empty():
            return Empty()
        case _:
            return Never()


def rules_of(grammar: Grammar) -> list[tuple[str, object]]:
    """The rules of a grammar in source order, without places."""
    return [(rule.name, same(rule.node)) for rule in sorted(grammar.rules, key=lambda rule: rule.span)]
