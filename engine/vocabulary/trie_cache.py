"""A cache of tries on disk: building a trie takes three times as long as reading it.

The name of a file is a digest of the tokens, and the file begins with a checksum of
its contents, since a walk does not check the arrays of a trie. If a file or the
folder cannot be used, the trie is built.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.vocabulary.trie import Trie, build_trie

_log = logging.getLogger(__name__)
_FORMAT = b"turnstile-trie-1"
_MIN_TOKENS = 10_000  # building a smaller trie is faster than reading a file
_MAX_FILES = 16
_ARRAYS = (
    ("byte", np.uint8),
    ("depth", np.int32),
    ("skip", np.int32),
    ("token_start", np.int32),
    ("token_ids", np.int32),
    ("top", np.int32),
)


def cached_trie(tokens: Sequence[bytes | None]) -> Trie:
    """Return the trie of all tokens that have bytes, from the cache or built and added to it."""
    folder = _folder() if len(tokens) >= _MIN_TOKENS else None
    if folder is None:
        return build_trie(tokens)
    path = folder / _file_name(tokens)
    try:
        return _read(path.read_bytes(), len(tokens))
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        _log.warning("the vocabulary's cache %s is not used: %s", path, error)
    trie = build_trie(tokens)
    try:
        _write(path, trie)
    except OSError as error:
        _log.info("the vocabulary is not cached in %s: %s", folder, error)
    return trie


def _folder() -> Path | None:
    import platformdirs

    folder = platformdirs.user_cache_path("turnstile", appauthor=False) / "vocabularies"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        _log.info("vocabularies are not cached: %s", error)
        return None
    return folder


def _file_name(tokens: Sequence[bytes | None]) -> str:
    """Return a digest of the tokens; it includes the lengths, so that tokens with the same concatenation differ."""
    texts = [token or b"" for token in tokens]
    digest = hashlib.blake2b(_FORMAT, digest_size=20)
    digest.update(np.fromiter(map(len, texts), np.int64, len(texts)).tobytes())
    digest.update(b"".join(texts))
    return digest.hexdigest()


def _read(data: bytes, size: int) -> Trie:
    """Read a trie from the contents of a file.

    Raises:
        ValueError: the file is damaged.
    """
    head, body = data[: len(_FORMAT) + 4], memoryview(data)[len(_FORMAT) + 4 :]
    if head != _FORMAT + zlib.crc32(body).to_bytes(4, "little"):
        raise ValueError("it is damaged")
    lengths = np.frombuffer(body[: 8 * (len(_ARRAYS) + 1)], np.int64).tolist()
    start, arrays = 8 * len(lengths), {}
    for (name, dtype), length in zip(_ARRAYS, lengths[1:], strict=True):
        end = start + length * np.dtype(dtype).itemsize
        arrays[name] = np.frombuffer(body[start:end], dtype).copy()
        arrays[name].setflags(write=False)
        start = end
    return Trie(**arrays, height=lengths[0], size=size)


def _write(path: Path, trie: Trie) -> None:
    arrays: list[npt.NDArray[np.uint8] | npt.NDArray[np.int32]] = [getattr(trie, name) for name, _ in _ARRAYS]
    lengths = np.array([trie.height, *map(len, arrays)], np.int64)
    body = b"".join((lengths.tobytes(), *(array.tobytes() for array in arrays)))
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_FORMAT + zlib.crc32(body).to_bytes(4, "little") + body)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    for old in sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime)[:-_MAX_FILES]:
        old.unlink(missing_ok=True)
