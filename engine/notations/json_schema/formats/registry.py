"""The formats by name; each is built at its first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Final

from engine.grammar import Node
from engine.notations.json_schema.formats.pattern_nodes import matching

# The module, and the constant with the format's pattern or the function that builds its node.
_LOCATIONS: Final[dict[str, tuple[str, str]]] = {
    "date": ("times", "DATE"),
    "time": ("times", "TIME"),
    "date-time": ("times", "DATE_TIME"),
    "duration": ("times", "DURATION"),
    "ipv4": ("addresses", "IPV4"),
    "ipv6": ("addresses", "IPV6"),
    "uuid": ("addresses", "UUID"),
    "uri": ("uris", "URI"),
    "uri-reference": ("uris", "URI_REFERENCE"),
    "iri": ("uris", "IRI"),
    "iri-reference": ("uris", "IRI_REFERENCE"),
    "uri-template": ("uris", "URI_TEMPLATE"),
    "json-pointer": ("uris", "JSON_POINTER"),
    "relative-json-pointer": ("uris", "RELATIVE_JSON_POINTER"),
    "email": ("mail", "email"),
    "idn-email": ("mail", "idn_email"),
    "hostname": ("hosts", "hostname"),
    "idn-hostname": ("hosts", "idn_hostname"),
    "regex": ("patterns", "pattern"),
}

NAMES: Final = frozenset(_LOCATIONS)
"""The formats that are asserted."""

OUTER: Final[dict[str, tuple[str, str]]] = {
    "hostname": ("hosts", "OUTER_HOSTNAME"),
    "idn-hostname": ("hosts", "OUTER_IDN_HOSTNAME"),
    "idn-email": ("mail", "OUTER_IDN_EMAIL"),
    "regex": ("patterns", "OUTER_PATTERN"),
}
"""The formats that are narrower here than in the standard, and the location of their wider languages."""


def format_node(name: str, draft: object = None) -> Node | None:  # noqa: ARG001 - the drafts do not differ so far
    """Return the strings of a format; None if it is unknown and so an annotation.

    Args:
        name: the value of the schema's `format`.
        draft: the schema's draft; all drafts have the same formats here (see the package).
    """
    return _build(*_LOCATIONS[name]) if name in _LOCATIONS else None


def outer_node(name: str) -> Node:
    """Return a superset of the strings of a format in `OUTER`."""
    return _build(*OUTER[name])


@cache
def _build(module: str, attribute: str) -> Node:
    found: str | Callable[[], Node] = getattr(
        import_module(f"engine.notations.json_schema.formats.{module}"), attribute
    )
    return matching(found) if isinstance(found, str) else found()
