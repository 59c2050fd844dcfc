"""What an edge says, as text for an attribute, and that text read back."""

from __future__ import annotations

import json

from engine.automata.byte_classes import ByteRanges
from engine.export.target import MismatchError
from engine.grammar import TokenSet


def bytes_text(ranges: ByteRanges) -> str:
    """Ranges of bytes in hexadecimal digits: `61-7a 5f`."""
    return " ".join(f"{first:02x}" if first == last else f"{first:02x}-{last:02x}" for first, last in ranges)


def read_bytes_text(text: str) -> ByteRanges:
    """What `bytes_text` wrote.

    Raises:
        MismatchError: it is something else.
    """
    try:
        pairs = [part.partition("-") for part in text.split()]
        return tuple((int(first, 16), int(last or first, 16)) for first, _, last in pairs)
    except ValueError as error:
        raise MismatchError(f"{text!r} is no list of bytes") from error


def token_text(tokens: TokenSet) -> str:
    """A set of tokens as JSON."""
    return json.dumps({"names": tokens.names, "ids": tokens.ids, "negated": tokens.negated})


def read_token_text(text: str) -> TokenSet:
    """What `token_text` wrote.

    Raises:
        MismatchError: it is something else.
    """
    try:
        found = json.loads(text)
        return TokenSet(tuple(found["names"]), tuple(found["ids"]), bool(found["negated"]))
    except (ValueError, KeyError, TypeError) as error:
        raise MismatchError(f"{text!r} is no set of tokens") from error
