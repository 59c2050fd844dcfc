"""Unknown keywords: which of them were probably meant to be another word.

A draft lets any word stand as an annotation, so an unknown one is never an error; but `propertes` was hardly meant
as one. Two words are one slip apart when taking one letter out of each, or out of one of them, makes them equal:
one letter too many, missing, wrong or swapped with its neighbour. Words with a letter taken out are looked up in a
table, and a word that is longer than every keyword is not looked up at all, so the cost does not depend on the length
of what was written. Words that are further apart (`propertys`) are compared for the message only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from engine.source import similar_words

# Annotations of the standard and of OpenAPI: known not to be enforced, and meant so.
_ANNOTATIONS: Final = frozenset(
    """$anchor $comment $defs $dynamicAnchor $id $recursiveAnchor $schema $vocabulary contentEncoding contentMediaType
    contentSchema default definitions deprecated description discriminator else example examples externalDocs id
    maxContains minContains nullable readOnly then title writeOnly xml""".split()
)
# The first characters of names that say themselves that they are no keyword.
_EXTENSIONS: Final = ("x-", "X-", "_", "//", "#", "@")
_SHORTEST: Final = 4
_LONGEST: Final = 32  # no keyword has more than 21 characters
_SIMILAR: Final = 0.8


def is_annotation(name: str) -> bool:
    """Return whether a word is known to be an annotation, or marks itself as an extension."""
    return name in _ANNOTATIONS or name.startswith(_EXTENSIONS)


def likely_keyword(name: str) -> str | None:
    """Return the keyword that is one slip away from an unknown word; None for none, and for an annotation."""
    if not _SHORTEST <= len(name) <= _LONGEST or is_annotation(name):
        return None
    return _one_slip_away(name)


def similar_word(name: str) -> str | None:
    """Return the keyword or annotation that resembles an unknown word most; None where none does."""
    likely = likely_keyword(name)
    return likely or next(iter(similar_words(name, _words(), 1, _SIMILAR)), None)


@lru_cache(maxsize=4096)
def _one_slip_away(name: str) -> str | None:
    known = _shortened()
    for form in (name, *_forms(name)):
        if form in known:
            return known[form]
    return known.get(name.lower()) or known.get("$" + name)


@cache
def _words() -> tuple[str, ...]:
    from engine.notations.json_schema.lowering import keywords

    return tuple(sorted(keywords() | _ANNOTATIONS))


@cache
def _shortened() -> dict[str, str]:
    from engine.notations.json_schema.lowering import keywords

    forms: dict[str, str] = {}
    # What is right as it is comes last, so that it is never hidden by another word's form.
    words = [*sorted(keywords()), "$defs", "definitions"]
    for word in words:
        if len(word) >= _SHORTEST:
            forms.update(dict.fromkeys((word.lower(), *_forms(word)), word))
        if len(word) == _SHORTEST:  # too short to do without a letter, but not to have two of them swapped
            forms.update(dict.fromkeys(_swapped(word), word))
    forms.update({word: word for word in words})
    return forms


def _forms(word: str) -> Iterator[str]:
    if len(word) > _SHORTEST:
        for place in range(len(word)):
            yield word[:place] + word[place + 1 :]


def _swapped(word: str) -> Iterator[str]:
    for place in range(len(word) - 1):
        yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]
