"""Keywords that are probably misspelled: an unknown keyword is an annotation, but `propertes` was hardly meant as one.

Two words are near when taking one letter out of each, or of one of them, makes
them equal: that is one letter too many, missing, wrong or swapped with its
neighbour. Words with a letter taken out are looked up, so a word costs its own
length, however many keywords there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

# Annotations of the standard and of OpenAPI: known not to be enforced, and meant so.
_ANNOTATIONS: Final = frozenset(
    """$anchor $comment $defs $dynamicAnchor $id $recursiveAnchor $schema $vocabulary contentEncoding contentMediaType
    contentSchema default definitions deprecated description discriminator else example examples externalDocs id
    maxContains minContains nullable readOnly then title writeOnly xml""".split()
)
_SHORTEST: Final = 4


@lru_cache(maxsize=4096)
def likely_keyword(name: str) -> str | None:
    """The keyword that an unknown one was probably meant to be; None for none, and for an annotation.

    What begins with `_` was put out of force that way, and what begins with `x-` is an extension.
    """
    if len(name) < _SHORTEST or name in _ANNOTATIONS or name.startswith(("x-", "_")):
        return None
    known = _shortened()
    for form in (name, *_forms(name)):
        if form in known:
            return known[form]
    return known.get(name.lower()) or known.get("$" + name)


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
