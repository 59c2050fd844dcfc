"""Exports, shared by the compile group and the decode group.

A file is made, checked and written here: it can take megabytes, of which the window shows the beginning. A picture is
previewed at a bounded size, independent of the pixel size of the file.

The groups import this module with the first request: importing all targets takes a tenth of the time in which they
start.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.catalogue import ui_text
from app.workers.protocol import sentence
from app.workers.requests.export import (
    ExportAnswer,
    ExportEntry,
    ExportList,
    ExportOptionsMessage,
    ExportRequest,
    ListExports,
    PreviewFile,
)
from engine.export import close_objects, open_objects
from engine.export.schema.settings import NumberSpelling
from engine.export.target import ExportJob, ExportOptions, MismatchError, ServerReport, TargetGroup
from engine.export.writing import export as write
from engine.export.writing import fits, make, preview_picture
from engine.source import CancelledError, CancelToken, EngineError, GrammarError
from engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    from engine.compile import CompiledGrammar
    from engine.export.target import Artifact, Forecast

PREVIEW_LENGTH = 12_000  # characters of a file
_PICTURES = ("svg", "png")


def export(
    request: ExportRequest, compiled: CompiledGrammar, vocabulary: Vocabulary | None, cancel: CancelToken
) -> ExportAnswer:
    """Preview an export, or write it to the requested path.

    Args:
        request: the target, the path and the options.
        compiled: the grammar.
        vocabulary: the vocabulary of the loaded model; None without one.
        cancel: checked regularly.
    """
    job = _job(compiled, vocabulary, request.options, cancel)
    answer = ExportAnswer(request.target, request.path, request.number)
    try:
        if not request.path:
            return _previewed(request, job)
        written = write(request.target, job, Path(request.path))
    except CancelledError:
        raise
    except MismatchError as error:
        return _failed(answer, ui_text("workers.export.mismatch", reason=sentence(error)))
    except GrammarError as error:
        found = error.diagnostics[0]
        return _failed(answer, f"{found.message}. {found.hint}".rstrip(". ") + ".")
    except EngineError as error:
        return _failed(answer, sentence(error))
    files = tuple(PreviewFile(path, size, "") for path, size in written.files)
    return ExportAnswer(
        request.target, request.path, request.number, files, notes=written.notes, checked=written.check.sentence
    )


def list_exports(request: ListExports, compiled: CompiledGrammar, cancel: CancelToken) -> ExportList:
    """List the targets that fit; whether the model's vocabulary fits is checked by the decode group.

    Args:
        request: the options, and whether a model is loaded.
        compiled: the grammar.
        cancel: checked regularly.
    """
    any_vocabulary = Vocabulary([b"a", b"</s>"], [1]) if request.has_model else None
    found = fits(_job(compiled, any_vocabulary, request.options, cancel))
    return ExportList(
        tuple(
            ExportEntry(
                name=fit.target.name,
                title=fit.target.title,
                about=fit.target.about,
                group=fit.target.group.heading,
                suffix=fit.target.suffix,
                is_folder=fit.target.is_folder,
                supported_options=tuple(sorted(fit.target.supported_options(compiled))),
                needs_model=fit.target.group is TargetGroup.ELSEWHERE,
                refusal=fit.refusal.replace(close_objects(), open_objects()),  # the dialog has a button for it
                can_close=close_objects() in fit.refusal,
            )
            for fit in found
        )
    )


def _job(
    compiled: CompiledGrammar, vocabulary: Vocabulary | None, message: ExportOptionsMessage, cancel: CancelToken
) -> ExportJob:
    report = msgspec.json.decode(message.server_report, type=ServerReport) if message.server_report else None
    options = ExportOptions(NumberSpelling(message.spelling), message.depth, message.name, message.model, report)
    return ExportJob(compiled, vocabulary, options, cancel)


class _TooLargeToPreviewError(Exception):
    """An export takes too long for a preview."""

    def __init__(self, forecast: Forecast) -> None:
        super().__init__(forecast.sentence)
        self.forecast = forecast


def _previewed(request: ExportRequest, job: ExportJob) -> ExportAnswer:
    def stop_if_large(forecast: Forecast) -> None:
        if forecast.is_large or forecast.count > forecast.limit:
            raise _TooLargeToPreviewError(forecast)

    job = replace(job, on_forecast=stop_if_large)
    if request.target in _PICTURES:
        picture, notes = preview_picture(request.target, job)
        return ExportAnswer(request.target, "", request.number, picture=picture, notes=notes)
    try:
        artifact = make(request.target, job)
    except _TooLargeToPreviewError as large:
        forecast = large.forecast
        return ExportAnswer(request.target, "", request.number, estimate=forecast.sentence, is_large=forecast.is_large)
    files = _files(artifact)
    return ExportAnswer(request.target, "", request.number, files, notes=artifact.notes, is_large=artifact.is_large)


def _files(artifact: Artifact) -> tuple[PreviewFile, ...]:
    return tuple(PreviewFile(path, len(content), _beginning(content)) for path, content in artifact.files)


def _beginning(content: bytes) -> str:
    """Return the beginning of a text; empty for binary content."""
    beginning = content[: PREVIEW_LENGTH * 4]
    if b"\0" in beginning:
        return ""
    try:
        text = beginning.decode()
    except UnicodeDecodeError as error:
        if error.start < len(beginning) - 4:  # otherwise the cut went through a character
            return ""
        text = beginning[: error.start].decode()
    return text[:PREVIEW_LENGTH]


def _failed(answer: ExportAnswer, error: str) -> ExportAnswer:
    return ExportAnswer(answer.target, answer.path, answer.number, error=error)
