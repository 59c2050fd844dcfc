"""Edge attributes: the label of an edge as text, and back."""

from __future__ import annotations

import json

from engine.automata.byte_classes import ByteRanges
from engine.export.target import MismatchError
from engine.grammar import TokenSet


def bytes_text(ranges: ByteRanges) -> str:
    """Return byte ranges in hexadecimal digits: `61-7a 5f`."""
    return " ".join(f"{first:02x}" if first == last else f"{first:02x}-{last:02x}" for first, last in ranges)


def read_bytes_text(text: str) -> ByteRanges:
    """Parse the result of `bytes_text`.

    Raises:
        MismatchError: it is something else.
    """
    try:
        pairs = [part.partition("-") for part in text.split()]
        return tuple((int(first, 16), int(last or first, 16)) for first, _, last in pairs)
    except ValueError as error:
        raise MismatchError(f"{text!r} is no list of bytes") from error


def token_text(tokens: TokenSet) -> str:
    """Return a set of tokens as JSON."""
    return json.dumps({"names": tokens.names, "ids": tokens.ids, "negated": tokens.negated})


def read_token_text(text: str) -> TokenSet:
    """Parse the result of `token_text`.

    Raises:
        MismatchError: it is something else.
    """
    try:
        found = json.loads(text)
        return TokenSet(tuple(found["names"]), tuple(found["ids"]), bool(found["negated"]))
    except (ValueError, KeyError, TypeError) as error:
        raise MismatchError(f"{text!r} is no set of tokens") from error
