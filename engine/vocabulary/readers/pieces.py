"""Reader of sentencepiece models: typed pieces, in which ▁ (U+2581) stands for a space."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.token_table import TokenTable
from engine.vocabulary.readers.tokenizer_json import byte_fallback

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor


def read_model(path: Path) -> TokenTable:
    """Read a sentencepiece model file.

    Raises:
        VocabularyError: the file is not such a model, or sentencepiece is not installed.
    """
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise VocabularyError("errors.vocabulary.needs_sentencepiece", file=path.name) from error
    try:
        processor = SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError, ValueError) as error:
        raise VocabularyError("errors.vocabulary.unknown_file", file=str(path)) from error
    return read_processor(processor)


def read_processor(processor: SentencePieceProcessor) -> TokenTable:
    """Read a loaded sentencepiece model.

    Raises:
        VocabularyError: a piece is not valid UTF-8.
    """
    try:
        pieces = {index: processor.IdToPiece(index) for index in range(processor.GetPieceSize())}
    except UnicodeDecodeError as error:
        raise VocabularyError("errors.vocabulary.piece_not_utf8") from error
    table = read_pieces(pieces, processor)
    return table.with_eos_ids({processor.eos_id()} - {-1}).with_common_eos_ids()


def read_pieces(pieces: Mapping[int, str], processor: SentencePieceProcessor) -> TokenTable:
    """Return the table of pieces, whose ids may differ from those of the model that has their types."""
    texts: dict[int, bytes] = {}
    special: dict[int, str] = {}
    for index, piece in pieces.items():
        inner = processor.PieceToId(piece)
        if processor.IsControl(inner) or processor.IsUnknown(inner):
            special[index] = piece
        elif processor.IsByte(inner):
            texts[index] = byte_fallback(piece) or b""
        else:
            texts[index] = piece.replace("▁", " ").encode()
    return TokenTable(texts, special)
