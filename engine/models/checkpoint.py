"""Loading of a model and its tokenizer from a folder or a GGUF file, with a clear message for every failure.

Only safetensors and GGUF are supported: loading a pickle can run arbitrary code, and so can
Python files in a model folder, which are never run.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.models.headers import check_folder, check_gguf
from engine.models.libraries import libraries
from engine.models.source import ModelError, is_panic
from engine.source import CancelledError, CancelToken, EngineError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import VocabularyError
from engine.vocabulary.readers import check_tokenizer_folder

_FULL_PRECISION_BYTES = 4 << 30  # models with files up to this size run in float32, which is fast on every CPU
_MAX_FULLY_HASHED = 16 << 20
_HASHED_END_BYTES = 1 << 20
# numpy's messages about tensors that are shorter than in the header.
_TRUNCATION_MESSAGES = ("cannot reshape array", "must be a divisor of the total size")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A loaded transformers model in evaluation mode, its tokenizer, and a hash of its files."""

    model: Any
    tokenizer: Any
    fingerprint: str


def load_checkpoint(path: Path, cancel: CancelToken) -> Checkpoint:
    """Load a transformers folder or a GGUF file.

    Raises:
        ModelError: it is neither, damaged, not supported, or too large for the memory.
        CancelledError: the work was cancelled.
    """
    files = _gguf_files(path) if path.is_file() else _folder_files(path)
    size = sum(file.stat().st_size for file in files)
    if path.is_file():
        check_gguf(path)
    else:
        check_folder(path, files)
        _check_tokenizer(path)
    _check_memory(path, size)
    torch, transformers = libraries(cancel)
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    folder = path
    if path.is_file():
        folder = path.parent
        # Absolute: a file of this name in the working directory would be read instead.
        options["gguf_file"] = str(path.absolute())
    with library_errors(path):
        cancel.report(catalogue_text("sources.stage.tokenizer"), 0)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        reading = catalogue_text("sources.stage.weights")
        cancel.report(reading, 0, size)
        if path.is_dir():
            options["use_safetensors"] = True
        dtype = torch.float32 if size <= _FULL_PRECISION_BYTES else "auto"
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **options).eval()
        cancel.report(reading, size, size)
    return Checkpoint(model, tokenizer, _fingerprint(files))


def _folder_files(folder: Path) -> list[Path]:
    if not folder.exists():
        raise ModelError("errors.models.missing", folder=folder)
    if not (folder / "config.json").is_file():
        raise ModelError("errors.models.no_config", folder=folder)
    weights = sorted(folder.glob("*.safetensors"))
    if weights:
        return [folder / "config.json", *weights]
    if any(folder.glob("*.bin")) or any(folder.glob("*.pt")):
        raise ModelError("errors.models.pickle", folder=folder)
    raise ModelError("errors.models.no_safetensors", folder=folder)


def _check_tokenizer(folder: Path) -> None:
    try:
        check_tokenizer_folder(folder)
    except VocabularyError as error:
        raise ModelError.of(error) from error


def _gguf_files(path: Path) -> list[Path]:
    with path.open("rb") as file:
        magic = file.read(4)
    if magic != b"GGUF":
        raise ModelError("errors.models.not_gguf", path=path)
    return [path]


def _check_memory(path: Path, size: int) -> None:
    """Raise an error if the memory is too small, because Linux overcommits and would kill the process later."""
    available = available_memory()
    needed = size * _memory_factor(path, size)
    if available is not None and needed > available:
        raise ModelError(
            "errors.models.too_large", name=path.name, needed=needed / 1000000000.0, available=available / 1000000000.0
        )


def _memory_factor(path: Path, size: int) -> int:
    """Return the factor by which weights grow in memory: from mostly 16 bits (8 in a GGUF file) to 32 bits."""
    if size > _FULL_PRECISION_BYTES:
        return 2 if path.is_file() else 1
    return 4 if path.is_file() else 2


def available_memory() -> int | None:
    """Return the available memory in bytes; None if it is not known."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


@contextmanager
def library_errors(path: Path) -> Iterator[None]:
    """Convert exceptions of a library about a file to `ModelError`, with the original as their cause."""
    try:
        yield
    except (CancelledError, EngineError):
        raise
    except MemoryError as error:
        raise _memory_error(path) from error
    except Exception as error:
        raise _model_error(path, error) from error
    except BaseException as error:
        if not is_panic(error):
            raise
        raise _model_error(path, error) from error


def _model_error(path: Path, error: BaseException) -> ModelError:
    kind, text = type(error).__name__, " ".join(str(error).split())
    if "allocate memory" in text or "not enough memory" in text:
        return _memory_error(path)
    if kind == "SafetensorError" or "safetensors" in kind.lower():
        return ModelError("errors.models.damaged_weights", path=path, reason=text)
    if "trust_remote_code" in text:
        return ModelError("errors.models.remote_code", path=path)
    if "does not recognize this architecture" in text or "Unrecognized configuration class" in text:
        return ModelError("errors.models.architecture", path=path)
    if path.is_file() and _is_truncated(error):
        return ModelError("errors.models.cut_short", path=path)
    if "GGUF" in text and "not supported" in text:
        return ModelError("errors.models.gguf_kind", reason=text)
    return ModelError("errors.models.not_loadable", path=path, reason=_shorten(text) or kind)


def _is_truncated(error: BaseException) -> bool:
    """Return whether a GGUF reader reached the end of the file, whose size it does not check."""
    text = str(error)
    return isinstance(error, struct.error) or any(sign in text for sign in _TRUNCATION_MESSAGES)


def _memory_error(path: Path) -> ModelError:
    return ModelError("errors.models.no_memory", name=path.name)


def _shorten(text: str) -> str:
    return text if len(text) <= 240 else text[:240] + "…"


def _fingerprint(files: list[Path]) -> str:
    """Return a hash of suffixes, sizes and contents; of large files only both ends, which change with any training."""
    digest = hashlib.sha256(b"turnstile-model-1\0")
    for path in files:
        size = path.stat().st_size
        digest.update(f"{path.suffix}:{size}\0".encode())
        with path.open("rb") as file:
            if size <= _MAX_FULLY_HASHED:
                digest.update(file.read())
            else:
                digest.update(file.read(_HASHED_END_BYTES))
                file.seek(-_HASHED_END_BYTES, os.SEEK_END)
                digest.update(file.read())
    return digest.hexdigest()
