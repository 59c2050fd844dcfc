"""The one codec of `.turnstile` files: a JSON object with a format, a version and the fields of `StoredDocument`.

The version is read first, so that a file of a later Turnstile is refused by its version and not by the first field
that changed. A file of an earlier version is rewritten into the present form before it is decoded (`_UPGRADES`).
Fields that this version does not know are kept where a later program may have put them: in the document itself and in
its parts (grammar, model, sampler, pipeline, automaton), but not in the steps of a trace.

The JSON Schema of the format is `resources/document.schema.json`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from engine.document.content import FORMAT, VERSION, DocumentFile, StoredDocument, UnknownField
from engine.source import EngineError, InvariantError

SUFFIX: Final = ".turnstile"
SIZE_LIMIT: Final = 128 * 1024 * 1024  # bytes; a trace of 10,000 steps takes a third of it

_PARTS: Final = ("grammar", "model", "sampler", "pipeline", "automaton")
UNREADABLE: Final = (
    ValueError,  # msgspec's own errors, text that is not UTF-8, a path with a NUL, a value that a class refuses
    OverflowError,
    RecursionError,
    MemoryError,
    InvariantError,
    msgspec.MsgspecError,
)
"""All exceptions that decoding a damaged file may raise."""


class DocumentError(EngineError):
    """A document cannot be read or written; the text says what happened, why, and what to do."""


class LaterVersionError(DocumentError):
    """A document was written by a later version of Turnstile."""


class _Head(msgspec.Struct):
    format: str = ""
    version: int = 0


def is_document(data: bytes) -> bool:
    """Return whether JSON data names itself a Turnstile document, of any version."""
    try:
        return msgspec.json.decode(data, type=_Head).format == FORMAT
    except UNREADABLE:
        return False


def encode(document: DocumentFile) -> bytes:
    """Return the bytes of a document's file, indented for people who keep documents under version control."""
    return msgspec.json.format(msgspec.json.encode(stored_fields(document)), indent=1) + b"\n"


def stored_fields(document: DocumentFile) -> dict[str, object]:
    """Return the fields of a document's file by name; msgspec can encode their values."""
    fields: dict[str, object] = {name: getattr(document, name) for name in StoredDocument.__struct_fields__}
    fields["version"] = VERSION
    for part in {field.part for field in document.unknown} - {""}:
        fields[part] = {name: getattr(fields[part], name) for name in _field_names(part)}
    for field in document.unknown:
        holder = fields[field.part] if field.part else fields
        assert isinstance(holder, dict)
        holder[field.name] = msgspec.Raw(field.json)
    return fields


def decode(data: bytes, name: str) -> DocumentFile:
    """Decode a document's file.

    Args:
        data: The bytes of the file.
        name: The name of the file, for messages.

    Raises:
        DocumentError: The data are not a document, are damaged, or are of a later version.
    """
    try:
        head = msgspec.json.decode(data, type=_Head)
    except UNREADABLE as error:
        raise DocumentError("errors.document.no_document", name=name, reason=str(error), suffix=SUFFIX) from None
    if head.format != FORMAT:
        raise DocumentError("errors.document.other_json", name=name, suffix=SUFFIX)
    if head.version > VERSION:
        raise LaterVersionError("errors.document.later_version", name=name, version=head.version, latest=VERSION)
    try:
        if head.version < VERSION:
            data = _upgraded(data, head.version)
        stored = msgspec.json.decode(data, type=StoredDocument)
        stored.trace.check()
        fields = {name: getattr(stored, name) for name in stored.__struct_fields__}
        return DocumentFile(**fields, unknown=_unknown_fields(data))
    except UNREADABLE as error:
        raise DocumentError("errors.document.damaged", name=name, reason=str(error)) from None


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a document's file, as it is kept in `resources/document.schema.json`."""
    schema = msgspec.json.schema(StoredDocument)
    for definition in schema["$defs"].values():
        definition.pop("description", None)  # docstrings, which are about Python
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A Turnstile document, version {VERSION}",
        **schema,
    }


def _field_names(part: str) -> tuple[str, ...]:
    """Return the names of the fields of a part of the document."""
    kind = type(getattr(DocumentFile(), part))
    return (
        tuple(field.name for field in dataclasses.fields(kind))
        if dataclasses.is_dataclass(kind)
        else (kind.__struct_fields__)
    )


def _unknown_fields(data: bytes) -> tuple[UnknownField, ...]:
    found: list[UnknownField] = []
    for name, raw in msgspec.json.decode(data, type=dict[str, msgspec.Raw]).items():
        if name not in StoredDocument.__struct_fields__:
            found.append(UnknownField("", name, _compact(raw)))
        elif name in _PARTS:
            known = _field_names(name)
            fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
            found += (
                UnknownField(name, field, _compact(value)) for field, value in fields.items() if field not in known
            )
    return tuple(found)


def _compact(raw: msgspec.Raw) -> bytes:
    """Return JSON without white space, so that equal values compare equal."""
    return msgspec.json.format(bytes(raw), indent=-1)


# Earlier versions -----------------------------------------------------------------------------------------------------


def _upgraded(data: bytes, version: int) -> bytes:
    """Rewrite a file of an earlier version into the present form.

    Values of a wrong type are left for the decoder to refuse.
    """
    document = msgspec.json.decode(data)
    for upgrade in _UPGRADES[max(version, 1) - 1 :]:
        upgrade(document)
    document["version"] = VERSION
    return msgspec.json.encode(document)


_ORIGINS_OF_VERSION_1: Final = {
    "force": "forced by the user",
    "replay": "replayed",
    "coalesced": "fast-forwarded",
}


def _from_version_1(document: dict[str, Any]) -> None:
    """Rename the fields and values that version 1 called by other words."""
    _rename(document, "former", "archived")
    _rename(_object(document.get("pipeline")), "coalesce", "forced")
    steps = [_object(node).get("step") for node in _list(_object(document.get("trace")).get("nodes"))]
    for branch in _list(document.get("archived")):
        steps += _list(_object(branch).get("steps"))
    for step in map(_object, steps):
        _rename(step, "chosen_by", "origin", _ORIGINS_OF_VERSION_1)
    for breakpoint_ in map(_object, _list(document.get("breakpoints"))):
        _rename(breakpoint_, "kind", "kind", {"place": "position"})


def _from_version_2(document: dict[str, Any]) -> None:
    """Rename the one stage whose name had a space."""
    pipeline = _object(document.get("pipeline"))
    if "order" in pipeline:
        names = _list(pipeline["order"])
        pipeline["order"] = ["repetition-penalty" if name == "repetition penalty" else name for name in names]


_UPGRADES: Final[tuple[Callable[[dict[str, Any]], None], ...]] = (_from_version_1, _from_version_2)
"""The function at index n rewrites version n + 1 into version n + 2."""


def _rename(holder: dict[str, Any], old: str, new: str, values: Mapping[str, str] | None = None) -> None:
    if old in holder:
        value = holder.pop(old)
        holder[new] = (values or {}).get(value, value) if isinstance(value, str) else value


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
