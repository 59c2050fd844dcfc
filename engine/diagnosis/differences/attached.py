"""A running server as an engine of a comparison.

Each text costs a request whose answer lists whole masks, so a server is asked far less than an engine on this machine:
by numbers of texts, so that equal arguments still give equal results. What is not asked or cannot be read is unknown,
and no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.peers.masks import FollowedText, FollowedTexts
from engine.peers.run_masks import ServerMasks
from engine.servers import KINDS, ServerClient, ServerError, identify
from engine.servers.served_model import ServesModel
from engine.servers.server_mask import ShowsMask, Unread
from engine.vocabulary import Vocabulary

MOST_SERVER_STEPS: Final = 300
"""The default for the largest number of steps with a server; see `MOST_STEPS`."""
_MOST_TEXTS: Final = 600
_MOST_OF_QUESTION: Final = 48  # texts that are new
_Ids = tuple[int, ...]
_UNKNOWN: Final = FollowedText((), is_cut=True)


class AttachedEngine:
    """A server whose masks are read; for the attributes see `ComparedEngine`.

    Args:
        client: the server.
        notation: the id of the notation of the grammars.
        vocabulary: the vocabulary of a tokenizer; None for that of the server.

    Attributes:
        vocabulary: the vocabulary of the masks.

    Raises:
        ServerError: the server cannot be asked, shows no mask, or has no vocabulary to read.
    """

    def __init__(self, client: ServerClient, notation: str, vocabulary: Vocabulary | None = None) -> None:
        self._client, self._notation = client, notation
        self._identity = identify(client)
        kind = KINDS[self._identity.kind]
        self.name, self.version = kind.title, self._identity.version
        if not isinstance(kind, ShowsMask):
            raise ServerError("errors.servers.no_mask", kind=kind.title)
        if vocabulary is None:
            if not isinstance(kind, ServesModel) or kind.needs_tokenizer:
                raise ServerError("errors.servers.vocabulary_needed", kind=kind.title)
            vocabulary = kind.model(client, self._identity, None).vocabulary
        self.vocabulary = vocabulary
        self._masks: dict[str, ServerMasks] = {}
        self._known: dict[tuple[str, _Ids], FollowedText] = {}
        self._words: dict[tuple[str, _Ids], bytes] = {}

    def require_mask(self, source: str) -> None:
        """Check that the server applies a mask, unless it refuses the grammar.

        Raises:
            ServerError: it applies none, or cannot be asked.
        """
        if self._masks_of(source).along((), (0,))[0].unread is Unread.UNMASKED:
            raise ServerError("errors.servers.unmasked", kind=self.name, address=self._client.address)

    def follow(self, source: str, paths: Sequence[_Ids]) -> FollowedTexts:
        """See `ComparedEngine`; texts beyond the numbers of this module are unknown."""
        masks = self._masks_of(source)
        first = masks.along((), (0,))[0]
        if first.unread is Unread.REFUSED:
            return FollowedTexts(refused=first.reason)
        new = [path for path in dict.fromkeys(paths) if (source, path) not in self._known]
        for path in new[: min(_MOST_OF_QUESTION, _MOST_TEXTS - len(self._known))]:
            text = self._known[source, path] = self._left_text(source, path) or _followed(masks, path)
            self._words |= {(source, path[:position]): words for position, words in enumerate(text.masks)}
        return FollowedTexts(tuple(self._known.get((source, path), _UNKNOWN) for path in paths))

    def complete(self, source: str, path: _Ids) -> _Ids | None:
        """Return None: a search by masks would need a request for each token; see `ComparedEngine`."""
        return None

    def _left_text(self, source: str, path: _Ids) -> FollowedText | None:
        """Return how the server reads a text, if a text with the same beginning shows that it masks the next token."""
        known: list[bytes] = []
        for position, token_id in enumerate(path):
            words = self._words.get((source, path[:position]))
            if words is None:
                return None
            known.append(words)
            if not words[token_id >> 3] >> (token_id & 7) & 1:
                return FollowedText(tuple(known))
        return None

    def _masks_of(self, source: str) -> ServerMasks:
        if source not in self._masks:
            self._masks[source] = ServerMasks(self._client, self._identity, self._notation, source, self.vocabulary)
        return self._masks[source]


def _followed(masks: ServerMasks, path: _Ids) -> FollowedText:
    found = masks.along(path, range(len(path) + 1))
    known: list[bytes] = []
    for position in range(len(path) + 1):
        mask = found[position]
        if mask.reason:
            return FollowedText(tuple(known), is_cut=mask.unread is not Unread.LEFT)
        known.append(mask.words)
    return FollowedText(tuple(known))
