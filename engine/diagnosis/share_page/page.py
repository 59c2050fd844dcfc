"""A self-contained HTML page: style, script and data are embedded, and nothing is loaded or sent.

The texts of the page are in the catalogue (`share.page`): those of `page.html` replace placeholders such as
`@page.grammar@`, those of the script are part of the data. The data is a JSON block in which everything that could end
the block, or a line of a script, is escaped; the script inserts it as text, never as markup. The page's content
security policy (CSP) permits only that script, by its hash, so opening a stranger's file is safe.

Rejected: a static page for all steps, without a script. Ten steps are ten tables; a thousand make a file that no
browser opens.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import html
import json
import os
import re
import secrets
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from engine.source import EngineError
from engine.source.catalogue import catalogue_text

_PLACEHOLDER: Final = re.compile(r"@(?:([A-Z]+)|page\.([a-z_]+))@")
_ESCAPED: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def page(document: dict[str, Any]) -> str:
    """Build the page.

    Args:
        document: the result of `build_page_data`.
    """
    style, script = _resource("page.css"), _resource("page.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    values = {
        "POLICY": policy,
        "GENERATOR": html.escape(document["generator"]),
        "TITLE": html.escape(document["title"]),
        "STYLE": style,
        "DATA": json.dumps(document, ensure_ascii=False, allow_nan=False).translate(_ESCAPED),
        "SCRIPT": script,
    }

    def value(found: re.Match[str]) -> str:
        return values[found[1]] if found[1] else html.escape(catalogue_text(f"share.page.{found[2]}"))

    return _PLACEHOLDER.sub(value, _resource("page.html"))


def write_page(path: Path, text: str) -> int:
    """Write a page as `write_whole` writes bytes."""
    return write_whole(path, text.encode("utf-8", "replace"))  # replaces lone surrogates, which have no UTF-8


def write_whole(path: Path, content: bytes) -> int:
    """Write a file and return its size in bytes; a failure keeps the existing file.

    Raises:
        EngineError: it cannot be written, or was not read back as written.
    """
    if path.is_symlink():
        path = path.resolve()  # replace the link's target, not the link
    if path.is_dir():
        raise EngineError("errors.diagnosis.page.folder", path=path)
    if _is_special(path):
        raise EngineError("errors.diagnosis.page.device", path=path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if beside.read_bytes() != content:
            raise EngineError("errors.diagnosis.page.differs", path=path)
        beside.replace(path)
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise EngineError("errors.diagnosis.page.unwritable", path=path, reason=reason) from error
    finally:
        with contextlib.suppress(OSError, ValueError):
            beside.unlink(missing_ok=True)
    return len(content)


def _is_special(path: Path) -> bool:
    """Return whether the path is something that a file must not replace, such as /dev/null."""
    try:
        return path.exists() and not path.is_file()
    except (OSError, ValueError):
        return False  # writing fails too, and reports the reason


def _resource(name: str) -> str:
    # The hash needs line feeds: a browser reads every line end as a line feed.
    return files("resources").joinpath("share", name).read_text("utf-8").replace("\r\n", "\n")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
