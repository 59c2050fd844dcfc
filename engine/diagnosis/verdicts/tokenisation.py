"""An output as tokens: as given, as the tokenizer encodes it, or with the fewest tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from engine.analysis.token_successors import TokenSuccessors
from engine.automata.byte_automaton import ByteAutomaton
from engine.diagnosis.verdicts.verdict import Divergence, TokenOrigin
from engine.models.text_encoder import TextEncoder, encode_exactly
from engine.source import EngineError
from engine.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class OutputTokens:
    """The tokens of an output.

    Attributes:
        ids: the id of each token; None if only its bytes are known.
        pieces: their bytes; empty for a token without text.
        names: the names of special tokens, else empty.
        origin: where they come from.
        ends: whether the last one ends the output.
        foreign: the index of the first token without text that is not an end, or None.
    """

    ids: tuple[int | None, ...]
    pieces: tuple[bytes, ...]
    names: tuple[str, ...]
    origin: TokenOrigin
    ends: bool = False
    foreign: int | None = None

    @property
    def data(self) -> bytes:
        """The bytes of the output."""
        return b"".join(self.pieces)

    @property
    def starts(self) -> tuple[int, ...]:
        """The start of each token in bytes, followed by the length of the output."""
        return tuple(accumulate(map(len, self.pieces), initial=0))

    @property
    def text_count(self) -> int:
        """The number of tokens without the final EOS."""
        return len(self.ids) - self.ends

    def token_at(self, byte: int) -> int | None:
        """Return the index of the token that contains a byte; None after the last one."""
        starts = self.starts
        return next((i for i in range(len(self.pieces)) if starts[i] <= byte < starts[i + 1]), None)


def given_ids(ids: Sequence[int], vocabulary: Vocabulary) -> OutputTokens:
    """Build the tokens of some ids.

    Raises:
        EngineError: an id is not in the vocabulary.
    """
    for index, token_id in enumerate(ids):
        if not 0 <= token_id < vocabulary.size:
            last = vocabulary.size - 1
            raise EngineError("errors.diagnosis.id_outside", position=index + 1, id=token_id, last=last)
    ends = bool(ids) and ids[-1] in vocabulary.eos_ids
    pieces = tuple(vocabulary.token_bytes(token_id) or b"" for token_id in ids)
    foreign = next((i for i, piece in enumerate(pieces[: len(ids) - ends]) if not piece), None)
    names = tuple(vocabulary.special.get(token_id, "") for token_id in ids)
    return OutputTokens(tuple(ids), pieces, names, TokenOrigin.GIVEN, ends, foreign)


def given_pieces(pieces: Sequence[bytes]) -> OutputTokens:
    """Build tokens of which only the bytes are known, as in a saved trace."""
    count = len(pieces)
    return OutputTokens((None,) * count, tuple(pieces), ("",) * count, TokenOrigin.GIVEN)


def tokenise(
    data: bytes, vocabulary: Vocabulary, automaton: ByteAutomaton, encode: TextEncoder | None = None
) -> OutputTokens | None:
    """Encode a text; return None if the vocabulary cannot.

    Args:
        data: the text.
        vocabulary: the vocabulary.
        automaton: the automaton of the grammar.
        encode: the tokenizer; without it, the fewest tokens are used.
    """
    own = tokenizer_ids(data, vocabulary, encode)
    ids = TokenSuccessors(automaton, vocabulary).fewest_tokens(data) if own is None else own
    if ids is None:
        return None
    pieces = tuple(vocabulary.token_bytes(token_id) or b"" for token_id in ids)
    origin = TokenOrigin.FEWEST if own is None else TokenOrigin.TOKENIZER
    return OutputTokens(tuple(ids), pieces, ("",) * len(ids), origin)


def tokenizer_ids(data: bytes, vocabulary: Vocabulary, encode: TextEncoder | None) -> tuple[int, ...] | None:
    """Return the tokenizer's encoding of some bytes; None if it is unknown or encodes something else.

    Args:
        data: the bytes.
        vocabulary: the vocabulary.
        encode: the tokenizer; None if it is unknown.
    """
    return None if encode is None else encode_exactly(data, vocabulary, encode)


def divergence(tokens: OutputTokens, own: Sequence[int], vocabulary: Vocabulary) -> Divergence | None:
    """Return the first token that the tokenizer would not have written; None if all are its own.

    Args:
        tokens: the tokens of the output.
        own: the tokenizer's encoding.
        vocabulary: the vocabulary.
    """
    mine = tokens.ids[: tokens.text_count]
    for index in range(max(len(mine), len(own))):
        ours = mine[index] if index < len(mine) else None
        theirs = own[index] if index < len(own) else None
        if ours != theirs:
            given = tokens.pieces[index] if index < len(mine) else b""
            written = b"" if theirs is None else vocabulary.token_bytes(theirs) or b""
            return Divergence(index, tokens.starts[min(index, len(tokens.pieces))], given, written)
    return None
