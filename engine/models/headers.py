"""Checks of the sizes and counts in the headers of model files, before a library relies on them.

The readers of GGUF and of transformers' configurations trust lengths and counts: one damaged byte of a count makes
them loop or allocate until the memory is exhausted. Everything that a header describes takes space in the file, so each
number is compared with the size of the file, in one pass over the header.

Source: the GGUF specification (`docs/gguf.md` of ggml) and the safetensors format.
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from engine.models.source import ModelError
from engine.source import EngineError
from engine.source.catalogue import catalogue_text

_SCALARS: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""The sizes in bytes of GGUF's numbers and booleans, by type number."""
_INTEGERS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 10: "Q", 11: "q"}
_STRING, _ARRAY = 8, 9
_MAX_KEY: Final = 1_000
_VERSIONS: Final = (2, 3)
_MAX_DIMENSIONS: Final = 8
_MAX_DEPTH: Final = 4  # nesting of arrays; known files have none
_LAYERS: Final = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
_WIDTHS: Final = ("hidden_size", "n_embd", "d_model", "dim")
_FACTORS: Final = (
    *("vocab_size", "intermediate_size", "moe_intermediate_size", "n_inner", "ffn_dim", "d_ff", "n_positions"),
    *("num_attention_heads", "num_key_value_heads", "n_head", "head_dim", "num_experts", "num_local_experts"),
)
"""Numbers of a configuration that are multiplied by its width in the size of some tensor."""
_MAX_LABELS: Final = 100_000  # transformers creates a name for each, even if the model has no labels
_GGUF_LAYERS: Final = b".block_count"
_GGUF_WIDTH: Final = b".embedding_length"
_GGUF_FACTORS: Final = (b".feed_forward_length", b".vocab_size", b".head_count", b".head_count_kv", b".expert_count")
_MAX_CONFIG_SIZE: Final = 16 << 20
_MAX_HEADER: Final = 100_000_000  # the limit of the safetensors library


def check_gguf(path: Path) -> None:
    """Check a GGUF file's header against the size of the file.

    Raises:
        ModelError: the header is not valid, or describes more than the file contains.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            _GgufHeader(data).check()
        except (struct.error, IndexError, _DamagedError) as error:
            reason = error if isinstance(error, _DamagedError) else _DamagedError("errors.models.gguf.short")
            raise ModelError("errors.models.damaged_gguf", path=path, reason=str(reason)) from error


def _key_text(key: bytes) -> str:
    return key[:80].decode("utf-8", errors="replace")


class _DamagedError(EngineError):
    """The header is inconsistent with the file."""


class _GgufHeader:
    def __init__(self, data: mmap.mmap) -> None:
        self._data, self._size, self._offset = data, len(data), 4
        self._byte_order = "<"

    def check(self) -> None:
        version = self._number("I")
        if version & 0xFFFF == 0:  # the file is big-endian
            self._byte_order, self._offset = ">", 4
            version = self._number("I")
        if version not in _VERSIONS:
            raise _DamagedError("errors.models.gguf.version", version=version)
        tensors, pairs = self._number("Q"), self._number("Q")
        for count, what, minimum in ((tensors, "tensors", 24), (pairs, "values", 13)):
            if count * minimum > self._size:
                raise _DamagedError(f"errors.models.gguf.many.{what}", count=count, size=self._size)
        numbers: dict[bytes, int] = {}
        for _ in range(pairs):
            name, kind = self._string(), self._number("I")
            if kind in _INTEGERS and self._offset + _SCALARS[kind] <= self._size:
                numbers[name] = struct.unpack_from(self._byte_order + _INTEGERS[kind], self._data, self._offset)[0]
            self._value(kind, _MAX_DEPTH)
        self._check_shape(numbers, tensors)
        for _ in range(tensors):
            self._tensor()
        if self._offset > self._size:
            raise _DamagedError("errors.models.gguf.short")

    def _number(self, kind: str) -> int:
        (value,) = struct.unpack_from(self._byte_order + kind, self._data, self._offset)
        self._offset += struct.calcsize(self._byte_order + kind)
        return int(value)

    def _skip(self, length: int, what: str) -> None:
        if length > self._size - self._offset:
            raise _DamagedError(f"errors.models.gguf.long.{what}", length=length, offset=self._offset, size=self._size)
        self._offset += length

    def _check_shape(self, numbers: Mapping[bytes, int], tensors: int) -> None:
        """Check the numbers of the architecture, from which a library creates layers and tensors."""
        width = max([1, *(value for name, value in numbers.items() if name.endswith(_GGUF_WIDTH))])
        for name, value in numbers.items():
            is_factor = name.endswith(_GGUF_FACTORS)
            if name.endswith(_GGUF_LAYERS) and value > tensors:
                raise _DamagedError("errors.models.gguf.layers", name=_key_text(name), value=value, tensors=tensors)
            if (is_factor or name.endswith(_GGUF_WIDTH)) and value * (width if is_factor else 1) > 8 * self._size:
                raise _DamagedError("errors.models.gguf.width", name=_key_text(name), value=value, size=self._size)

    def _string(self) -> bytes:
        length = self._number("Q")
        self._skip(length, "text")
        return self._data[self._offset - length : self._offset] if length <= _MAX_KEY else b""

    def _value(self, kind: int, depth: int) -> None:
        if kind in _SCALARS:
            self._skip(_SCALARS[kind], "number")
        elif kind == _STRING:
            self._string()
        elif kind == _ARRAY and depth:
            inner, count = self._number("I"), self._number("Q")
            if inner in _SCALARS:
                self._skip(count * _SCALARS[inner], "array")
                return
            if count * 8 > self._size - self._offset:
                raise _DamagedError("errors.models.gguf.array", count=count, offset=self._offset, size=self._size)
            for _ in range(count):
                self._value(inner, depth - 1)
        else:
            raise _DamagedError("errors.models.gguf.type", kind=kind, offset=self._offset)

    def _tensor(self) -> None:
        self._string()
        dimensions = self._number("I")
        if dimensions > _MAX_DIMENSIONS:
            raise _DamagedError("errors.models.gguf.dimensions", dimensions=dimensions, offset=self._offset)
        elements = 1
        for _ in range(dimensions):
            elements *= self._number("Q")
        self._number("I")
        offset = self._number("Q")
        if offset > self._size or elements > 8 * self._size:  # every type has at least one bit
            raise _DamagedError("errors.models.gguf.tensor", elements=elements, offset=offset, size=self._size)


def check_folder(folder: Path, files: list[Path]) -> None:
    """Check a transformers folder's configuration against its weights.

    Raises:
        ModelError: the configuration is not a JSON object, or describes a model that does not fit the weights.
    """
    path = folder / "config.json"
    config = _configuration(path)
    inner = config.get("text_config")
    weights = [file for file in files if file.suffix == ".safetensors"]
    tensors = sum(_count_tensors(file) for file in weights)
    size = sum(file.stat().st_size for file in weights)
    for part, where in ((config, ""), (inner if isinstance(inner, dict) else {}, "/text_config")):
        numbers = {name: value for name, value in part.items() if type(value) is int}
        for name in _LAYERS:
            if numbers.get(name, 0) > tensors:
                raise _mismatch("layers", path, f"{where}/{name}", numbers[name], tensors)
        if numbers.get("num_labels", 0) > _MAX_LABELS:
            raise _mismatch("labels", path, f"{where}/num_labels", numbers["num_labels"], _MAX_LABELS)
        width = max([1, *(numbers.get(name, 1) for name in _WIDTHS)])
        for name in (*_WIDTHS, *_FACTORS):
            factor = 1 if name in _WIDTHS else width
            if numbers.get(name, 0) * factor > 8 * size:  # every type has at least one bit
                raise _mismatch("width", path, f"{where}/{name}", numbers[name], size)


def _configuration(path: Path) -> Mapping[str, Any]:
    try:
        size = path.stat().st_size
        if size > _MAX_CONFIG_SIZE:
            raise ModelError("errors.models.config_size", path=path, size=size, limit=_MAX_CONFIG_SIZE)
        config = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelError("errors.unreadable", file=path, reason=error.strerror or str(error)) from error
    except RecursionError as error:
        raise ModelError("errors.models.config_depth", path=path) from error
    except ValueError as error:
        raise ModelError("errors.models.config_json", path=path, reason=str(error)) from error
    if not isinstance(config, dict):
        raise ModelError("errors.models.config_type", path=path, type=type(config).__name__)
    return config


def _mismatch(what: str, path: Path, where: str, value: int, found: int) -> ModelError:
    shown = f"{value:,}" if value.bit_length() < 100 else catalogue_text("errors.models.mismatch.digits")
    return ModelError(f"errors.models.mismatch.{what}", path=path, where=where, shown=shown, found=found)


def _damaged_weights(file: Path) -> ModelError:
    return ModelError("errors.models.damaged_header", file=file)


def _count_tensors(file: Path) -> int:
    """Return the number of tensors of a safetensors file; the library itself reports errors inside the header."""
    with file.open("rb") as opened:
        start = opened.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > min(_MAX_HEADER, file.stat().st_size):
            raise _damaged_weights(file)
        try:
            header = json.loads(opened.read(length))
        except (ValueError, RecursionError) as error:
            raise _damaged_weights(file) from error
    return len(header) if isinstance(header, dict) else 0
