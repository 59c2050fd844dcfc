"""The request that shares a document as a web page."""

from __future__ import annotations

import msgspec

from app.document import Document
from app.workers.sharing import ShareTrace
from engine.decoding.values import Trace


def share_request(path: str, document: Document, *, is_own: bool) -> ShareTrace:
    """Return the request that writes a document's work as a page.

    Args:
        path: the file.
        document: the document to share.
        is_own: whether the worker holds the document's trace, which is then not sent again.
    """
    content = document.content
    work = msgspec.structs.replace(content, title=document.title, trace=Trace() if is_own else content.trace)
    return ShareTrace(path, work, is_own)
