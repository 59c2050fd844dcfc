"""URIs (RFC 3986), IRIs (RFC 3987), URI templates (RFC 6570) and JSON Pointers (RFC 6901).

The grammars are transcribed production by production. In a template the operators that RFC 6570 reserves for the future
(`= , ! @ |`) are excluded, and `'` is a literal, as its erratum says. A relative JSON Pointer has no index
manipulation, which is newer than the drafts that define the format.
"""

from __future__ import annotations

from engine.notations.json_schema.formats.addresses import IPV6

_ENCODED = r"%[0-9A-Fa-f]{2}"
_UCS = (
    "\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF"
    + "".join(f"\\U000{plane:X}0000-\\U000{plane:X}FFFD" for plane in range(1, 14))
    + "\\U000E1000-\\U000EFFFD"
)
_PRIVATE = "\\uE000-\\uF8FF\\U000F0000-\\U000FFFFD\\U00100000-\\U0010FFFD"
_DELIMITERS = r"!$&'()*+,;="
_UNRESERVED = r"A-Za-z0-9\-._~"


def _reference(*, beyond: str, private: str, absolute: bool) -> str:
    """Return an identifier with a scheme, or also a relative one.

    Args:
        beyond: the allowed characters beyond ASCII.
        private: the private characters allowed in a query.
        absolute: whether the scheme is required.
    """
    plain = f"{_UNRESERVED}{beyond}{_DELIMITERS}"
    character = rf"(?:[{plain}:@]|{_ENCODED})"
    literal = rf"\[(?:{IPV6}|[vV][0-9A-Fa-f]+\.[{_UNRESERVED}{_DELIMITERS}:]+)\]"
    # A registered name; it includes IPv4 addresses.
    host = rf"(?:{literal}|(?:[{plain}]|{_ENCODED})*)"
    authority = rf"(?:(?:[{plain}:]|{_ENCODED})*@)?{host}(?::\d*)?"
    rest = rf"(?:/{character}*)*"
    rooted = rf"/(?:{character}+{rest})?"
    tail = rf"(?:\?(?:[{plain}:@/?{private}]|{_ENCODED})*)?(?:\#(?:[{plain}:@/?]|{_ENCODED})*)?"
    with_scheme = rf"[A-Za-z][A-Za-z0-9+.\-]*:(?://{authority}{rest}|{rooted}|{character}+{rest}|){tail}"
    if absolute:
        return with_scheme
    no_colon = rf"(?:[{plain}@]|{_ENCODED})+{rest}"
    return rf"(?:{with_scheme}|(?://{authority}{rest}|{rooted}|{no_colon}|){tail})"


URI = _reference(beyond="", private="", absolute=True)
URI_REFERENCE = _reference(beyond="", private="", absolute=False)
IRI = _reference(beyond=_UCS, private=_PRIVATE, absolute=True)
IRI_REFERENCE = _reference(beyond=_UCS, private=_PRIVATE, absolute=False)

_VARIABLE_CHARACTER = rf"(?:[A-Za-z0-9_]|{_ENCODED})"
_VARIABLE = rf"{_VARIABLE_CHARACTER}(?:\.?{_VARIABLE_CHARACTER})*(?::[1-9]\d{{0,3}}|\*)?"
_LITERAL = rf"(?:[!\#$&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~{_UCS}{_PRIVATE}]|{_ENCODED})"
URI_TEMPLATE = rf"(?:{_LITERAL}|\{{[+\#./;?&]?{_VARIABLE}(?:,{_VARIABLE})*\}})*"

JSON_POINTER = r"(?:/(?:[^~/]|~[01])*)*"
RELATIVE_JSON_POINTER = rf"(?:0|[1-9]\d*)(?:\#|{JSON_POINTER})"
