"""The cases of `tests/data/corpus`; `tests/data/README.md` describes the file format."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.source import GrammarError
from engine.vocabulary import Vocabulary

FOLDER = Path(__file__).parents[1] / "data" / "corpus"
VOCABULARY_FILE = FOLDER / "vocabulary.toml"
EOS_TEXT = "<eos>"

_OF_A_FILE = frozenset({"notation", "options", "oracle", "case"})
_OF_A_CASE = frozenset(
    "id source options oracle accept accept_bytes accept_repeated reject reject_bytes reject_repeated dead dead_bytes "
    "shortest shortest_length forced masks findings compiles".split()
)


@dataclass(frozen=True)
class MaskCase:
    """The allowed tokens after a text, of the small vocabulary."""

    after: bytes
    allowed: frozenset[str]


@dataclass(frozen=True)
class Finding:
    """An expected diagnostic: its code, the text at its span, and the span's start where it matters."""

    code: str
    text: str
    start: int | None


@dataclass(frozen=True)
class Case:
    """A grammar with its expected results.

    Attributes:
        name: the file, the id, and the options where a file has several: unique.
        group: the file's name without its suffix.
        notation: one of `NOTATIONS`.
        source: the grammar's text.
        options: the compile options by name.
        oracle: the library that knows the language, or empty if none does.
        accepted, refused: texts in and not in the language.
        dead: texts that no continuation makes a match.
        shortest: the shortest text; None if not given.
        shortest_length: its length in bytes; None if not given.
        forced: the bytes that must follow a text.
        masks: the allowed tokens after a text.
        findings: all diagnostics; None if only errors and warnings are unexpected.
        compiles: whether the grammar compiles.
    """

    name: str
    group: str
    notation: str
    source: str
    options: Mapping[str, Any]
    oracle: str
    accepted: tuple[bytes, ...]
    refused: tuple[bytes, ...]
    dead: tuple[bytes, ...]
    shortest: bytes | None
    shortest_length: int | None
    forced: Mapping[bytes, bytes]
    masks: tuple[MaskCase, ...]
    findings: tuple[Finding, ...] | None
    compiles: bool

    @property
    def compile_options(self) -> CompileOptions:
        """The options of the compile."""
        return CompileOptions(**self.options)

    @property
    def has_only_masks(self) -> bool:
        """Return whether the grammar names tokens, so that its language is not a set of texts."""
        return bool(self.masks) and not self.texts

    @property
    def texts(self) -> tuple[tuple[bytes, bool], ...]:
        """All texts, each with whether it is accepted."""
        return tuple([(text, True) for text in self.accepted] + [(text, False) for text in self.refused])


@cache
def cases(notation: str | None = None) -> tuple[Case, ...]:
    """Return all cases, or those of one notation, by file and in the order of each file."""
    found = [case for path in sorted(FOLDER.glob("*.toml")) if path != VOCABULARY_FILE for case in read(path)]
    return tuple(case for case in found if notation in (None, case.notation))


def read(path: Path) -> list[Case]:
    """Read one file of cases.

    Raises:
        ValueError: a key is unknown, or two cases have one name.
    """
    file = tomllib.loads(path.read_text("utf-8"))
    _refuse_unknown(path.name, file, _OF_A_FILE)
    found: dict[str, Case] = {}
    for entry in file["case"]:
        _refuse_unknown(f"{path.name}: {entry.get('id')}", entry, _OF_A_CASE)
        variants = file.get("options", [{}])
        for variant in variants:
            case = _case(path.stem, file, entry, variant | entry.get("options", {}), several=len(variants) > 1)
            if found.setdefault(case.name, case) is not case:
                raise ValueError(f"two cases have the name {case.name}")
    return list(found.values())


def _refuse_unknown(where: str, keys: Iterable[str], known: frozenset[str]) -> None:
    if unknown := set(keys) - known:
        raise ValueError(f"{where} has unknown keys: {', '.join(sorted(unknown))}")


def _case(group: str, file: dict[str, Any], entry: dict[str, Any], options: dict[str, Any], *, several: bool) -> Case:
    name = f"{group}: {entry['id']}"
    if several:
        name += f" ({', '.join(str(value) for value in options.values())})"
    shortest = entry.get("shortest")
    return Case(
        name,
        group,
        file["notation"],
        entry["source"],
        options,
        entry.get("oracle", file.get("oracle", "")),
        _texts(entry, "accept"),
        _texts(entry, "reject"),
        _texts(entry, "dead"),
        None if shortest is None else shortest.encode(),
        entry.get("shortest_length", None if shortest is None else len(shortest.encode())),
        {text.encode(): forced.encode() for text, forced in entry.get("forced", {}).items()},
        tuple(MaskCase(mask["after"].encode(), frozenset(mask["allowed"])) for mask in entry.get("masks", ())),
        tuple(Finding(code, text, *(start or [None])) for code, text, *start in entry["findings"])
        if "findings" in entry
        else None,
        entry.get("compiles", True),
    )


def _texts(entry: dict[str, Any], key: str) -> tuple[bytes, ...]:
    return (
        *(text.encode() for text in entry.get(key, ())),
        *(bytes.fromhex(digits) for digits in entry.get(f"{key}_bytes", ())),
        *(repeated["text"].encode() * repeated["times"] for repeated in entry.get(f"{key}_repeated", ())),
    )


@cache
def compiled(name: str) -> CompiledGrammar | GrammarError:
    """Return the grammar of a case by the case's name, or the error of its compile."""
    case = {case.name: case for case in cases()}[name]
    try:
        return compile_grammar(case.notation, case.source, case.compile_options)
    except GrammarError as error:
        return error


def grammar_of(case: Case) -> CompiledGrammar:
    """Return the grammar of a case that compiles.

    Raises:
        GrammarError: it does not.
    """
    found = compiled(case.name)
    if isinstance(found, GrammarError):
        raise found
    return found


@cache
def byte_vocabulary() -> Vocabulary:
    """Return a vocabulary of the 256 bytes, and an end token with the id 256."""
    return Vocabulary([*(bytes((byte,)) for byte in range(256)), None], [256])


@cache
def small_vocabulary() -> Vocabulary:
    """Return the vocabulary of the expected masks, an end token last."""
    file = tomllib.loads(VOCABULARY_FILE.read_text("utf-8"))
    tokens = [*(token.encode() for token in file["tokens"]), *(bytes.fromhex(token) for token in file["token_bytes"])]
    return Vocabulary([*tokens, None], [len(tokens)])
