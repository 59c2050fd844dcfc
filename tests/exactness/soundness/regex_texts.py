"""Regular expressions of both dialects, against their definition, `re` and the `regex` package.

The definition (see `patterns`) judges. Where `re` or `regex` contradicts it, that is recorded as a difference of the
oracles, and Turnstile is held against the definition all the same.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from collections.abc import Callable

import regex

from engine import CompileOptions, GrammarError, compile_grammar
from engine.source import Limits
from tests.exactness.soundness.patterns import DirectMatcher, Flags, Maker, Pattern, loops_within, texts, write
from tests.exactness.soundness.tally import Tally

TEXTS = 60
"""The number of texts for each pattern, before equal ones are left out."""

# What is refused because it is no set of strings; `re` takes it.
_REFUSED = frozenset(("regex-atomic", "regex-possessive"))
_LONGEST_BACKTRACKED = 6
"""The longest text that `re` and `regex` judge where loops are nested."""
_INVALID = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82")


def check_python(rng: random.Random, tally: Tally) -> None:
    """Make one pattern of Python's dialect and try some texts."""
    maker = Maker(rng, "python")
    letters, node = maker.pattern()
    source = (f"(?{letters})" if letters else "") + write(node)
    judges = _python_judges(source, letters, node)
    _check(rng, tally, maker, node, Flags("python").switched(letters), source, judges)


def check_ecma(rng: random.Random, tally: Tally) -> None:
    """Make one pattern of ECMAScript's dialect and try some texts."""
    maker = Maker(rng, "ecma")
    _, node = maker.pattern()
    _check(rng, tally, maker, node, Flags("ecma"), write(node), {})


def _check(
    rng: random.Random,
    tally: Tally,
    maker: Maker,
    node: Pattern,
    flags: Flags,
    source: str,
    judges: dict[str, Callable[[str], bool | None]],
) -> None:
    try:
        grammar = compile_grammar("regex", source, CompileOptions(dialect=flags.dialect, limits=Limits(search=20_000)))
    except GrammarError as error:
        codes = {finding.code for finding in error.diagnostics if finding.severity == "error"}
        if codes <= _REFUSED:
            tally.skip("refused: no set of strings")
        else:
            tally.differ("refused", "regex", source, "", f"dialect={flags.dialect}; {', '.join(sorted(codes))}")
        return
    direct = DirectMatcher(node, flags)
    longest = 24 if loops_within(node) < 2 else _LONGEST_BACKTRACKED
    for text in texts(rng, maker, node, flags, TEXTS):
        expected, accepted = direct.fullmatch(text), grammar.fullmatch(text)
        for name, judge in judges.items():
            other = judge(text) if len(text) <= longest else None
            if other is not None and other != expected:
                tally.oracles_differ("regex", source, text, f"{name} says {other}, the definition {expected}")
        if accepted == expected:
            tally.agree()
        else:
            kind = "false accept" if accepted else "false reject"
            tally.differ(kind, "regex", source, text, f"dialect={flags.dialect}; against the definition")
        broken = bytearray(text.encode())
        broken[rng.randint(0, len(broken)) : 0] = rng.choice(_INVALID)
        if grammar.fullmatch(bytes(broken)) and not _is_text(bytes(broken)):
            tally.differ("false accept", "regex", source, bytes(broken), f"dialect={flags.dialect}; no UTF-8")


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _python_judges(source: str, letters: str, node: Pattern) -> dict[str, Callable[[str], bool | None]]:
    judges: dict[str, Callable[[str], bool | None]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            by_re = re.compile(source)
        except re.error:  # a look-behind of several widths
            by_re = None
        if "a" in letters and "(?u" not in source:
            # The `regex` package has another Unicode version, and other characters in `\w`.
            by_regex = regex.compile(source, regex.VERSION0)
            judges["regex"] = lambda text: bool(by_regex.fullmatch(text)) if text.isascii() else None
    # See `patterns.matches_one`: `re` is wrong about capitals beyond U+FFFF in classes, which alternatives become, too.
    is_wrong = "i" in source and any(ord(character) > 0xFFFF for character in source)
    if by_re is not None and not is_wrong:
        # `\B` does not match the empty text before Python 3.14, against its description.
        no_empty = r"\B" in source and sys.version_info < (3, 14)
        judges["re"] = lambda text: None if no_empty and not text else bool(by_re.fullmatch(text))
    return judges
