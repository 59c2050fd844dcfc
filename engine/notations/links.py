"""Addresses of schemas, split and joined (RFC 3986). Whatever stands there as text has an outcome.

`urllib.parse` does both, and raises where an address is malformed, as in
`http://[a`. Such a one is no less a name: it is compared as it is written.
"""

from __future__ import annotations

from urllib.parse import urldefrag, urljoin


def split(text: str) -> tuple[str, str]:
    """An address, and what is behind its `#`."""
    try:
        address, fragment = urldefrag(text)
    except ValueError:
        address, _, fragment = text.partition("#")
    return address, fragment


def join(base: str, address: str) -> str:
    """An address against another; itself where one of them is malformed."""
    try:
        return urljoin(base, address)
    except ValueError:
        return address
