"""Find texts of the catalogue in what a test has read, by key and not by sentence."""

from __future__ import annotations

import re
from string import Formatter

from engine.source.catalogue import catalogue_entry


def shows(shown: str, key: str, /, **fields: object) -> bool:
    """Return whether a text contains a text of the catalogue.

    Args:
        shown: the text that is searched.
        key: the key of the text that is expected.
        fields: the values of its fields; a field that is not given may have any value.
    """
    return re.search(text_pattern(key, **fields), shown) is not None


def text_pattern(key: str, /, **fields: object) -> str:
    """Return a text of the catalogue as a regular expression, for the `match` of `pytest.raises`.

    Args:
        key: the key of the text; the first letter of the text may be in the other case.
        fields: the values of its fields; a field that is not given may have any value.
    """
    entry = catalogue_entry(key)
    assert fields.keys() <= entry.fields, f"{key} has the fields {sorted(entry.fields)}"
    forms = (form for form in (entry.other, entry.one) if form is not None)
    return "(?s:" + "|".join(_pattern(form, fields) for form in forms) + ")"


def _pattern(template: str, fields: dict[str, object]) -> str:
    parts = []
    for literal, name, form, _ in Formatter().parse(template):
        parts.append(re.escape(literal))
        if name is not None:
            parts.append(re.escape(format(fields[name], form or "")) if name in fields else ".*?")
    pattern = "".join(parts)
    return f"(?i:{template[0]}){pattern[1:]}" if template[:1].isalpha() else pattern
