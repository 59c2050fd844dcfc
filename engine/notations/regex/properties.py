"""Unicode properties: `\\p{…}` to a set of characters.

The data comes from the `regex` package (its Unicode version, not Python's), which is imported with the first property
that a pattern uses.

The `python` dialect accepts any name that `regex` accepts, with the same loose matching. The `ecma` dialect accepts
exactly what the standard lists: general categories (alone or as `General_Category=`), `Script=`, `Script_Extensions=`,
and the binary properties of table 67. Two differences: a script's name must have the standard's capitals but is looked
up loosely (so there is no list of scripts that becomes outdated), and `Changes_When_NFKC_Casefolded` is unknown because
`regex` lacks it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from engine.grammar import CharSet
from engine.notations.regex.codepoints import matched_by

_LOOSE_NAME: Final = re.compile(r"\^?\s*[A-Za-z][\w .&\-]*(?:\s*[=:]\s*[\w .&/\-]+)?", re.ASCII)
_SCRIPT_VALUE: Final = re.compile(r"[A-Z][a-z]+(?:_[A-Z][a-z]+)*|SignWriting")

_GENERAL_CATEGORIES: Final = frozenset(
    """
    Cased_Letter LC Close_Punctuation Pe Connector_Punctuation Pc Control Cc cntrl Currency_Symbol Sc Dash_Punctuation
    Pd Decimal_Number Nd digit Enclosing_Mark Me Final_Punctuation Pf Format Cf Initial_Punctuation Pi Letter L
    Letter_Number Nl Line_Separator Zl Lowercase_Letter Ll Mark M Combining_Mark Math_Symbol Sm Modifier_Letter Lm
    Modifier_Symbol Sk Nonspacing_Mark Mn Number N Open_Punctuation Ps Other C Other_Letter Lo Other_Number No
    Other_Punctuation Po Other_Symbol So Paragraph_Separator Zp Private_Use Co Punctuation P punct Separator Z
    Space_Separator Zs Spacing_Mark Mc Surrogate Cs Symbol S Titlecase_Letter Lt Unassigned Cn Uppercase_Letter Lu
    """.split()
)
_BINARY_PROPERTIES: Final = frozenset(
    """
    ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C Bidi_Mirrored Bidi_M Case_Ignorable CI
    Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased CWL
    Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash Default_Ignorable_Code_Point DI Deprecated Dep
    Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod Emoji_Modifier_Base EBase Emoji_Presentation EPres
    Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext Hex_Digit Hex
    IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start IDS Ideographic Ideo Join_Control
    Join_C Logical_Order_Exception LOE Lowercase Lower Math Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn
    Pattern_White_Space Pat_WS Quotation_Mark QMark Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted
    SD Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS White_Space space
    XID_Continue XIDC XID_Start XIDS
    """.split()
)


@cache
def loose_property(name: str, *, ignore_case: bool) -> CharSet | None:
    """Return the set that `regex` defines for `\\p{name}`, also under `(?i)`; `None` for an unknown property."""
    if not _LOOSE_NAME.fullmatch(name):
        return None
    return _property_set(name, ignore_case=ignore_case)


@cache
def strict_property(name: str) -> CharSet | None:
    """Return the set that ECMAScript defines for `\\p{name}`; `None` for an unknown property."""
    key, equals, value = name.partition("=")
    if not equals:
        if key in _GENERAL_CATEGORIES:
            return _property_set(f"General_Category={key}")
        return _property_set(key) if key in _BINARY_PROPERTIES else None
    if key in {"General_Category", "gc"}:
        return _property_set(f"General_Category={value}") if value in _GENERAL_CATEGORIES else None
    if key in {"Script", "sc", "Script_Extensions", "scx"} and _SCRIPT_VALUE.fullmatch(value):
        return _property_set(f"{key}={value}")
    return None


def _property_set(name: str, *, ignore_case: bool = False) -> CharSet | None:
    import regex

    try:
        runs = regex.compile(rf"\p{{{name}}}+", regex.IGNORECASE if ignore_case else 0)
    except regex.error:
        return None
    return matched_by(runs)


@cache
def suggestion(name: str) -> str | None:
    """Return the standard name of a property for another name of it, if there is one."""
    wanted = _bare(name)
    for known in sorted(_GENERAL_CATEGORIES | _BINARY_PROPERTIES):
        if _bare(known) == wanted:
            return known
    value = re.sub(r"^(?:is|script|sc)[=: ]?", "", name, flags=re.IGNORECASE)
    script = f"Script={re.sub('[ -]', '_', value).title()}"
    return script if strict_property(script) is not None else None


def _bare(name: str) -> str:
    return re.sub(r"[\W_]|^is", "", name.lower())
