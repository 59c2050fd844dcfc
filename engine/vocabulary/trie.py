"""The byte trie of a vocabulary's tokens, stored depth first in flat arrays.

Tokens with a common prefix share the steps through it. In depth-first order a
subtree is a range of nodes, so a walk that fails at a node jumps to `skip[node]`
without following pointers.

The build sorts the distinct tokens and computes the longest common prefix of each
adjacent pair; the order and the shape of the trie follow from these. Every pass is
one numpy expression per byte of depth, over the tokens of at least that length.

Rejected: a trie of dicts (it takes seconds for 131,072 tokens, and kernels cannot
read it), and numpy's byte strings, which drop trailing NUL bytes.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

_log = logging.getLogger(__name__)
_FORMAT = b"turnstile-trie-1"
_MIN_TOKENS = 10_000  # building a smaller trie is faster than reading a file
MAX_FILES = 16
_ARRAYS = (
    ("byte", np.uint8),
    ("depth", np.int32),
    ("skip", np.int32),
    ("token_start", np.int32),
    ("token_ids", np.int32),
    ("top", np.int32),
)


S = TypeVar("S")

Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Trie:
    """A byte trie with N nodes (the root is not one of them) over T token ids.

    Attributes:
        byte: uint8[N], the byte on the edge into the node.
        depth: int32[N], the length of the node's prefix, from 1.
        skip: int32[N], the first node after the node's subtree.
        token_start: int32[N + 1]; a node's tokens are `token_ids[token_start[n] : token_start[n + 1]]`.
        token_ids: int32[T], ids in the order of their bytes; ids that share bytes are neighbours.
        top: int32[256], the node of each one-byte prefix; -1 if no token begins with that byte.
        height: the length of the longest token, in bytes.
        size: the number of ids of the vocabulary, those without bytes included.
    """

    byte: Bytes
    depth: Ints
    skip: Ints
    token_start: Ints
    token_ids: Ints
    top: Ints
    height: int
    size: int

    @property
    def arrays(self) -> tuple[Bytes, Ints, Ints, Ints, Ints]:
        """Return the arrays that a walk reads: byte, depth, skip, token_start and token_ids."""
        return self.byte, self.depth, self.skip, self.token_start, self.token_ids

    def below(self, nodes: Ints) -> Trie:
        """Return the trie of the tokens that end at or below some nodes, none of which is below another.

        Args:
            nodes: int32[n].
        """
        ends = np.zeros(len(self.byte) + 1, np.int32)
        ends[nodes] += 1
        np.subtract.at(ends, self.skip[nodes], 1)
        inside = np.cumsum(ends[:-1]) > 0
        before = np.concatenate(([0], np.cumsum(ends[:-1] > 0)))  # for each node: how many of `nodes` precede it
        kept = inside | (before[self.skip] > before[np.arange(len(self.byte)) + 1])
        index = np.concatenate(([0], np.cumsum(kept))).astype(np.int32)
        counts = np.diff(self.token_start) * inside
        top = np.full(256, -1, np.int32)
        first = np.flatnonzero(kept & (self.depth == 1))
        top[self.byte[first]] = index[first]
        arrays = (
            self.byte[kept],
            self.depth[kept],
            index[self.skip[kept]],
            np.concatenate(([0], np.cumsum(counts[kept]))).astype(np.int32),
            self.token_ids[np.repeat(inside, np.diff(self.token_start))],
            top,
        )
        for array in arrays:
            array.setflags(write=False)
        return Trie(*arrays, height=self.height, size=self.size)

    def prefix(self, node: int) -> bytes:
        """Return the bytes from the root to a node."""
        path = bytearray()
        at = 0
        while True:  # at each depth, skip the siblings whose subtrees end before the node
            while self.skip[at] <= node:
                at = int(self.skip[at])
            path.append(int(self.byte[at]))
            if at == node:
                return bytes(path)
            at += 1

    def walk(self, start: S, step: Callable[[S, int], S | None], root: int | None = None) -> Iterator[tuple[int, S]]:
        """Walk the trie depth first; yield each node that can be read, with the state after it.

        This is the one walk in Python; the kernels and `engine.analysis.token_graph` repeat it for speed.

        Args:
            start: the state before the first node.
            step: returns the state after a node, given the state before it; None to skip the node and all below it.
            root: the node whose subtree is walked; None for the whole trie.
        """
        depth, skip = self.depth.data, self.skip.data  # indexing a memory view is faster than indexing an array
        node, end, top = (0, len(depth), 1) if root is None else (root, skip[root], depth[root])
        path = [start] * (self.height + 2 - top)
        while node < end:
            level = depth[node] - top
            after = step(path[level], node)
            if after is None:
                node = skip[node]
                continue
            path[level + 1] = after
            yield node, after
            node += 1

    def nodes_along(self, text: bytes, begin: int = 0) -> Iterator[int]:
        """Yield the nodes of the prefixes of a text from an offset on, as far as tokens begin with them."""
        byte, skip = self.byte.data, self.skip.data
        node, last = int(self.top[text[begin]]) if begin < len(text) else -1, len(byte)
        for position in range(begin, len(text)):
            # Siblings follow one another by their skips; the first child is the next node.
            while 0 <= node < last and byte[node] != text[position]:
                node = skip[node]
            if not 0 <= node < last:
                return
            yield node
            last = skip[node]
            node += 1

    def tokens_at(self, text: bytes, begin: int = 0) -> Iterator[tuple[int, memoryview]]:
        """Yield the end of each token that a text has at an offset, and the ids with these bytes, shortest first."""
        start, ids = self.token_start.data, self.token_ids.data
        for end, node in enumerate(self.nodes_along(text, begin), begin + 1):
            if start[node] < start[node + 1]:
                yield end, ids[start[node] : start[node + 1]]

    def find(self, prefix: bytes) -> int | None:
        """Return the node of a prefix of one byte or more; None if no token begins with it."""
        nodes = list(self.nodes_along(prefix))
        return nodes[-1] if len(nodes) == len(prefix) else None

    def ids_below(self, node: int) -> Ints:
        """Return int32[n]: the ids of the tokens that end at a node or below it."""
        return self.token_ids[self.token_start[node] : self.token_start[self.skip[node]]]

    @property
    def words(self) -> int:
        """Return the number of int32 words of a mask over this vocabulary."""
        return (self.size + 31) // 32


def build_trie(tokens: Sequence[bytes | None]) -> Trie:
    """Build the trie of all tokens that have bytes; `None` and `b""` are skipped."""
    ids = [index for index, token in enumerate(tokens) if token]
    # The sort is stable, so ids with equal bytes stay in ascending order.
    ids.sort(key=cast("Callable[[int], bytes]", tokens.__getitem__))
    texts = [tokens[index] or b"" for index in ids]
    lengths = np.fromiter(map(len, texts), np.int32, len(texts))
    shared = _common_prefixes(texts, lengths)
    same = np.zeros(len(texts), bool)
    same[1:] = shared[1:] == np.maximum(lengths[1:], lengths[:-1])

    distinct = np.flatnonzero(~same)
    lengths, shared = lengths[distinct], shared[distinct]
    text = np.frombuffer(b"".join([texts[index] for index in distinct.tolist()]), np.uint8)
    byte, depth, node_end = _nodes(text, lengths, shared)
    last_node = node_end - 1

    token_start = np.zeros(len(byte) + 1, np.int32)
    token_start[last_node + 1] = np.diff(np.append(distinct, len(texts)))
    np.cumsum(token_start, out=token_start)
    top = np.full(256, -1, np.int32)
    first_level = np.flatnonzero(depth == 1)
    top[byte[first_level]] = first_level
    arrays = (byte, depth, _skips(lengths, shared, node_end), token_start, np.array(ids, np.int32), top)
    for array in arrays:
        array.setflags(write=False)
    return Trie(*arrays, height=int(lengths.max(initial=0)), size=len(tokens))


def _common_prefixes(texts: Sequence[bytes], lengths: Ints) -> Ints:
    """Return int32[n]: the length of the common prefix of each sorted text and the one before it."""
    shared = np.zeros(len(texts), np.int32)
    if not texts:
        return shared
    text = np.frombuffer(b"".join(texts), np.uint8)
    begin = np.cumsum(lengths) - lengths
    shorter = np.minimum(lengths[1:], lengths[:-1])
    pairs = np.arange(1, len(texts))
    depth = 0
    while pairs.size:
        pairs = pairs[shorter[pairs - 1] > depth]
        pairs = pairs[text[begin[pairs] + depth] == text[begin[pairs - 1] + depth]]
        shared[pairs] += 1
        depth += 1
    return shared


def _nodes(text: Bytes, lengths: Ints, shared: Ints) -> tuple[Bytes, Ints, Ints]:
    """Return the byte and depth of every node, and for each text the end of the nodes that it adds."""
    added = lengths - shared
    node_end = np.cumsum(added, dtype=np.int32)
    within = np.arange(int(added.sum()), dtype=np.int32) - np.repeat(node_end - added, added)
    depth = within + np.repeat(shared, added) + 1
    begin = np.cumsum(lengths) - lengths
    byte = text[np.repeat(begin, added) + depth - 1]
    return byte, depth.astype(np.int32), node_end


def _skips(lengths: Ints, shared: Ints, node_end: Ints) -> Ints:
    """Return the end of every node's subtree.

    A text shorter than a depth has no node there and ends every subtree of that depth.
    So each depth considers only the texts of at least that length, in groups of
    consecutive texts with a common prefix of that length.
    """
    skip = np.empty(int(node_end[-1]) if len(node_end) else 0, np.int32)
    tall = np.arange(len(lengths))
    depth = 1
    while (tall := tall[lengths[tall] >= depth]).size:
        heads = np.flatnonzero(shared[tall] < depth)
        last_members = tall[np.append(heads[1:], len(tall)) - 1]
        head = tall[heads]
        skip[node_end[head] - lengths[head] + depth - 1] = node_end[last_members]
        depth += 1
    return skip


def cached_trie(tokens: Sequence[bytes | None]) -> Trie:
    """Return the trie of all tokens that have bytes, from the cache on disk, or built and added to it.

    Building a trie takes three times as long as reading it. The name of a file is a digest of the tokens, and the file
    begins with a checksum of its contents, since a walk does not check the arrays of a trie. If a file or the folder
    cannot be used, the trie is built.
    """
    folder = trie_folder() if len(tokens) >= _MIN_TOKENS else None
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


def trie_folder() -> Path | None:
    """Return the folder of the cache on disk; None if it cannot be made."""
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
    for old in sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime)[:-MAX_FILES]:
        old.unlink(missing_ok=True)
