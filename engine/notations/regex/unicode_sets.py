"""Sets of code points: those that a regular expression engine matches, Unicode properties, and closures under case.

**Matched sets.** `re` and `regex` have Unicode's tables in C. One search for runs over a text of all code points yields
a set's ranges in some milliseconds; testing each of the 1,114,112 code points from Python takes a hundred times as
long, and a copy of the tables would be a second source of truth.

**Case.** Two characters are equal when their keys are. The key of a character is

- for ASCII, its ASCII lower case;
- for Python, what `re` compares: the lower case, and lower-case characters that share an upper case are one (`s` and
  `ſ`, `µ` and `μ`; CPython, `Tools/build/generate_re_casefix.py`);
- for ECMAScript with u, simple case folding (CaseFolding.txt, statuses C and S). Python only offers full folding;
  where that gives one character it is status C, and where it gives several, status S is the simple lower case.

Few characters (some 2,900) share a key with another, so they are listed once, on first use, and a closure visits only
those in the set. They are all below U+20000; a later one in a new Unicode version would not be folded. The tables are
those of the running Python's Unicode version. Rejected: expanding each character to alternatives in the pattern's text.
It breaks inside classes, and spans would point at text that is not in the source.

**Properties.** The data comes from the `regex` package (its Unicode version, not Python's), which is imported with the
first property that a pattern uses. The `python` dialect accepts any name that `regex` accepts, with the same loose
matching. The `ecma` dialect accepts exactly what the standard lists: general categories (alone or as
`General_Category=`), `Script=`, `Script_Extensions=`, and the binary properties of table 67. Two differences: a
script's name must have the standard's capitals but is looked up loosely (so there is no list of scripts that becomes
outdated), and `Changes_When_NFKC_Casefolded` is unknown because `regex` lacks it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Final, Protocol

import numpy as np

from engine.grammar import CharSet
from engine.grammar.charset import LAST_CODE_POINT
from engine.source import counted_cache

SURROGATES = CharSet(((0xD800, 0xDFFF),))


class _Match(Protocol):
    def span(self) -> tuple[int, int]: ...


class RunPattern(Protocol):
    """A compiled pattern, of `re` or `regex`, that matches runs of the wanted characters."""

    def finditer(self, string: str, /) -> Iterator[_Match]:
        """Yield all runs, from left to right."""
        ...


@cache
def _every_code_point() -> str:
    codes = np.arange(LAST_CODE_POINT + 1, dtype="<u4")  # fifteen times as fast as joining characters
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def matched_by(runs: RunPattern) -> CharSet:
    """Return the code points that a pattern such as `\\w+` matches."""
    found = (match.span() for match in runs.finditer(_every_code_point()))
    return CharSet(tuple((start, end - 1) for start, end in found))


def literal(code: int) -> CharSet:
    """Return the set of one code point; ASCII characters, the most frequent ones, share one value each."""
    return _ASCII[code] if code < len(_ASCII) else CharSet(((code, code),))


_ASCII = tuple(CharSet(((code, code),)) for code in range(128))

# ---------------------------------------------------------------------- case

_CASED_END: Final = 0x20000
# Status S folds that Unicode 15.1 added between characters with the same full folding.
_LATE_FOLDS: Final[Mapping[int, int]] = {0xFB05: 0xFB06, 0x1FD3: 0x0390, 0x1FE3: 0x03B0}


class CaseFold(StrEnum):
    """Which characters are equal when case is ignored."""

    ASCII = "ascii"
    PYTHON = "python"
    SIMPLE = "simple"


class _Orbits:
    """The characters that share a key with others, and for each its group, as ranges."""

    def __init__(self, key: Callable[[int], int]) -> None:
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for code in range(_CASED_END):
            groups[key(code)].append(code)
        self._groups = {
            code: tuple((member, member) for member in group)
            for group in groups.values()
            if len(group) > 1
            for code in group
        }
        self._codes = sorted(self._groups)

    def close_under_case(self, characters: CharSet) -> CharSet:
        added: list[tuple[int, int]] = []
        for first, last in characters.ranges:
            for code in self._codes[bisect_left(self._codes, first) : bisect_right(self._codes, last)]:
                added.extend(self._groups[code])
        return CharSet.of((*characters.ranges, *added)) if added else characters


def _ascii_key(code: int) -> int:
    return code + 32 if 0x41 <= code <= 0x5A else code


def _lower(code: int) -> int:
    # `re` uses the first character if the lower case has several: İ is i.
    return ord(chr(code).lower()[0])


def _python_key() -> Callable[[int], int]:
    sharing: defaultdict[str, set[int]] = defaultdict(set)
    for code in range(_CASED_END):
        sharing[chr(code).upper()].add(_lower(code))
    representative = {low: min(group) for group in sharing.values() if len(group) > 1 for low in group}

    def key(code: int) -> int:
        low = _lower(code)
        return representative.get(low, low)

    return key


def _simple_key(code: int) -> int:
    if code in _LATE_FOLDS:
        return _LATE_FOLDS[code]
    folded = chr(code).casefold()
    if len(folded) > 1:
        folded = chr(code).lower()
    return ord(folded) if len(folded) == 1 else code


@cache
def _orbits(fold: CaseFold) -> _Orbits:
    match fold:
        case CaseFold.ASCII:
            return _Orbits(_ascii_key)
        case CaseFold.PYTHON:
            return _Orbits(_python_key())
        case CaseFold.SIMPLE:
            return _Orbits(_simple_key)


@counted_cache(maxsize=512)
def close_under_case(characters: CharSet, fold: CaseFold) -> CharSet:
    """Return all characters that equal one of the set when case is ignored."""
    return _orbits(fold).close_under_case(characters)


# ---------------------------------------------------------------------- properties

_LOOSE_NAME: Final = re.compile(r"\^?\s*[A-Za-z][\w .&\-]*(?:\s*[=:]\s*[\w .&/\-]+)?", re.ASCII)
_SCRIPT_VALUE: Final = re.compile(r"[A-Z][a-z]+(?:_[A-Z][a-z]+)*|SignWriting")

GENERAL_CATEGORIES: Final = frozenset(
    """
    Cased_Letter LC Close_Punctuation Pe Connector_Punctuation Pc Control Cc cntrl Currency_Symbol Sc Dash_Punctuation
    Pd Decimal_Number Nd digit Enclosing_Mark Me Final_Punctuation Pf Format Cf Initial_Punctuation Pi Letter L
    Letter_Number Nl Line_Separator Zl Lowercase_Letter Ll Mark M Combining_Mark Math_Symbol Sm Modifier_Letter Lm
    Modifier_Symbol Sk Nonspacing_Mark Mn Number N Open_Punctuation Ps Other C Other_Letter Lo Other_Number No
    Other_Punctuation Po Other_Symbol So Paragraph_Separator Zp Private_Use Co Punctuation P punct Separator Z
    Space_Separator Zs Spacing_Mark Mc Surrogate Cs Symbol S Titlecase_Letter Lt Unassigned Cn Uppercase_Letter Lu
    """.split()
)
BINARY_PROPERTIES: Final = frozenset(
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
        if key in GENERAL_CATEGORIES:
            return _property_set(f"General_Category={key}")
        return _property_set(key) if key in BINARY_PROPERTIES else None
    if key in {"General_Category", "gc"}:
        return _property_set(f"General_Category={value}") if value in GENERAL_CATEGORIES else None
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
def property_suggestion(name: str) -> str | None:
    """Return the standard name of a property for another name of it, if there is one."""
    wanted = _bare(name)
    for known in sorted(GENERAL_CATEGORIES | BINARY_PROPERTIES):
        if _bare(known) == wanted:
            return known
    value = re.sub(r"^(?:is|script|sc)[=: ]?", "", name, flags=re.IGNORECASE)
    script = f"Script={re.sub('[ -]', '_', value).title()}"
    return script if strict_property(script) is not None else None


def _bare(name: str) -> str:
    return re.sub(r"[\W_]|^is", "", name.lower())
