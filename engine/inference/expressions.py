"""An expression from texts: runs of characters of one class, with the counts that were seen.

A text is a sequence of runs: digits, upper-case letters, lower-case letters, other letters, and each other character by
itself. Texts with the same sequence are one form; what is the same in all of them is a literal, few words that recur
are alternatives, the rest is a class with its smallest and largest count. Where there are too many forms, letters of
both cases are one class, then letters and digits, and at last all characters that occur are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Sequence as Listed
from typing import Final

from engine.grammar import Chars, CharSet, Choice, Empty, Node, Repeat, Sequence
from engine.inference.samples import recurs
from engine.source import checkpoint

_MOST_FORMS: Final = 4
_RUNS: Final = (
    ("[0-9]+", "[A-Z]+", "[a-z]+", r"[^\W\d_]+"),
    ("[0-9]+", "[A-Za-z]+", r"[^\W\d_]+"),
    ("[0-9A-Za-z_]+", r"[^\W\d_]+"),
    (r"[\w-]+",),
)
"""The classes of runs, from the narrowest to the widest; a character in none of them is a run by itself."""
_NARROW: Final = (("0", "9"), ("A", "Z"), ("a", "z"))


def expression_of(texts: Mapping[str, int]) -> Node:
    """Return a node that matches every text.

    Args:
        texts: the texts, and how often each occurs.
    """
    if recurs(dict(texts)) or len(texts) == 1:
        return _alternatives([_literal(text) for text in texts])
    for classes in _RUNS:
        forms = _forms(list(texts), re.compile("|".join(f"({one})" for one in classes) + "|(.)", re.DOTALL))
        if len(forms) <= _MOST_FORMS:
            return _alternatives([_form(rows, texts) for rows in forms])
    return _counted("".join(texts), [len(text) for text in texts])


def _forms(texts: Listed[str], pattern: re.Pattern[str]) -> list[list[tuple[str, list[str]]]]:
    """Return the texts by form, each as a pair of the text and its runs."""
    found: dict[tuple[object, ...], list[tuple[str, list[str]]]] = {}
    for text in texts:
        checkpoint(1 + len(text))
        matches = list(pattern.finditer(text))
        form = tuple(one[0] if one.lastindex == pattern.groups else one.lastindex for one in matches)
        found.setdefault(form, []).append((text, [one[0] for one in matches]))
    return list(found.values())


def _form(rows: list[tuple[str, list[str]]], counts: Mapping[str, int]) -> Node:
    """Return the node of texts of one form."""
    items: list[Node] = []
    for column in range(len(rows[0][1])):
        seen: dict[str, int] = {}
        for text, runs in rows:
            seen[runs[column]] = seen.get(runs[column], 0) + counts[text]
        is_word = not any(one.isdigit() for one in seen)
        if len(seen) == 1:
            items += _characters(next(iter(seen)))
        elif is_word and recurs(seen):
            items.append(_alternatives([_literal(one) for one in seen]))
        else:
            items.append(_counted("".join(seen), list(map(len, seen))))
    return _sequence(items)


def _counted(characters: str, lengths: list[int]) -> Node:
    """Return a class of characters with a count; an ASCII class is as wide as its kind."""
    used = CharSet.chars(characters)
    for first, last in _NARROW:
        kind = CharSet.of([(ord(first), ord(last))])
        if used & kind:
            used |= kind
    node: Node = Chars(used)
    least, most = min(lengths), max(lengths)
    return node if (least, most) == (1, 1) else Repeat(node, least, most)


def _literal(text: str) -> Node:
    return _sequence(_characters(text))


def _characters(text: str) -> list[Node]:
    return [Chars(CharSet.chars(character)) for character in text]


def _sequence(items: list[Node]) -> Node:
    if not items:
        return Empty()
    return items[0] if len(items) == 1 else Sequence(tuple(items))


def _alternatives(nodes: list[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else Choice(tuple(nodes))
