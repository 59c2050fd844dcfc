"""The rule of a cause: the evidence that it needs, and what to say about it.

Each cause is an object with one function that looks at an `Examination` and returns a `Finding`, or None without the
necessary evidence. `engine.diagnosis.failures.diagnose` runs all of them; the order of `RULES` there decides among
findings of equal weight.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.diagnosis.failures.diagnosis import Cause, EvidenceWeight, FailurePlace
from engine.diagnosis.failures.examination import Examination
from engine.diagnosis.verdicts.verdict import position_of_byte
from engine.source.catalogue import area_texts, catalogue_entry, catalogue_text, has_text
from engine.source.text import quoted
from engine.targets import ENGINES, engine_record
from engine.vocabulary.visible import visible

LONGEST_EXCERPT: Final = 48


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause for which the necessary evidence was found.

    Attributes:
        cause: the cause.
        sentence: the cause in one sentence.
        detail: the kind of it.
        weight: the strength of the evidence.
        fix: what to change; empty for the text of the cause and the server.
        evidence: the evidence in sentences.
        places: the positions that it is about.
        tool: the tool that is concerned, if it is another than that of the output.
        explains: causes that follow from this one, so that they are not mentioned.
    """

    cause: Cause
    sentence: str
    detail: str = ""
    weight: EvidenceWeight = EvidenceWeight.TEXT
    fix: str = ""
    evidence: tuple[str, ...] = ()
    places: tuple[FailurePlace, ...] = ()
    tool: str = ""
    explains: frozenset[Cause] = frozenset()


@dataclass(frozen=True, slots=True)
class CauseRule:
    """A cause and the function that finds its evidence.

    Attributes:
        cause: the cause.
        find: returns the finding; None without the necessary evidence.
    """

    cause: Cause
    find: Callable[[Examination], Finding | None]


@dataclass(frozen=True, slots=True)
class CauseFix:
    """A fix of a cause: for one detail and one server, or for all where these are empty."""

    detail: str
    server: str
    text: str


def fix_text(cause: Cause, detail: str, server: str) -> str:
    """Return the fix of a cause in the words of a server.

    Args:
        cause: the cause.
        detail: the kind of it.
        server: the name of the server; empty if it is unknown.
    """
    for table in (f"{cause}.{detail}", str(cause)):
        for name in (_key_of(server), "any"):
            if has_text(f"failures.fix.{table}.{name}"):
                return catalogue_text(f"failures.fix.{table}.{name}")
    return ""


def all_fixes(cause: Cause) -> tuple[CauseFix, ...]:
    """Return the fixes of a cause for every detail and server, the general ones first; values in them are `…`."""
    engines = {_key_of(name): engine_record(name).engine for name in ENGINES} | {"any": ""}
    found = []
    for name in area_texts("failures"):
        area, _, rest = name.partition(f"{cause}.")
        if area != "fix.":
            continue
        detail, _, last = rest.rpartition(".")
        text = catalogue_text(f"failures.{name}", **dict.fromkeys(catalogue_entry(f"failures.{name}").fields, "…"))
        found.append(CauseFix(detail, engines[last], text) if last in engines else CauseFix(last, "", text))
    return tuple(sorted(found, key=lambda fix: (fix.detail, fix.server)))


def _key_of(server: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", server.lower()) or "any"


def server_text(table: str, server: str) -> str:
    """Return a text of a table by server: that of `any` if the server has none."""
    name = _key_of(server)
    if has_text(f"failures.{table}.{name}"):
        return catalogue_text(f"failures.{table}.{name}")
    return catalogue_text(f"failures.{table}.any")


def server_name(server: str) -> str:
    """Return the name of a server for users."""
    if not server:
        return catalogue_text("failures.fragment.server")
    return engine_record(server).engine if server in ENGINES else server


def shown(data: bytes | str, longest: int = LONGEST_EXCERPT) -> str:
    """Return a part of an output in backticks, shortened, with every character visible."""
    text = visible(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    return quoted(text if len(text) <= longest else text[: longest - 1] + "…")


def names_listed(names: list[str] | tuple[str, ...], most: int = 4) -> str:
    """Return names in backticks, the first few of them."""
    listed = [quoted(name) for name in names[:most]]
    if len(names) > most:
        listed.append(catalogue_text("failures.fragment.others", number=len(names) - most))
    return ", ".join(listed)


def output_place(examined: Examination, byte: int) -> FailurePlace:
    """Return the place of a byte of the judged part, in the complete output."""
    start = 0 if examined.part is None else examined.part.start
    whole = examined.complete_output[:start] + examined.data
    at = position_of_byte(whole, start + byte)
    offset = len(whole[: start + byte].decode("utf-8", "ignore"))
    return FailurePlace(line=at.line, column=at.column, offset=offset, is_in_output=True)


def where_in_output(examined: Examination, byte: int) -> str:
    """Describe a position in the complete output."""
    place = output_place(examined, byte)
    return catalogue_text("failures.fragment.where", line=place.line, column=place.column)
