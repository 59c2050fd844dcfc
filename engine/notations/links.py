"""Splitting and joining of schema addresses (RFC 3986), for any text.

`urllib.parse` raises on malformed addresses such as `http://[a`. Such an address is still a name: it is compared as
text.
"""

from __future__ import annotations

from urllib.parse import urldefrag, urljoin


def split(text: str) -> tuple[str, str]:
    """Split an address at its `#`."""
    try:
        address, fragment = urldefrag(text)
    except ValueError:
        address, _, fragment = text.partition("#")
    return address, fragment


def join(base: str, address: str) -> str:
    """Resolve an address against a base; return it unchanged if one of them is malformed."""
    try:
        return urljoin(base, address)
    except ValueError:
        return address
