"""The manual's page of the document format, from its structs."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from engine.document.codec import json_schema
from engine.document.content import FORMAT, VERSION, StoredDocument
from resources.manual.markdown import code, table

_OPENING: Final = f"""# The file format

A `.turnstile` document is one JSON text in UTF-8: a grammar, a prompt, the choice of model and processors, and what was
made with them. Nothing in it is run. Its JSON Schema is `resources/document.schema.json`.

- `format` is `"{FORMAT}"`, and `version` is {VERSION}. Documents of all earlier versions open; a document of a later
  version is refused with a message.
- Every field has a default and may be absent. Fields that this version does not know are kept when the document is
  saved.
- Bytes are in Base64.

```json
{{
  "format": "turnstile",
  "version": {VERSION},
  "grammar": {{"notation": "regex", "text": "[0-9]{{4}}"}},
  "prompt": "A year: "
}}
```

Written by `python -m resources.manual file-format` from the stored structs; not edited by hand.
"""


def file_format_page() -> str:
    """Return the page, in Markdown."""
    definitions = json_schema()["$defs"]
    classes = _classes(msgspec.inspect.type_info(StoredDocument))
    sections = (line for name, form in definitions.items() for line in _section(name, form, classes.get(name)))
    return "\n".join([_OPENING, *sections])


def _classes(found: msgspec.inspect.Type) -> dict[str, type]:
    """Return the classes that a type is made of, by name."""
    classes: dict[str, type] = {}
    pending: list[Any] = [found]
    while pending:
        part = pending.pop()
        kind = getattr(part, "cls", None)
        if isinstance(kind, type):
            if kind.__name__ in classes:
                continue
            classes[kind.__name__] = kind
        pending.extend(field.type for field in getattr(part, "fields", ()))
        pending.extend(getattr(part, "types", ()))
        pending.extend(getattr(part, "item_types", ()))
        pending.extend(
            inner for name in ("item_type", "key_type", "value_type", "type") if (inner := getattr(part, name, None))
        )
    return classes


def _section(name: str, form: Mapping[str, Any], kind: type | None) -> Iterator[str]:
    about, fields = _described(kind)
    yield f"## {name}"
    yield ""
    if about:
        yield about
        yield ""
    if "enum" in form:
        yield f"One of {', '.join(code(json.dumps(value)) for value in form['enum'])}."
        yield ""
        return
    yield from table(
        ("field", "type", "default", "meaning"),
        (
            (code(field), _type(value), _default(value), fields.get(field, ""))
            for field, value in form.get("properties", {}).items()
        ),
    )
    yield ""


def _described(kind: type | None) -> tuple[str, dict[str, str]]:
    """Return the docstring of a class without its attributes, and these, in one line each."""
    if kind is None or not kind.__doc__:
        return "", {}
    about, _, attributes = inspect.cleandoc(kind.__doc__).partition("\nAttributes:\n")
    fields = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", attributes, re.MULTILINE)
    return " ".join(about.split()), {name: " ".join(text.split()) for name, text in fields}


def _type(form: Mapping[str, Any]) -> str:
    match form:
        case {"$ref": reference}:
            name = reference.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"anyOf": forms}:
            return " or ".join(_type(one) for one in forms)
        case {"enum": values}:
            return ", ".join(code(json.dumps(value)) for value in values)
        case {"type": "array", "items": dict() as items}:
            return f"list of {_type(items)}"
        case {"type": "array", "prefixItems": parts}:
            return f"list: {', '.join(_type(part) for part in parts)}"
        case {"type": "object", "additionalProperties": dict() as values}:
            return f"object of {_type(values)}"
        case {"type": "string", "contentEncoding": "base64"}:
            return "bytes in Base64"
        case {"type": str() as name}:
            return name
    return "any"


def _default(form: Mapping[str, Any]) -> str:
    if "default" not in form:
        return "required"
    text = json.dumps(form["default"], ensure_ascii=False)
    return code(text) if not isinstance(form["default"], dict) else "the defaults of its fields"
