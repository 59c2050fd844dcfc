"""A bug bundle: a zip with all that reproduces a trace, without secrets and paths.

It has the grammar and, if a check was given, its smallest part that still fails; the prompt; the token ids; the page
that replays the trace; and a manifest with versions, fingerprints, seed and what was left out, and why. The files have
a fixed time, so that equal work makes equal bundles.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import msgspec

from engine.compile import CompiledGrammar
from engine.diagnosis.intake.secrets import remove_secrets
from engine.diagnosis.private_texts import with_texts, without_secrets
from engine.diagnosis.reduce.reduction import reduce_text
from engine.diagnosis.share_page.page import page, write_whole
from engine.diagnosis.share_page.page_data import build_page_data
from engine.document.content import DocumentFile
from engine.notations import NOTATIONS
from engine.notations.json_schema.json_tree import JsonTextError
from engine.source import CancelToken, EngineError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

_PACKAGES: Final = ("token-turnstile", "torch", "transformers", "tokenizers", "llama-cpp-python", "numpy", "numba")
_TIME: Final = (1980, 1, 1, 0, 0, 0)
_USERS: Final = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})[^/\\\s\"'<>:]+")
_HOME: Final = "~"


@dataclass
class BundleParts:
    """The files of a bundle, and why others were left out.

    Attributes:
        files: the contents by name, without the manifest.
        left_out: the reasons by name.
        removed_secrets: the number of secrets that were removed.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    removed_secrets: int = 0


def without_paths(text: str) -> str:
    """Return a text in which the folders of users are `~`."""
    home = str(Path.home())
    text = text.replace(home, _HOME) if len(home) > 1 else text
    return _USERS.sub(_HOME, text)


def bundle_parts(
    work: DocumentFile,
    language: CompiledGrammar | None,
    vocabulary: Vocabulary | None,
    *,
    check: Callable[[str], bool] | None = None,
    server_report: str = "",
    cancel: CancelToken | None = None,
) -> BundleParts:
    """Return the files of a bundle.

    Args:
        work: the document.
        language: what the complete output must match; None if unknown.
        vocabulary: the vocabulary of the trace; None if it is not available.
        check: whether a grammar still fails; None without one, and then there is no reduced grammar.
        server_report: what a check of a server found (`turnstile probe --json`); empty without one.
        cancel: receives progress.

    Raises:
        CancelledError: `cancel` was used.
    """
    parts = BundleParts()
    clean, parts.removed_secrets = without_secrets(work)
    clean = with_texts(clean, without_paths)
    model = clean.model
    clean = msgspec.structs.replace(
        clean,
        archived=(),
        model=msgspec.structs.replace(model, spec=_name_of(model.spec), name=_name_of(model.name)),
    )
    suffix = (NOTATIONS[clean.grammar.notation].suffixes or (".txt",))[0]
    parts.files[f"grammar{suffix}"] = _bytes(clean.grammar.text)
    _add_reduced(parts, clean, f"reduced{suffix}", check, cancel)
    prompt = msgspec.to_builtins(clean.prompt)
    parts.files["prompt.json"] = _json({"prompt": prompt})
    _add_trace(parts, clean, language, vocabulary, cancel)
    if server_report:
        report, removed = remove_secrets(without_paths(server_report))
        parts.files["server.json"] = _bytes(report)
        parts.removed_secrets += removed
    parts.files["manifest.json"] = _json(_manifest(parts, clean))
    return parts


def write_bundle(path: Path, parts: BundleParts) -> int:
    """Write a bundle and return its size in bytes; a failure keeps the existing file.

    Raises:
        EngineError: it cannot be written, or was not read back as written.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(parts.files.items()):
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)
    return write_whole(path, data.getvalue())


def _add_reduced(
    parts: BundleParts,
    work: DocumentFile,
    name: str,
    check: Callable[[str], bool] | None,
    cancel: CancelToken | None,
) -> None:
    if check is None:
        parts.left_out[name] = catalogue_text("share.bundle.no_check")
        return
    try:
        found = reduce_text(
            work.grammar.text, work.grammar.notation, check, options=work.grammar.options, cancel=cancel
        )
    except JsonTextError as error:
        parts.left_out[name] = error.diagnostic.message
    except EngineError as error:
        if cancel is not None and cancel.is_cancelled:
            raise
        parts.left_out[name] = str(error)
    else:
        parts.files[name] = _bytes(found.text)


def _add_trace(
    parts: BundleParts,
    work: DocumentFile,
    language: CompiledGrammar | None,
    vocabulary: Vocabulary | None,
    cancel: CancelToken | None,
) -> None:
    """Add the token ids and the page; not if the output has a secret or a path, which the tokens spell."""
    trace = work.trace
    steps_by_id = {node.id: node.step for node in trace.nodes}
    steps = [steps_by_id[node_id] for node_id in trace.path]
    outputs = b"".join(node.step.token or b"" for node in trace.nodes).decode("utf-8", "replace")
    path = b"".join(step.token or b"" for step in steps).decode("utf-8", "replace")
    if any(remove_secrets(text)[1] or without_paths(text) != text for text in (outputs, path)):
        for name in ("ids.json", "replay.html"):
            parts.left_out[name] = catalogue_text("share.bundle.private_output")
        return
    parts.files["ids.json"] = _json({"ids": [step.token_id for step in steps]})
    try:
        document = build_page_data(work, language, vocabulary, cancel)
    except EngineError as error:
        if cancel is not None and cancel.is_cancelled:
            raise
        parts.left_out["replay.html"] = str(error)
    else:
        parts.files["replay.html"] = _bytes(page(document))


def _manifest(parts: BundleParts, work: DocumentFile) -> dict[str, Any]:
    grammar, model = work.grammar, work.model
    return {
        "format": "turnstile-bundle",
        "version": 1,
        "title": work.title,
        "versions": {"python": platform.python_version(), **_versions()},
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "notation": grammar.notation,
        "options": {
            "dialect": grammar.dialect,
            "whitespace": grammar.whitespace,
            "escapes": grammar.escapes,
            "additional": grammar.additional,
        },
        "model": msgspec.to_builtins(model),
        "sampler": msgspec.to_builtins(work.sampler),
        "seed": work.sampler.seed,
        "max_tokens": work.max_tokens,
        "removed_secrets": parts.removed_secrets,
        "left_out": parts.left_out,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(parts.files.items())},
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _name_of(spec: str) -> str:
    """Return the name of a model; of a path, its last part."""
    spec = remove_secrets(spec)[0]  # an address may have a password
    is_path = "\\" in spec or spec.startswith(("/", "~", ".")) or spec.count("/") > 1
    return re.split(r"[/\\]", spec.rstrip("/\\"))[-1] if is_path else spec


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _json(value: object) -> bytes:
    return _bytes(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
