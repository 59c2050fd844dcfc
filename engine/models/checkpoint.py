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
        options["gguf_file"] = path.name
    with library_errors(path):
        cancel.report("reading the tokenizer", 0)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        cancel.report("reading the weights", 0, size)
        if path.is_dir():
            options["use_safetensors"] = True
        dtype = torch.float32 if size <= _FULL_PRECISION_BYTES else "auto"
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **options).eval()
        cancel.report("reading the weights", size, size)
    return Checkpoint(model, tokenizer, _fingerprint(files))


def _folder_files(folder: Path) -> list[Path]:
    if not folder.exists():
        raise ModelError(f"there is no model at {folder}; give a transformers folder, a .gguf file or a Hub id")
    if not (folder / "config.json").is_file():
        raise ModelError(f"{folder} has no config.json, so it is no transformers folder; give the folder that has it")
    weights = sorted(folder.glob("*.safetensors"))
    if weights:
        return [folder / "config.json", *weights]
    if any(folder.glob("*.bin")) or any(folder.glob("*.pt")):
        raise ModelError(
            f"{folder} has its weights only as a pickle (.bin), which can run code as it loads; "
            "convert it to safetensors (save_pretrained does) and load that"
        )
    raise ModelError(f"{folder} has no .safetensors file; download the weights too")


def _check_tokenizer(folder: Path) -> None:
    try:
        check_tokenizer_folder(folder)
    except VocabularyError as error:
        raise ModelError(str(error)) from error


def _gguf_files(path: Path) -> list[Path]:
    with path.open("rb") as file:
        magic = file.read(4)
    if magic != b"GGUF":
        raise ModelError(
            f"{path} is not a GGUF file; give a .gguf file, or the folder that a transformers model was saved in"
        )
    return [path]


def _check_memory(path: Path, size: int) -> None:
    """Raise an error if the memory is too small, because Linux overcommits and would kill the process later."""
    available = available_memory()
    needed = size * _memory_factor(path, size)
    if available is not None and needed > available:
        raise ModelError(
            f"{path.name} needs about {needed / 1e9:.1f} GB of memory and {available / 1e9:.1f} GB are free; "
            "close something, or choose a smaller model"
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
        return ModelError(f"the weights of {path} are damaged or incomplete ({text}); download them again")
    if "trust_remote_code" in text:
        return ModelError(f"{path} needs Python code of its own, which Turnstile does not run; choose another model")
    if "does not recognize this architecture" in text or "Unrecognized configuration class" in text:
        return ModelError(f"transformers does not know the architecture of {path}; update it, or choose another model")
    if path.is_file() and _is_truncated(error):
        return ModelError(f"{path} is damaged, or cut short; download it again")
    if "GGUF" in text and "not supported" in text:
        return ModelError(f"transformers cannot read this kind of GGUF file ({text}); choose another model")
    return ModelError(f"{path} cannot be loaded ({_shorten(text) or kind}); check that it is a complete language model")


def _is_truncated(error: BaseException) -> bool:
    """Return whether a GGUF reader reached the end of the file, whose size it does not check."""
    text = str(error)
    return isinstance(error, struct.error) or any(sign in text for sign in _TRUNCATION_MESSAGES)


def _memory_error(path: Path) -> ModelError:
    return ModelError(f"there is not enough memory for {path.name}; close something, or choose a smaller model")


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
