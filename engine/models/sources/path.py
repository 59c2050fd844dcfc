"""The weights in a transformers folder or a GGUF file."""

from __future__ import annotations

from pathlib import Path

from engine.models.checkpoint import library_errors, load_checkpoint
from engine.models.libraries import libraries
from engine.models.source import LogitSource, ModelError, ModelInfo
from engine.models.transformer import TransformerSource
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.vocabulary import VocabularyError


def load_path(name: str, path: Path, cancel: CancelToken) -> LogitSource:
    """Load the model of a folder or a file.

    Args:
        name: the name of the source.
        path: the folder or the file.
        cancel: as in `load_model`.
    """
    checkpoint = load_checkpoint(path, cancel)
    cancel.report(catalogue_text("sources.stage.vocabulary"), 0)
    try:
        with library_errors(path):
            source = TransformerSource(name, checkpoint, *libraries(cancel))
    except VocabularyError as error:
        raise ModelError("errors.models.tokenizer", name=name, reason=str(error)) from error
    cancel.check()
    return source


class _Paths:
    @property
    def forms(self) -> str:
        return catalogue_text("sources.forms.path")

    def known_models(self) -> tuple[ModelInfo, ...]:
        return ()

    def recognises(self, spec: str) -> bool:
        return bool(spec) and Path(spec).expanduser().exists()

    def load(self, spec: str, cancel: CancelToken) -> LogitSource:
        path = Path(spec).expanduser()
        return load_path(path.stem if path.is_file() else path.resolve().name, path, cancel)

    def files(self, spec: str) -> Path | None:
        path = Path(spec).expanduser()
        return path if path.is_dir() else None  # no reader of tokenizers reads GGUF files


SOURCE = _Paths()
