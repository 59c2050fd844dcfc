"""Questions about masks to the child process of an engine: masks along texts, and a completion that follows its masks.

A benchmark asks how long an engine takes; these requests ask what it answers. The child compiles a grammar once and
keeps it for the next question. A mask is the bytes of its words, so that masks are compared and remembered at once;
equal masks of an answer are one object and are sent once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.masking.bitmask import unpack_mask
from engine.peers.adapter import Adapter, PeerMatcher, allows, eos_id_of, error_text
from engine.vocabulary import Vocabulary

_KEPT: Final = 4  # compiled grammars
_CLOSING: Final = b'}])"\n:'
"""Bytes that end a value or a rule; a completion takes them before others."""
_PLAIN: Final = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-"
_QUOTE: Final = b'"'
_IN_STRING: Final = b"Z"
"""A byte that may follow in JSON within a string only, where the other closing bytes close nothing."""


@dataclass(frozen=True, slots=True)
class FollowTexts:
    """A request for the masks along texts.

    Attributes:
        notation: the id of the notation.
        source: the grammar.
        paths: the token ids of each text.
    """

    notation: str
    source: str
    paths: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class FollowedText:
    """How an engine reads a text.

    Attributes:
        masks: the mask before the first token, and after each token that it accepts; those before `failure`. One
            without bytes is unknown.
        failure: the error after the last of these masks; empty if there is none.
        is_cut: whether it is unknown how the engine reads on after these masks.
    """

    masks: tuple[bytes, ...]
    failure: str = ""
    is_cut: bool = False

    @property
    def reached(self) -> int:
        """Return the number of accepted tokens."""
        return len(self.masks) - 1

    @property
    def is_known(self) -> bool:
        """Return whether each mask is known, and how the engine reads on."""
        return not self.is_cut and all(self.masks)


@dataclass(frozen=True, slots=True)
class FollowedTexts:
    """The answer to `FollowTexts`.

    Attributes:
        texts: the texts, in the order of the request; empty if the engine refuses the grammar.
        refused: why it refuses the grammar; empty if it does not.
    """

    texts: tuple[FollowedText, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class CompleteText:
    """A request for a text that an engine accepts to its end.

    Attributes:
        notation: the id of the notation.
        source: the grammar.
        path: the token ids of the beginning.
        most: the most tokens to add.
    """

    notation: str
    source: str
    path: tuple[int, ...]
    most: int = 400


@dataclass(frozen=True, slots=True)
class CompletedText:
    """The answer to `CompleteText`: the token ids of the complete text; None if none was found."""

    path: tuple[int, ...] | None


class Preference:
    """The tokens that end a text soon: those of a byte that closes something come first, then other legible ones.

    Args:
        vocabulary: the vocabulary.

    Attributes:
        groups: the tokens; those of an earlier group are rather taken.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        tokens = {token: token_id for token_id, token in reversed(list(enumerate(vocabulary.tokens))) if token}
        quote, closing, plain = (
            [tokens[bytes((byte,))] for byte in some if bytes((byte,)) in tokens] for some in (_QUOTE, _CLOSING, _PLAIN)
        )
        self.groups = (quote, *([one] for one in closing if one not in quote), plain)
        self._outside, self._inside = [*closing, *plain], [*quote, *plain, *closing]
        self._in_string = tokens.get(_IN_STRING)
        self._plain = frozenset(plain)

    def among(self, is_allowed: Callable[[int], bool]) -> list[int]:
        """Return the preferred tokens that a mask allows, the best first.

        Args:
            is_allowed: whether it allows a token.
        """
        is_inside = self._in_string is not None and is_allowed(self._in_string)
        return [token_id for token_id in (self._inside if is_inside else self._outside) if is_allowed(token_id)]

    def is_as_good(self, token_id: int, best: int) -> bool:
        """Return whether a token serves as well as the best one.

        Args:
            token_id: the token.
            best: the best one.
        """
        return token_id == best or (token_id in self._plain and best in self._plain)


class MaskReader:
    """Answers the requests in the child process.

    Args:
        adapter: the engine.
        vocabulary: its vocabulary.
    """

    def __init__(self, adapter: Adapter, vocabulary: Vocabulary) -> None:
        self._adapter, self._vocabulary = adapter, vocabulary
        self._eos_id = eos_id_of(vocabulary)
        self._compiled: dict[tuple[str, str], PeerMatcher] = {}
        self._preference = Preference(vocabulary)

    def follow(self, asked: FollowTexts) -> FollowedTexts:
        """Return the masks along texts; any exception of a compile means that the engine refuses the grammar."""
        try:
            matcher = self._matcher(asked.notation, asked.source)
        except Exception as error:  # noqa: BLE001 - as above
            return FollowedTexts(refused=error_text(error))
        known: dict[bytes, bytes] = {}
        return FollowedTexts(tuple(_followed(matcher, path, known) for path in asked.paths))

    def complete(self, asked: CompleteText) -> CompletedText:
        """Return a complete text, found by the masks alone.

        Where the text may end, it ends. Otherwise what closes something comes first; where the same mask recurs, the
        next token is taken, so that no loop is followed forever.
        """
        try:
            matcher = self._matcher(asked.notation, asked.source)
            return CompletedText(self._completed(matcher, asked))
        except Exception:  # noqa: BLE001 - an engine that fails has found no text
            return CompletedText(None)

    def _completed(self, matcher: PeerMatcher, asked: CompleteText) -> tuple[int, ...] | None:
        matcher.reset()
        path = list(asked.path)
        matcher.fill_mask()
        for token_id in path:
            if not matcher.accept(token_id):
                return None
            matcher.fill_mask()
        visits: dict[bytes, int] = {}
        for _ in range(asked.most):
            if allows(matcher.mask, self._eos_id):
                return tuple(path)
            mask = matcher.mask.tobytes()
            visit = visits[mask] = visits.get(mask, -1) + 1
            choices = self._preference.among(lambda token_id: allows(matcher.mask, token_id))
            if not choices:
                choices = np.flatnonzero(unpack_mask(matcher.mask, self._vocabulary.size)).tolist()
            if not choices or not matcher.accept(token_id := choices[visit % len(choices)]):
                return None
            path.append(token_id)
            matcher.fill_mask()
        return None

    def _matcher(self, notation: str, source: str) -> PeerMatcher:
        found = self._compiled.pop((notation, source), None)
        if found is None:
            found = self._adapter.compile(notation, source)
        self._compiled[notation, source] = found
        if len(self._compiled) > _KEPT:
            del self._compiled[next(iter(self._compiled))]
        return found


def _followed(matcher: PeerMatcher, path: Sequence[int], known: dict[bytes, bytes]) -> FollowedText:
    """Return the masks along a text; `known` has the masks that were seen."""
    masks: list[bytes] = []
    try:
        matcher.reset()
        for token_id in path:
            matcher.fill_mask()
            mask = matcher.mask.tobytes()
            masks.append(known.setdefault(mask, mask))
            if not matcher.accept(token_id):
                return FollowedText(tuple(masks))
        matcher.fill_mask()
        mask = matcher.mask.tobytes()
        masks.append(known.setdefault(mask, mask))
    except Exception as error:  # noqa: BLE001 - an engine's error is an answer
        return FollowedText(tuple(masks), error_text(error))
    return FollowedText(tuple(masks))
