"""Advice on unknown keywords, and on texts that are no schema.

JSON Schema permits any word as an annotation, so an unknown one is never an error; but `propertes` is probably a typo.
Two words are one typo apart if removing one character from each, or from one of them, makes them equal: one character
too many, missing, wrong or swapped with its neighbour. Words with one character removed are looked up in a table, and a
word longer than every keyword is not looked up, so the cost does not depend on the length of the input. Words that are
further apart (`propertys`) are compared only for the message.

A request to a server, a tool definition or a plain value is legal as a schema: all its members are annotations, and it
allows every value. This is never intended, so the advice names the embedded schema, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from engine.notations.json_schema.dialects import ENFORCED
from engine.notations.json_schema.json_tree import Json
from engine.source import similar_words

# Annotations of the standard and of OpenAPI: known, and not enforced by design.
_ANNOTATIONS: Final = frozenset(
    """$anchor $comment $defs $dynamicAnchor $id $recursiveAnchor $schema $vocabulary contentEncoding contentMediaType
    contentSchema default definitions deprecated description discriminator else example examples externalDocs id
    maxContains minContains nullable readOnly then title writeOnly xml""".split()
)
# Prefixes that mark a name as an extension.
_EXTENSIONS: Final = ("x-", "X-", "_", "//", "#", "@")
_SHORTEST: Final = 4
_LONGEST: Final = 32  # no keyword has more than 21 characters
_SIMILAR: Final = 0.8
_MOST_LOOKED_AT: Final = 1_000
_TYPES: Final = frozenset(("null", "boolean", "number", "integer", "string", "array", "object"))
_OF_OBJECTS: Final = ("properties", "$defs", "definitions", "patternProperties")
_OF_LISTS: Final = ("anyOf", "oneOf", "allOf", "enum", "required")
_OF_TEXTS: Final = ("$ref", "pattern")


def is_annotation(name: str) -> bool:
    """Return whether a word is a known annotation, or marked as an extension."""
    return name in _ANNOTATIONS or name.startswith(_EXTENSIONS)


def likely_keyword(name: str) -> str | None:
    """Return the keyword that is one typo away from an unknown word; None if there is none, and for an annotation."""
    if not _SHORTEST <= len(name) <= _LONGEST or is_annotation(name):
        return None
    return _one_typo_away(name)


def similar_word(name: str) -> str | None:
    """Return the keyword or annotation that is most similar to an unknown word, or None."""
    likely = likely_keyword(name)
    return likely or next(iter(similar_words(name, _words(), 1, _SIMILAR)), None)


@lru_cache(maxsize=4096)
def _one_typo_away(name: str) -> str | None:
    known = _shortened()
    for form in (name, *_deletions(name)):
        if form in known:
            return known[form]
    return known.get(name.lower()) or known.get("$" + name)


@cache
def _words() -> tuple[str, ...]:
    return tuple(sorted(ENFORCED | _ANNOTATIONS))


@cache
def _shortened() -> dict[str, str]:
    forms: dict[str, str] = {}
    # Correct words come last, so that no variant of another word hides them.
    words = [*sorted(ENFORCED), "$defs", "definitions"]
    for word in words:
        if len(word) >= _SHORTEST:
            forms.update(dict.fromkeys((word.lower(), *_deletions(word)), word))
        if len(word) == _SHORTEST:  # too short to remove a character, but not to swap two
            forms.update(dict.fromkeys(_swapped(word), word))
    forms.update({word: word for word in words})
    return forms


def _deletions(word: str) -> Iterator[str]:
    if len(word) > _SHORTEST:
        for index in range(len(word)):
            yield word[:index] + word[index + 1 :]


def _swapped(word: str) -> Iterator[str]:
    for index in range(len(word) - 1):
        yield word[:index] + word[index + 1] + word[index] + word[index + 2 :]


def embedded_schema(node: Json) -> Json | None:
    """Return the schema nearest to the top of a value, the value itself excluded; None if there is none."""
    todo, looked_at = [node], 0
    while todo and looked_at < _MOST_LOOKED_AT:
        below: list[Json] = []
        for part in todo:
            for inner in part.members.values() or part.items:
                looked_at += 1
                if looked_at > _MOST_LOOKED_AT:
                    break
                if _is_schema(inner):
                    return inner
                below.append(inner)
        todo = below
    return None


def advice_on_schema(node: Json) -> tuple[str, dict[str, str]]:
    """Return advice on a schema without any keyword: the variant of the diagnostic, empty for none, and its fields."""
    for name in node.members:
        similar = None if is_annotation(name) else similar_word(name)
        if similar is not None:
            return "similar", {"similar": similar, "name": name}
    inner = embedded_schema(node)
    if inner is None:
        return "", {}
    if inner.pointer.count("/") == node.pointer.count("/") + 1 and all(map(_is_schema, node.members.values())):
        return "properties", {}
    return "embedded", {"inner": inner.pointer}


def _is_schema(node: Json) -> bool:
    """Return whether an object has a keyword with a suitable value."""
    members = node.members
    named = members.get("type")
    if named is not None and isinstance(named.value, str) and named.value in _TYPES:
        return True
    return (
        any(name in members and isinstance(members[name].value, dict) for name in _OF_OBJECTS)
        or any(name in members and isinstance(members[name].value, list) for name in _OF_LISTS)
        or any(name in members and isinstance(members[name].value, str) for name in _OF_TEXTS)
    )
