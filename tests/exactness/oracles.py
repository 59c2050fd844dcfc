"""Who says what is right, and knows nothing of this engine: `jsonschema` for schemas, `regex` for patterns.

Both differ from the standards in places; each difference stands here with its
reason, and what it touches is not judged.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from decimal import Context, Decimal, DecimalException, localcontext
from functools import cache
from typing import Any

import jsonschema
import regex

Verdict = Callable[[str], bool]
"""Whether a text is right."""


class UnjudgedError(Exception):
    """The oracle cannot tell, and why."""


# What jsonschema asserts without further packages, at least as strictly as the standard. Not `regex`, which is Python's
# there, nor what it leaves to packages that are not ours: those are held against the official suite alone.
FORMATS = ("date", "email", "ipv4", "ipv6", "uuid")


_EXPONENT_DIGITS = 3
_EXACT = Context(prec=3000)  # digits enough for a remainder of such numbers


def _is_integer(_: object, value: Any) -> bool:
    """1.0 is an integer, also where it is no float: numbers are read as decimals, so that they are exact."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, Decimal) and value == value.to_integral_value())


@cache
def _validator_class(base: type) -> Any:
    # `dependencies` is enforced in every draft here, as the suite allows; jsonschema knows it up to draft 7.
    dependencies = jsonschema.Draft7Validator.VALIDATORS["dependencies"]
    keywords = {"dependencies": base.VALIDATORS.get("dependencies", dependencies), "uniqueItems": _unique_items}
    return jsonschema.validators.extend(base, keywords, type_checker=base.TYPE_CHECKER.redefine("integer", _is_integer))


def _unique_items(_: Any, wanted: bool, items: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    """jsonschema's own sorts and compares neighbours; 1 and true sort alike, so [[1], [true], [1]] passes there."""
    if wanted and isinstance(items, list) and len({_identity(item) for item in items}) < len(items):
        yield jsonschema.ValidationError("two items are equal")


def _identity(value: Any) -> Hashable:
    """The same for equal JSON values, and only for those."""
    match value:
        case list():
            return "array", tuple(_identity(item) for item in value)
        case dict():
            return "object", frozenset((key, _identity(item)) for key, item in value.items())
        case bool() | None:
            return "word", value
        case _:
            return value


def schema_verdict(schema: Any) -> Verdict:
    """Judges JSON texts by a schema.

    Raises:
        UnjudgedError: a pattern in it is none of Python's.
    """
    patterns = _patterns(schema)
    for pattern in patterns:
        _check_pattern(pattern)
    # In JSON Schema, whose patterns are ECMAScript's, \d and \w are ASCII and \s holds U+FEFF. In Python neither is so.
    ascii_only = any(re.search(r"\\[sSdDwWbB]", pattern) for pattern in patterns)
    base = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    validator = _validator_class(base)(schema, format_checker=jsonschema.FormatChecker(FORMATS))

    def is_right(text: str) -> bool:
        try:
            value = read_json(text)
            if ascii_only and not json.dumps(value, ensure_ascii=False, default=str).isascii():
                raise UnjudgedError("a class of a pattern means another thing to Python")
            with localcontext(_EXACT), warnings.catch_warnings(action="ignore", category=FutureWarning):
                return bool(validator.is_valid(value))
        except DecimalException as error:
            raise UnjudgedError("a number is beyond Python's decimals") from error
        except RecursionError as error:
            raise UnjudgedError("jsonschema recurses without end") from error
        except re.error as error:
            raise UnjudgedError("a pattern is none of Python's") from error

    return is_right


def regex_verdict(pattern: str) -> Verdict:
    """Return a judge of texts by a regular expression: `re`, and the `regex` package for what `re` does not compile.

    Raises:
        UnjudgedError: the pattern is none of the `regex` package's, or means something else there.
    """
    with suppress(re.error, OverflowError, RecursionError), warnings.catch_warnings(action="ignore"):
        compiled = re.compile(pattern)
        return lambda text: compiled.fullmatch(text) is not None
    if "[[:" in pattern:
        raise UnjudgedError("the judge knows POSIX classes, and Python has none")
    try:
        other = regex.compile(pattern, regex.VERSION0)
    except (regex.error, ValueError) as error:
        raise UnjudgedError("the pattern is none of the judge's") from error
    differs = re.search(r"\\[sSdDwWbB]", pattern) is not None

    def is_right(text: str) -> bool:
        if differs and not text.isascii():
            raise UnjudgedError("the judge's classes hold other characters, such as combining marks in `\\w`")
        return other.fullmatch(text) is not None

    return is_right


def read_json(text: str) -> Any:
    """The value of a JSON text, numbers exact.

    Raises:
        ValueError: it is no JSON.
        UnjudgedError: a number is out of reach.
    """
    return json.loads(text, parse_float=_decimal, parse_constant=_no_constant)


def without_formats(schema: Any) -> Any:
    """The schema with `format` an annotation everywhere, so that both sides leave it out."""
    if isinstance(schema, list):
        return [without_formats(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # Only a text is the keyword: a property may be called so too, and then it has a schema.
    return {
        key: value if key in DATA else without_formats(value)
        for key, value in schema.items()
        if not (key == "format" and isinstance(value, str))
    }


DATA = {"const", "enum", "default", "examples", "required"}
"""Keywords whose values are data, not schemas."""


def _patterns(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [pattern for item in schema for pattern in _patterns(item)]
    if not isinstance(schema, dict):
        return []
    found = [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
    keys = schema.get("patternProperties")
    found += list(keys) if isinstance(keys, dict) else []
    return found + [pattern for key, value in schema.items() if key not in DATA for pattern in _patterns(value)]


def _check_pattern(pattern: str) -> None:
    if re.search(r"\\[cCpPZAz]", pattern):
        raise UnjudgedError("a pattern is none of Python's")
    try:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # `--` in a class may change its meaning
            re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise UnjudgedError("a pattern is none of Python's") from error


def _decimal(text: str) -> Decimal:
    """Exact; where the exponent is large, arithmetic would take hours."""
    _, _, exponent = text.lower().partition("e")
    if len(exponent.lstrip("+-0")) > _EXPONENT_DIGITS:
        raise UnjudgedError("a number is beyond Python's decimals")
    return Decimal(text)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
