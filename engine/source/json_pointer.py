"""Steps of JSON Pointers (RFC 6901, section 3): `~` is written `~0`, and `/` is written `~1`."""

from __future__ import annotations


def escape_step(name: str) -> str:
    """Return a key as a step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def unescape_step(step: str) -> str:
    """Return the key of a step of a JSON Pointer."""
    return step.replace("~1", "/").replace("~0", "~")
