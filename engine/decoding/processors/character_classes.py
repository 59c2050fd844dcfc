"""Character classes over a vocabulary: which tokens are upper case, digits, a new line.

A token belongs to a class if it is text and *all* its characters do: ` the` is not LETTER, since it starts with a
space, and `AB` is UPPER like `A`. So where tokens have several characters, a repeated class counts tokens. A token that
is part of a character, or no text, belongs to no class except ANY, which contains every token that has bytes.

The classes follow Unicode's general categories, so `é` is LOWER. NEWLINE and SPACE are disjoint: a line end is not
SPACE.

    >>> from engine.vocabulary import Vocabulary
    >>> words = Vocabulary([b"a", b"B", b"ab", b" a", b"\\n", b"\\xc3"], eos_ids=[])
    >>> np.flatnonzero(token_set(words, "LOWER")).tolist()
    [0, 2]
    >>> np.flatnonzero(token_set(words, "ANY")).tolist()
    [0, 1, 2, 3, 4, 5]
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors.logits import Allowed
from engine.source import InvariantError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary, visible


class CharacterClass(StrEnum):
    """The classes of characters; the module explains how they apply to tokens."""

    UPPER = "UPPER"  # Lu, Lt
    LOWER = "LOWER"  # Ll
    LETTER = "LETTER"  # all letters, including scripts without case
    DIGIT = "DIGIT"  # Nd
    SPACE = "SPACE"  # spaces and tabs, no line ends
    NEWLINE = "NEWLINE"  # line ends
    PUNCT = "PUNCT"  # punctuation and symbols
    ANY = "ANY"  # every token that has bytes


TokenSpec: TypeAlias = "str | bytes | Iterable[int] | Allowed"
"""A class by name, a token by its text or bytes, ids, or a mask bool[V]."""

_LINE_ENDS = frozenset("\n\r\v\f\x85\u2028\u2029")
_BITS = {one: np.uint8(1 << index) for index, one in enumerate(CharacterClass)}
_known: WeakKeyDictionary[Vocabulary, NDArray[np.uint8]] = WeakKeyDictionary()


def token_set(vocabulary: Vocabulary, spec: TokenSpec) -> Allowed:
    """Return the tokens that a specification selects, bool[V], read-only.

    Args:
        vocabulary: the vocabulary.
        spec: the name of a class; any other text, or bytes: the tokens with exactly these bytes; ids; or a mask.

    Raises:
        InvariantError: no token is selected, or an id is outside the vocabulary.
    """
    found: Allowed
    if isinstance(spec, str) and spec in CharacterClass.__members__:
        found = (_classes(vocabulary) & _BITS[CharacterClass(spec)]) != 0
        what = catalogue_text("decoding.token_set.class", name=spec)
    elif isinstance(spec, str | bytes):
        text = spec.encode() if isinstance(spec, str) else spec
        found = np.fromiter((token == text for token in vocabulary.tokens), np.bool_, vocabulary.size)
        what = catalogue_text("decoding.token_set.text", text=visible(text))
    elif isinstance(spec, np.ndarray) and spec.dtype == np.bool_:
        if spec.shape != (vocabulary.size,):
            raise InvariantError("errors.decoding.token_set.shape", size=vocabulary.size, shape=list(spec.shape))
        found, what = spec.copy(), catalogue_text("decoding.token_set.mask")
    else:
        found, what = (
            _of_ids(vocabulary, [int(token_id) for token_id in spec]),
            catalogue_text("decoding.token_set.set"),
        )
    if not found.any():
        raise InvariantError("errors.decoding.token_set.empty", what=what)
    found.setflags(write=False)
    return found


def _of_ids(vocabulary: Vocabulary, ids: list[int]) -> Allowed:
    for token_id in ids:
        if not 0 <= token_id < vocabulary.size:
            raise InvariantError("errors.decoding.no_token_id", id=token_id, last=vocabulary.size - 1)
    found = np.zeros(vocabulary.size, dtype=np.bool_)
    found[ids] = True
    return found


def _classes(vocabulary: Vocabulary) -> NDArray[np.uint8]:
    """Return uint8[V], a bit for each class that a token belongs to."""
    bits = _known.get(vocabulary)
    if bits is None:
        bits = _known[vocabulary] = _compute_classes(vocabulary)
    return bits


def _compute_classes(vocabulary: Vocabulary) -> NDArray[np.uint8]:
    bits = np.zeros(vocabulary.size, dtype=np.uint8)
    ids, texts = [], []
    for token_id, token in enumerate(vocabulary.tokens):
        if token:
            bits[token_id] = _BITS[CharacterClass.ANY]
            try:
                texts.append(token.decode("utf-8"))
            except UnicodeDecodeError:
                continue
            ids.append(token_id)
    if ids:
        # Concatenate all texts: each distinct character is looked up once, and a token has the classes that all its
        # characters have.
        points = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32)
        distinct, where = np.unique(points, return_inverse=True)
        of_point = np.array([_class_bits(chr(point)) for point in distinct.tolist()], dtype=np.uint8)
        lengths = np.array([len(text) for text in texts])
        bits[ids] |= np.bitwise_and.reduceat(of_point[where], np.cumsum(lengths) - lengths)
    return bits


def _class_bits(char: str) -> int:
    category = unicodedata.category(char)
    found: list[CharacterClass] = []
    if char in _LINE_ENDS:
        found.append(CharacterClass.NEWLINE)
    elif char == "\t" or category == "Zs":
        found.append(CharacterClass.SPACE)
    if category in {"Lu", "Lt"}:
        found.append(CharacterClass.UPPER)
    if category == "Ll":
        found.append(CharacterClass.LOWER)
    if category[0] == "L":
        found.append(CharacterClass.LETTER)
    if category == "Nd":
        found.append(CharacterClass.DIGIT)
    if category[0] in "PS":
        found.append(CharacterClass.PUNCT)
    return sum(int(_BITS[one]) for one in found)
