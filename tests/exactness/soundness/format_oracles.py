"""Judges of formats that share nothing with the engine's: the standard library, the `idna` package, small parsers.

Each is written from the specification that JSON Schema names for the format (Validation 2020-12, section 7.3). `regex`
has no judge here: none of the libraries at hand reads ECMAScript's patterns.
"""

from __future__ import annotations

import calendar
import ipaddress
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

import idna

DOTS = "\u002e\u3002\uff0e\uff61"
_LONGEST_LABEL = 63
_LONGEST_NAME = 253
_LONGEST_LOCAL_PART = 64
_LONGEST_ADDRESS = 254
_HEX = "0123456789ABCDEFabcdef"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"


# ---------------------------------------------------------------------- names


def is_hostname(text: str) -> bool:
    """RFC 1123, section 2.1, with A-labels (RFC 5890), and the Bidi rule for what they decode to."""
    return text.isascii() and _is_name(text, ".")


def is_idn_hostname(text: str) -> bool:
    """RFC 5890 to 5893: every label is an NR-LDH label, an A-label or a U-label; names obey the Bidi rule."""
    return _is_name(text, DOTS)


def _is_name(text: str, dots: str) -> bool:
    decoded, octets = [], -1
    for label in re.split(f"[{re.escape(dots)}]", text):
        lower = label.lower() if label.isascii() else label
        try:
            encoded = idna.alabel(lower)
            decoded.append(idna.ulabel(encoded))
        except idna.IDNAError:
            return False
        octets += len(encoded) + 1
    return octets <= _LONGEST_NAME and obeys_bidi_rule(decoded)


def obeys_bidi_rule(labels: list[str]) -> bool:
    """RFC 5893, section 2: with one right-to-left label, each label of the name satisfies the six conditions."""
    directions = {unicodedata.bidirectional(character) for label in labels for character in label}
    if not directions & {"R", "AL", "AN"}:
        return True
    try:
        return all(idna.check_bidi(label, check_ltr=True) for label in labels)
    except idna.IDNAError:
        return False


_ATOM = _LETTERS + _DIGITS + "!#$%&'*+-/=?^_`{|}~"


def is_email(text: str) -> bool:
    """RFC 5321, section 4.1.2, with the lengths of section 4.5.3.1."""
    local, _, domain = text.rpartition("@")
    return text.isascii() and _has_mail_lengths(text) and _is_local(local) and _is_ascii_mail_domain(domain)


def _has_mail_lengths(text: str) -> bool:
    """RFC 5321, sections 4.5.3.1.1 and 4.5.3.1.3: octets of the local part, and of the path in angle brackets."""
    local = text.rpartition("@")[0]
    return 1 <= len(local.encode()) <= _LONGEST_LOCAL_PART and len(text.encode()) <= _LONGEST_ADDRESS


def _is_ascii_mail_domain(text: str) -> bool:
    return _is_mail_domain(text) or _is_literal(text)


def _is_local(text: str) -> bool:
    if text[0] != '"':
        return all(atom and set(atom) <= set(_ATOM) for atom in text.split("."))
    if len(text) < 2 or text[-1] != '"':
        return False
    inner, at = text[1:-1], 0
    while at < len(inner):
        is_escape = inner[at] == "\\"
        at += is_escape
        if at == len(inner) or not " " <= inner[at] <= "~" or (inner[at] == '"' and not is_escape):
            return False
        at += 1
    return True


def _is_mail_domain(text: str) -> bool:
    labels = text.split(".")
    fits = all(1 <= len(label) <= _LONGEST_LABEL for label in labels)
    allowed = set(_LETTERS + _DIGITS + "-")
    return fits and all(set(label) <= allowed and label[0] != "-" != label[-1] for label in labels)


def _is_literal(text: str) -> bool:
    if text[:1] != "[" or text[-1:] != "]":
        return False
    return is_ipv4(text[1:-1]) or (text[1:6].lower() == "ipv6:" and is_ipv6(text[6:-1]))


def is_idn_email(text: str) -> bool:
    """RFC 6531, section 3.3: an e-mail address with characters beyond ASCII; labels are judged in normal form C."""
    local, _, domain = text.rpartition("@")
    replaced = "".join(character if character < "\x80" else "x" for character in local)
    if not _has_mail_lengths(text) or not _is_local(replaced):
        return False
    return _is_ascii_mail_domain(domain) or _is_name(unicodedata.normalize("NFC", domain), ".")


# ---------------------------------------------------------------------- numbers


def is_ipv4(text: str) -> bool:
    """RFC 2673, section 3.2."""
    try:
        return text.isascii() and str(ipaddress.IPv4Address(text)) == text
    except ValueError:
        return False


def is_ipv6(text: str) -> bool:
    """RFC 4291, section 2.2; a zone is no part of the address."""
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return "%" not in text


def is_uuid(text: str) -> bool:
    """RFC 4122, section 3."""
    parts = text.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and set("".join(parts)) <= set(_HEX)


def is_date(text: str) -> bool:
    """RFC 3339, `full-date`; the year 0000 is not judged by Python, and none of the texts has it."""
    year, month, day = text[:4], text[5:7], text[8:]
    if len(text) != 10 or text[4] + text[7] != "--" or not _are_digits(year, month, day):
        return False
    return int(year) > 0 and 1 <= int(month) <= 12 and 1 <= int(day) <= calendar.monthrange(int(year), int(month))[1]


def is_time(text: str) -> bool:
    """RFC 3339, `full-time`; a leap second is at 23:59:60 UTC."""
    return _utc_time(text) is not None


def is_date_time(text: str) -> bool:
    """RFC 3339, `date-time`; a leap second ends June or December in UTC."""
    if text[10:11] not in ("T", "t") or not is_date(text[:10]):
        return False
    found = _utc_time(text[11:])
    if found is None or not found[1]:
        return found is not None
    ordinal = datetime.fromisoformat(text[:10]) + timedelta(days=1)  # so that no year is before the first one
    day = (ordinal + timedelta(days=found[0] - 1)) if ordinal.year > 1 or found[0] >= 0 else ordinal
    return (day.month, day.day) in ((6, 30), (12, 31))


def _utc_time(text: str) -> tuple[int, bool] | None:
    """Return by how many days UTC is later than the local time, and whether the second is a leap second."""
    clock, rest = text[:8], text[8:]
    parts = clock.split(":")
    if len(clock) != 8 or [len(part) for part in parts] != [2, 2, 2] or not _are_digits(*parts):
        return None
    if rest[:1] == ".":
        fraction = len(rest) - len(rest[1:].lstrip(_DIGITS)) - 1
        if fraction == 0:
            return None
        rest = rest[1 + fraction :]
    offset = 0
    if rest not in ("Z", "z"):
        if len(rest) != 6 or rest[0] not in "+-" or rest[3] != ":" or not _are_digits(rest[1:3], rest[4:]):
            return None
        hours, minutes = int(rest[1:3]), int(rest[4:])
        if hours > 23 or minutes > 59:
            return None
        offset = (60 * hours + minutes) * (-1 if rest[0] == "-" else 1)
    hour, minute, second = map(int, parts)
    days, in_utc = divmod(60 * hour + minute - offset, 24 * 60)
    if hour > 23 or minute > 59 or second > 60 or (second == 60 and in_utc != 24 * 60 - 1):
        return None
    return days, second == 60


def _are_digits(*texts: str) -> bool:
    return all(text and set(text) <= set(_DIGITS) for text in texts)


def is_duration(text: str) -> bool:
    """RFC 3339, appendix A: units in order, none skipped between two, weeks alone."""
    if text[:1] != "P":
        return False
    calendar_part, mark, clock = text[1:].partition("T")
    if mark and not _units(clock, "HMS"):
        return False
    if not calendar_part:
        return bool(mark)
    return _units(calendar_part, "YMD") or (not mark and _units(calendar_part, "W"))


def _units(text: str, order: str) -> bool:
    found, number = "", ""
    for character in text:
        if character in _DIGITS:
            number += character
        elif number and character in order:
            found, number = found + character, ""
        else:
            return False
    return bool(found) and not number and found in order


# ---------------------------------------------------------------------- identifiers

_UNRESERVED = _LETTERS + _DIGITS + "-._~"
_SUBDELIMS = "!$&'()*+,;="


def is_ucschar(character: str) -> bool:
    """RFC 3987, `ucschar`."""
    code = ord(character)
    if code < 0x10000:
        return 0xA0 <= code <= 0xD7FF or 0xF900 <= code <= 0xFDCF or 0xFDF0 <= code <= 0xFFEF
    return code & 0xFFFF <= 0xFFFD and (0x10000 <= code < 0xE0000 or 0xE1000 <= code < 0xF0000)


def is_private(character: str) -> bool:
    """RFC 3987, `iprivate`."""
    code = ord(character)
    return 0xE000 <= code <= 0xF8FF or (code >= 0xF0000 and code & 0xFFFF <= 0xFFFD)


def _reference(text: str, *, international: bool, absolute: bool) -> bool:
    """RFC 3986, appendix A, or RFC 3987, section 2.2: split as appendix B does, then judge each part."""

    def made_of(part: str, allowed: str, *, private: bool = False) -> bool:
        at = 0
        while at < len(part):
            if part[at] == "%":
                if len(part) < at + 3 or not set(part[at + 1 : at + 3]) <= set(_HEX):
                    return False
                at += 3
                continue
            beyond = international and (is_ucschar(part[at]) or (private and is_private(part[at])))
            if part[at] not in allowed and not beyond:
                return False
            at += 1
        return True

    plain = _UNRESERVED + _SUBDELIMS
    rest, hash_mark, fragment = text.partition("#")
    rest, question_mark, query = rest.partition("?")
    if hash_mark and not made_of(fragment, plain + ":@/?"):
        return False
    if question_mark and not made_of(query, plain + ":@/?", private=True):
        return False
    scheme, colon, behind = rest.partition(":")
    has_scheme = bool(colon) and bool(scheme) and scheme[0] in _LETTERS
    has_scheme = has_scheme and set(scheme) <= set(_LETTERS + _DIGITS + "+-.")
    if has_scheme:
        rest = behind
    elif absolute:
        return False
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        return _is_authority(authority, plain, made_of) and made_of(slash + path, plain + ":@/")
    first = rest.partition("/")[0]
    return made_of(rest, plain + ":@/") and (has_scheme or ":" not in first)


def _is_authority(text: str, plain: str, made_of: Callable[[str, str], bool]) -> bool:
    user, at_sign, host = text.rpartition("@")
    if at_sign and not made_of(user, plain + ":"):
        return False
    if host.startswith("["):
        literal, bracket, port = host[1:].partition("]")
        if not bracket or not (port == "" or port[0] == ":") or not set(port[1:]) <= set(_DIGITS):
            return False
        if literal[:1] in ("v", "V"):
            version, dot, address = literal[1:].partition(".")
            return bool(version and dot and address) and set(version) <= set(_HEX) and set(address) <= set(_ASCII_PLAIN)
        return is_ipv6(literal)
    name, _, port = host.partition(":")
    return made_of(name, plain) and set(port) <= set(_DIGITS)


_ASCII_PLAIN = _UNRESERVED + _SUBDELIMS + ":"


def is_uri_template(text: str) -> bool:
    """RFC 6570, section 2, without the reserved operators; with erratum 6937, a quote is a literal."""
    at = 0
    while at < len(text):
        character = text[at]
        if character == "{":
            end = text.find("}", at)
            if end < 0 or not _is_expression(text[at + 1 : end]):
                return False
            at = end + 1
            continue
        if character == "%":
            if len(text) < at + 3 or not set(text[at + 1 : at + 3]) <= set(_HEX):
                return False
        elif character.isascii():
            if not " " < character < "\x7f" or character in '"<>\\^`}|':
                return False
        elif not is_ucschar(character) and not is_private(character):
            return False
        at += 1
    return True


def _is_expression(text: str) -> bool:
    variable = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*(?:\*|:[1-9][0-9]{0,3})?"
    listed = text[1:] if text[:1] and text[0] in "+#./;?&" else text
    return all(re.fullmatch(variable, one) for one in listed.split(","))


def is_json_pointer(text: str) -> bool:
    """RFC 6901, section 3."""
    return text[:1] in ("", "/") and "~" not in re.sub("~[01]", "", text)


def is_relative_json_pointer(text: str) -> bool:
    """The draft of relative JSON Pointers, section 3, without index manipulation."""
    rest = text.lstrip(_DIGITS)
    number = text[: len(text) - len(rest)]
    return bool(number) and (number == "0" or number[0] != "0") and (rest == "#" or is_json_pointer(rest))


ORACLES: Mapping[str, Callable[[str], bool]] = {
    "date": is_date,
    "time": is_time,
    "date-time": is_date_time,
    "duration": is_duration,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "uuid": is_uuid,
    "hostname": is_hostname,
    "idn-hostname": is_idn_hostname,
    "email": is_email,
    "idn-email": is_idn_email,
    "uri": lambda text: _reference(text, international=False, absolute=True),
    "uri-reference": lambda text: _reference(text, international=False, absolute=False),
    "iri": lambda text: _reference(text, international=True, absolute=True),
    "iri-reference": lambda text: _reference(text, international=True, absolute=False),
    "uri-template": is_uri_template,
    "json-pointer": is_json_pointer,
    "relative-json-pointer": is_relative_json_pointer,
}
"""The judge of each format."""
