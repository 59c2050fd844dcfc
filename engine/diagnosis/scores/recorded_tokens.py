"""The tokens that a response or a log recorded: their ids, their bytes, and where they are in the output.

Servers record different parts. llama-server and SGLang give ids; vLLM gives them if it is asked, and then perhaps no
text; OpenAI gives bytes alone. An id is exact. Bytes name a token only where one token of the vocabulary has them. What
a server writes for a token may also differ from its bytes: an incomplete character is written as U+FFFD, and some
tokenizers drop a leading blank. So the output itself says where tokens are, from its beginning and from its end; what
is between stays without a position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from weakref import WeakKeyDictionary

from engine.diagnosis.case import FailureCase, ListedToken, ScoredToken
from engine.document.saved_traces import FINISHES, SavedTrace
from engine.source import EngineError
from engine.vocabulary import Vocabulary
from engine.vocabulary.visible import visible

_INCOMPLETE: Final = "\ufffd".encode()
_AMBIGUOUS: Final = -1


class OtherVocabularyError(EngineError):
    """The ids of a record have other bytes in a vocabulary."""


def recorded_tokens(case: FailureCase, vocabulary: Vocabulary | None = None) -> tuple[ScoredToken, ...]:
    """Return the tokens that a response recorded, with the ids and the bytes that are known; none if it recorded none.

    Args:
        case: the request and its response.
        vocabulary: the vocabulary of the ids; None if it is not known.

    Raises:
        OtherVocabularyError: an id has other bytes in the vocabulary, or it has no such id.
    """
    tokens = case.scores
    if not tokens:
        tokens = tuple(ScoredToken(b"", None, token_id) for token_id in case.ids)
    elif len(case.ids) in (len(tokens), len(tokens) + 1):  # an end token may have no log-probability
        ends = (None,) * (len(case.ids) - len(tokens))
        pairs = zip((*tokens, *ends), case.ids, strict=True)
        named = tuple(_with_id(token, token_id) for token, token_id in pairs)
        tokens = tokens if any(one is None for one in named) else tuple(one for one in named if one is not None)
    if vocabulary is None:
        return tokens
    ids = _ids_by_bytes(vocabulary)
    return tuple(_in_vocabulary(token, index, vocabulary, ids) for index, token in enumerate(tokens))


def _with_id(token: ScoredToken | None, token_id: int) -> ScoredToken | None:
    """Return a token with its id; None if it has another one."""
    if token is None:
        return ScoredToken(b"", None, token_id)
    return replace(token, token_id=token_id) if token.token_id in (None, token_id) else None


def _in_vocabulary(token: ScoredToken, index: int, vocabulary: Vocabulary, ids: dict[bytes, int]) -> ScoredToken:
    listed = tuple(
        ListedToken(data, one.logprob, number if number is not None and number >= 0 else None)
        for one in token.alternatives
        for data, number in (_known(one.data, one.token_id, vocabulary, ids),)
    )
    if token.token_id is None:
        return replace(token, token_id=_unique(ids, token.data), alternatives=listed)
    if not 0 <= token.token_id < vocabulary.size:
        raise OtherVocabularyError(
            "errors.diagnosis.id_outside", position=index + 1, id=token.token_id, last=vocabulary.size - 1
        )
    own = vocabulary.token_bytes(token.token_id) or b""
    if not is_written_as(own, token.data, vocabulary.special.get(token.token_id, "")):
        name = visible(own) or vocabulary.special.get(token.token_id, "")
        raise OtherVocabularyError(
            "errors.diagnosis.other_vocabulary",
            position=index + 1,
            id=token.token_id,
            given=visible(token.data),
            own=name,
        )
    return replace(token, data=own, alternatives=listed)


def _known(
    data: bytes, token_id: int | None, vocabulary: Vocabulary, ids: dict[bytes, int]
) -> tuple[bytes, int | None]:
    """Return the bytes and the id of a listed token, as far as they follow from one another."""
    if token_id is None:
        return data, _unique(ids, data)
    if not 0 <= token_id < vocabulary.size:
        return data, None
    return vocabulary.token_bytes(token_id) or b"", token_id


def is_written_as(own: bytes, written: bytes, name: str = "") -> bool:
    """Return whether a server may have written a token in this way.

    Args:
        own: the bytes of the token.
        written: what the server wrote; empty if it wrote nothing.
        name: the name of a special token, else empty.
    """
    if not written or written == own or (name and written == name.encode()):
        return True
    return _INCOMPLETE in written or own == b" " + written


def _unique(ids: dict[bytes, int], data: bytes) -> int | None:
    found = ids.get(data, _AMBIGUOUS) if data and _INCOMPLETE not in data else _AMBIGUOUS
    return None if found == _AMBIGUOUS else found


def _ids_by_bytes(vocabulary: Vocabulary) -> dict[bytes, int]:
    """Return the id of each text that one token alone has, a special token by its name; else -1."""
    known = _BY_BYTES.get(vocabulary)
    if known is None:
        known = {}
        named = ((name.encode(), token_id) for token_id, name in vocabulary.special.items())
        for data, token_id in (*((token, number) for number, token in enumerate(vocabulary.tokens)), *named):
            if data:
                known[data] = _AMBIGUOUS if data in known else token_id
        _BY_BYTES[vocabulary] = known
    return known


_BY_BYTES: WeakKeyDictionary[Vocabulary, dict[bytes, int]] = WeakKeyDictionary()


def starts_in(tokens: Sequence[ScoredToken], text: bytes) -> list[int | None]:
    """Return the byte of an output at which each token begins; None where that is not known.

    The tokens may begin before the output, as those of thoughts do, and end behind it, as an end token does: of those
    behind, the first begins at its end.

    Args:
        tokens: the tokens.
        text: the output.
    """
    starts: list[int | None] = [None] * len(tokens)
    at = first = 0
    while first < len(tokens) and at < len(text):
        data = tokens[first].data
        if not data or not text.startswith(data, at):
            break
        starts[first] = at
        at, first = at + len(data), first + 1
    if at == len(text):
        if first < len(tokens):
            starts[first] = at
        return starts
    end, last = len(text), len(tokens) - 1
    while last >= first and not _ends_with(text, tokens[last].data, end):
        last -= 1
    if first <= last < len(tokens) - 1:
        starts[last + 1] = end
    while last >= first and _ends_with(text, tokens[last].data, end) and end - len(tokens[last].data) >= at:
        end -= len(tokens[last].data)
        starts[last] = end
        last -= 1
    return starts


def _ends_with(text: bytes, data: bytes, end: int) -> bool:
    return bool(data) and text.endswith(data, 0, end)


def recorded_saved_trace(case: FailureCase, vocabulary: Vocabulary | None = None) -> SavedTrace:
    """Return the tokens of the output of a response as a saved trace; -1 is the id of a token without one.

    Args:
        case: the response.
        vocabulary: the vocabulary of its ids; None if it is not known.

    Raises:
        EngineError: the response has no tokens, or they are those of another vocabulary, or their texts are not known.
    """
    tokens, text = recorded_tokens(case, vocabulary), case.output
    if text is not None:
        starts = starts_in(tokens, text)
        tokens = tuple(token for token, start in zip(tokens, starts, strict=True) if start is not None)
    pieces = tuple(token.data for token in tokens)
    if not tokens or (text is not None and b"".join(pieces[: _count(pieces, text)]) != text):
        raise EngineError("errors.diagnosis.no_texts")
    ids = tuple(-1 if token.token_id is None else token.token_id for token in tokens)
    pieces = tuple(piece if index < _count(pieces, text) else b"" for index, piece in enumerate(pieces))
    return SavedTrace(ids, pieces, str(case.finish) if case.finish in FINISHES else "")


def _count(pieces: Sequence[bytes], text: bytes | None) -> int:
    """Return the number of tokens that are the text, without the end that follows it."""
    if text is None:
        return len(pieces)
    size = 0
    for index, piece in enumerate(pieces):
        if size == len(text):
            return index
        size += len(piece)
    return len(pieces)
