"""Sharing a trace as a web page, in the decode group, which has the model and the grammar.

The worker's own trace is shared with the tokens of its model and with its zones. A trace that still waits in the
document for its model is shared by its texts alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.workers.exporting import sentence
from engine.document.content import DocumentFile, GrammarPart
from engine.source import CancelledError, CancelToken, EngineError

if TYPE_CHECKING:
    from engine.compile import CompiledGrammar
    from engine.decoding.session import DecodeSession


@dataclass(frozen=True, slots=True)
class ShareTrace:
    """Write a trace as a page.

    Attributes:
        path: the file.
        work: the shared parts of the document; without its trace if the worker's own is shared.
        is_own: whether the worker's own trace is shared.
    """

    path: str
    work: DocumentFile
    is_own: bool


@dataclass(frozen=True, slots=True)
class ShareAnswer:
    """What was written, or one sentence that says why nothing was.

    Attributes:
        path: the file.
        size: in bytes.
        steps: the number of steps of all branches.
    """

    path: str
    size: int = 0
    steps: int = 0
    error: str = ""


def share(
    request: ShareTrace, session: DecodeSession | None, grammar: CompiledGrammar | None, cancel: CancelToken
) -> ShareAnswer:
    """Write the page.

    Args:
        request: the path and the shared work.
        session: the decode session; None without a model.
        grammar: the last grammar that compiled.
        cancel: checked regularly.
    """
    from engine.diagnosis.share_page.page import page, write_page
    from engine.diagnosis.share_page.page_data import build_page_data

    work, language, vocabulary = request.work, grammar, None
    if request.is_own and session is not None:
        work = msgspec.structs.replace(work, trace=session.trace)
        language, vocabulary = session.language, session.model.vocabulary
    elif work.pipeline.zones is not None:
        language = None
    if grammar is not None:  # the last one that compiled is the one of the trace
        work = msgspec.structs.replace(work, grammar=GrammarPart.of(grammar))
    try:
        document = build_page_data(work, language, vocabulary, cancel)
        size = write_page(Path(request.path), page(document))
    except CancelledError:
        raise
    except EngineError as error:
        return ShareAnswer(request.path, error=f"Nothing was shared. {sentence(error)}.")
    return ShareAnswer(request.path, size, len(document["steps"]))
