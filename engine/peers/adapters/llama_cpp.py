"""An adapter of llama.cpp's grammars and of its converter of schemas (ggml-org, MIT), from the wheel of xllamacpp.

The Python interface of xllamacpp converts schemas for LLGuidance only and evaluates no grammar without a model. Its
library exports llama.cpp's own functions, and these are called here: the converter to GBNF, the parser of GBNF, and
the stacks of a grammar. The names are those of the C++ interface with reference-counted strings, as in manylinux
wheels; on another system the library lacks them, and the engine cannot be used.

llama.cpp reads characters. A token that ends within a character is allowed if a character that it begins is.

A C++ exception ends the process: use this in a child process only.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from engine.grammar.options import CompileOptions
from engine.peers.adapter import Mask, Peer, UnsupportedNotationError, allows, empty_mask
from engine.vocabulary import Vocabulary

_PARSE_JSON: Final = "_ZN11common_json5parseERKSs"
_CONVERT: Final = "_Z22json_schema_to_grammarRK11common_jsonb"
_OPEN: Final = "_Z23llama_grammar_init_implPK11llama_vocabPKcS3_bPS3_mPKim"
_CLONE: Final = "_Z24llama_grammar_clone_implRK13llama_grammar"
_CLOSE: Final = "_Z23llama_grammar_free_implP13llama_grammar"
_ACCEPT: Final = "_Z20llama_grammar_acceptP13llama_grammarj"
_STACKS: Final = "_Z24llama_grammar_get_stacksP13llama_grammar"

_HEADER: Final = 24  # bytes before the text of a reference-counted string: its length, its capacity, its references
_VECTOR: Final = 24  # bytes of a vector: its first element, its end, the end of its storage
_JSON: Final = 4_096  # bytes that are enough for an object of the JSON type
_CHAR, _CHAR_NOT, _UPPER, _ALTERNATIVE, _ANY = 3, 4, 5, 6, 7  # types of elements of a rule
_LAST: Final = 0x10FFFF
_Ranges = list[tuple[int, int]]
_FULL_LENGTH: Final = {**dict.fromkeys(range(0xC2, 0xE0), 2), **dict.fromkeys(range(0xE0, 0xF0), 3)} | dict.fromkeys(
    range(0xF0, 0xF5), 4
)


class _Library:
    """The functions of the library, with their types."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        pointer = ctypes.c_void_p
        self._parse_json = self._function(library, _PARSE_JSON, pointer, pointer, pointer)
        self._convert = self._function(library, _CONVERT, pointer, pointer, pointer, ctypes.c_bool)
        text, size = ctypes.c_char_p, ctypes.c_size_t
        arguments = (pointer, text, text, ctypes.c_bool, pointer, size, pointer, size)
        self._open = self._function(library, _OPEN, pointer, *arguments)
        self.clone = self._function(library, _CLONE, pointer, pointer)
        self.close = self._function(library, _CLOSE, None, pointer)
        self.accept = self._function(library, _ACCEPT, None, pointer, ctypes.c_uint32)
        self._stacks = self._function(library, _STACKS, pointer, pointer)

    @staticmethod
    def _function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
        return function

    def convert(self, schema: str) -> str:
        """Return the GBNF of a schema."""
        data = schema.encode()
        room = ctypes.create_string_buffer(_HEADER + len(data) + 1)
        start = ctypes.addressof(room)
        ctypes.memmove(start, (ctypes.c_size_t * 3)(len(data), len(data), 1_000), _HEADER)
        ctypes.memmove(start + _HEADER, data, len(data))
        given, parsed, made = ctypes.c_void_p(start + _HEADER), ctypes.create_string_buffer(_JSON), ctypes.c_void_p()
        self._parse_json(parsed, ctypes.byref(given))
        self._convert(ctypes.byref(made), parsed, True)
        assert made.value is not None
        length = ctypes.c_size_t.from_address(made.value - _HEADER).value
        return ctypes.string_at(made.value, length).decode()

    def open(self, rules: str) -> int:
        """Return a new grammar.

        Raises:
            ValueError: it is refused; the reason is on the standard error.
        """
        grammar: int | None = self._open(None, rules.encode(), b"root", False, None, 0, None, 0)
        if not grammar:
            raise ValueError("failed to parse grammar")
        return grammar

    def may_end(self, grammar: int) -> bool:
        """Return whether the text may end: a stack is empty."""
        return any(bottom == top for bottom, top in self._found_stacks(grammar))

    def stack_count(self, grammar: int) -> int:
        """Return the number of stacks."""
        return sum(1 for _ in self._found_stacks(grammar))

    def next_characters(self, grammar: int) -> _Ranges:
        """Return the ranges of the characters that may follow."""
        stacks = self._found_stacks(grammar)
        return [one for bottom, top in stacks if bottom != top for one in self._class_at(top)]

    def _found_stacks(self, grammar: int) -> Iterator[tuple[int, int]]:
        """Yield the first element of each stack, and its end."""
        first, end, _ = (ctypes.c_void_p * 3).from_address(self._stacks(grammar))
        for address in range(first or 0, end or 0, _VECTOR):
            bottom, top, _ = (ctypes.c_void_p * 3).from_address(address)
            yield bottom or 0, top or 0

    @staticmethod
    def _class_at(top: int) -> _Ranges:
        """Return the ranges of the class at the top of a stack, of which `top` is the end."""
        at: int = ctypes.c_void_p.from_address(top - 8).value or 0

        def element(number: int) -> tuple[int, int]:
            kind, value = (ctypes.c_uint32 * 2).from_address(at + 8 * number)
            return int(kind), int(value)

        kind = element(0)[0]
        if kind == _ANY:
            return [(0, _LAST)]
        if kind not in (_CHAR, _CHAR_NOT):
            return []
        ranges, number = [], 0
        while number == 0 or element(number)[0] == _ALTERNATIVE:
            low, (following, high) = element(number)[1], element(number + 1)
            is_range = following == _UPPER
            ranges.append((low, high if is_range else low))
            number += 2 if is_range else 1
        return ranges if kind == _CHAR else _others(ranges)


class LlamaMatcher:
    """A `PeerMatcher` of llama.cpp."""

    def __init__(self, library: _Library, rules: str, vocabulary: Vocabulary) -> None:
        self._library, self._tokens = library, vocabulary.tokens
        self._eos_ids = vocabulary.eos_ids
        self._first = library.open(rules)
        self._grammar = library.clone(self._first)
        self._pending = b""
        self.mask: Mask = empty_mask(vocabulary)

    def reset(self) -> None:
        """See `PeerMatcher`."""
        self._library.close(self._grammar)
        self._grammar = self._library.clone(self._first)
        self._pending = b""

    def fill_mask(self) -> None:
        """See `PeerMatcher`."""
        self.mask[:] = 0
        known: dict[str, _Ranges] = {}
        for token_id, token in enumerate(self._tokens):
            is_end = token_id in self._eos_ids
            if self.is_accepting() if is_end else bool(token) and self._allows(self._pending + (token or b""), known):
                self.mask[token_id >> 5] |= np.int32(-(1 << 31) if token_id & 31 == 31 else 1 << (token_id & 31))

    def accept(self, token_id: int) -> bool:
        """See `PeerMatcher`."""
        if not allows(self.mask, token_id):
            return False
        whole, self._pending = _characters(self._pending + (self._tokens[token_id] or b""))
        for character in whole or "":
            self._library.accept(self._grammar, ord(character))
        return True

    def is_accepting(self) -> bool:
        """See `PeerMatcher`."""
        return not self._pending and self._library.may_end(self._grammar)

    @property
    def stack_count(self) -> int:
        """Return the number of stacks that llama.cpp holds."""
        return self._library.stack_count(self._grammar)

    def _allows(self, data: bytes, known: dict[str, _Ranges]) -> bool:
        whole, rest = _characters(data)
        if whole is None or not all(self._matches(whole[:end], known) for end in range(1, len(whole) + 1)):
            return False
        if not rest:
            return True
        first, last = _begun(rest)
        return first <= last and any(low <= last and high >= first for low, high in self._after(whole, known))

    def _matches(self, text: str, known: dict[str, _Ranges]) -> bool:
        """Return whether the last character of a text may follow the others; `known` is for this mask."""
        point = ord(text[-1])
        return any(low <= point <= high for low, high in self._after(text[:-1], known))

    def _after(self, text: str, known: dict[str, _Ranges]) -> _Ranges:
        found = known.get(text)
        if found is None:
            copy = self._library.clone(self._grammar)
            for character in text:
                self._library.accept(copy, ord(character))
            found = known[text] = self._library.next_characters(copy)
            self._library.close(copy)
        return found


class LlamaAdapter:
    """The `Adapter` of llama.cpp."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        spec = find_spec("xllamacpp")
        folders = spec.submodule_search_locations if spec is not None else None
        found = [path for folder in folders or () for path in sorted(Path(folder).glob("xllamacpp*.so"))]
        if not found:
            raise ImportError("xllamacpp has no library here")
        self._library = _Library(found[0])
        self._vocabulary = vocabulary

    def compile(self, notation: str, source: str) -> LlamaMatcher:
        """See `Adapter`."""
        readers: dict[str, Callable[[str], str]] = {"json_schema": self._library.convert, "gbnf": str}
        if notation not in readers:
            raise UnsupportedNotationError(notation)
        return LlamaMatcher(self._library, readers[notation](source), self._vocabulary)

    def forget(self) -> None:
        """Do nothing, since llama.cpp caches no grammar."""


def _characters(data: bytes) -> tuple[str | None, bytes]:
    """Split bytes into whole characters and the beginning of another; None if they are not UTF-8."""
    for cut in range(min(4, len(data) + 1)):
        head, tail = data[: len(data) - cut], data[len(data) - cut :]
        if tail and (_FULL_LENGTH.get(tail[0], 0) <= len(tail) or any(byte & 0xC0 != 0x80 for byte in tail[1:])):
            continue
        try:
            return head.decode(), tail
        except UnicodeDecodeError:
            continue
    return None, b""


def _begun(rest: bytes) -> tuple[int, int]:
    """Return the first and the last code point whose bytes begin with some bytes."""
    length = _FULL_LENGTH[rest[0]]
    value = rest[0] & (0x7F >> length)
    for byte in rest[1:]:
        value = value << 6 | byte & 0x3F
    missing = 6 * (length - len(rest))
    least = {2: 0x80, 3: 0x800, 4: 0x10000}[length]  # shorter characters have another form
    return max(value << missing, least), min(((value + 1) << missing) - 1, _LAST)


def _others(ranges: _Ranges) -> _Ranges:
    """Return the ranges of all other characters."""
    found, start = [], 0
    for low, high in sorted(ranges):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    return [*found, (start, _LAST)] if start <= _LAST else found


PEER = Peer(
    "llama-cpp",
    "xllamacpp",
    LlamaAdapter,
    notations=("json_schema", "gbnf"),
    options=CompileOptions(whitespace="flexible"),
)
