"""Removes secrets from pasted texts: keys, tokens, passwords in addresses.

Two kinds of patterns find them: the form of a token, such as `sk-…`, and the name before a value, such as
`Authorization:`. A value that is a variable (`$KEY`, `os.environ["KEY"]`) is no secret. The mark that replaces one
matches no pattern, so a text that was cleaned stays as it is.

A pattern is only tried where one of its words is. In a short text, `str.find` finds them; in a long one, a table of
three characters of each word, which is looked up at every position at once: two megabytes take about 20 ms in place of
60, so a text can be cleaned while it is pasted or opened.

Rejected: a search for text of high entropy. It would remove ids and base64 images, which outputs and schemas contain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARK: Final = "(removed)"
_LONG: Final = 50_000  # characters of a text for which the table of words is faster
_PART: Final = 3
_LONGER: Final = "\u0130"  # the only character whose lower case has another length

_VALUE: Final = r"[^\s\"'\\,;&|<>\[\]{}()$`]"
_QUOTE: Final = r"\\*[\"']"
_SCHEMES: Final = "(?:bearer|basic|token|digest|apikey|key)"
_NO_CALL: Final = r"(?![\w.]*[(\[])"  # not `os.environ[`, and not the whole of a longer word


@dataclass(frozen=True, slots=True)
class _SecretRule:
    """A kind of secret.

    Attributes:
        words: the words, in lower case, at which the pattern begins.
        pattern: its group `secret` is removed.
    """

    words: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(words: str, pattern: str, flags: int = re.IGNORECASE) -> _SecretRule:
    return _SecretRule(tuple(words.split()), re.compile(pattern, flags))


_RULES: Final = (
    _rule("-----begin", r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>[\s\S]+?)(?=-----END|\Z)", 0),
    _rule("://", r"://(?P<secret>[^\s/@\"'<>?#\[\]()]{1,300})(?=@)"),
    _rule(
        "authorization",
        rf"authorization{_QUOTE}?\s*[:=]\s*+(?:f?{_QUOTE})?+\s*+(?:{_SCHEMES}\s+)?+"
        rf"(?P<secret>{_VALUE}[^\r\n\"'\\$<>]*)",
    ),
    _rule("bearer", rf"(?<![a-z])bearer\s+(?P<secret>{_VALUE}{{6,}})"),
    _rule("cookie:", r"(?<![a-z])cookie:[ \t]*(?P<secret>[^\r\n\"']+)"),
    _rule(
        """api_key api-key apikey access_token access-token accesstoken auth_token auth-token authtoken api_token
        api-token bearer_token secret_key secret-key secretkey client_secret client-secret secret_access_key
        subscription-key hf_token hf-token hub_token""",
        rf"[\w-]{{1,40}}?{_QUOTE}?\]?\s*[:=]\s*(?:\\*[\"'](?P<secret>(?!\$)[^\"'\\\r\n]+)|(?P<bare>{_VALUE}{{6,}}){_NO_CALL})",
    ),
    _rule(
        "-api-key -api_key -token -hf-token",
        rf"-(?:api[-_]key|(?:hf-)?token)\s+\\*[\"']?(?P<secret>{_VALUE}{{4,}}){_NO_CALL}",
    ),
    _rule(
        "_key _token _secret _password",
        rf"(?<=[A-Z0-9])_(?:KEY|TOKEN|SECRET|PASSWORD){_QUOTE}?\]?\s*[:=]\s*\\*[\"']?(?P<secret>{_VALUE}{{4,}}){_NO_CALL}",
        0,
    ),
    _rule(
        "key= token= sig= signature= auth= password=",
        r"(?<=[?&])(?:key|token|sig|signature|auth|password)=(?P<secret>[^\s&\"'#\[\]]{4,})",
    ),
    _rule(
        "-u --user --proxy-user",
        r"(?<=\s)(?:-u|--user|--proxy-user)(?:\s+|=)[\"']?(?P<secret>[^\s\"':\[]*:[^\s\"']+)",
        0,
    ),
    _rule(
        "sk-",
        r"(?<![A-Za-z0-9_-])(?P<secret>sk-(?:proj-|ant-|or-|svcacct-|admin-)?(?=[A-Za-z0-9_-]{0,60}\d)[A-Za-z0-9_-]{12,})",
        0,
    ),
    _rule(
        "hf_ gsk_ ghp_ gho_ ghu_ ghs_ ghr_ r8_ npm_ tgp_v1_ fw_",
        r"(?<![A-Za-z0-9_-])(?P<secret>(?:hf|gsk|gh[pousr]|r8|npm|tgp_v1|fw)_[A-Za-z0-9_-]{16,})",
        0,
    ),
    _rule("github_pat_", r"(?<![A-Za-z0-9_-])(?P<secret>github_pat_[A-Za-z0-9_]{20,})", 0),
    _rule(
        "glpat- nvapi- pplx- xai- csk- lsv2_pt_ pypi-",
        r"(?<![A-Za-z0-9_-])(?P<secret>(?:glpat-|nvapi-|pplx-|xai-|csk-|lsv2_pt_|pypi-)[A-Za-z0-9_-]{20,})",
        0,
    ),
    _rule(
        "akia asia abia acca", r"(?<![A-Za-z0-9_-])(?P<secret>(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})(?![A-Za-z0-9])", 0
    ),
    _rule("aiza", r"(?<![A-Za-z0-9_-])(?P<secret>AIza[0-9A-Za-z_-]{30,})", 0),
    _rule("ya29.", r"(?<![A-Za-z0-9_-])(?P<secret>ya29\.[0-9A-Za-z_-]{20,})", 0),
    _rule("xox", r"(?<![A-Za-z0-9_-])(?P<secret>xox[abeoprs]-[0-9A-Za-z-]{10,})", 0),
    _rule("eyj", r"(?<![A-Za-z0-9_-])(?P<secret>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,})", 0),
)


def remove_secrets(text: str) -> tuple[str, int]:
    """Return a text in which each secret is replaced by a mark, and the number of secrets."""
    lower = text.replace(_LONGER, "i").lower()
    spans = sorted(span for rule, starts in _word_starts(lower) for span in _found(_RULES[rule], text, starts))
    parts, at, count = [], 0, 0
    for start, end in spans:
        if end <= at:
            continue  # within the one before
        if start > at or count == 0:
            parts.append(text[at:start])
            parts.append(MARK)
            count += 1
        at = end
    parts.append(text[at:])
    return "".join(parts), count


def _found(rule: _SecretRule, text: str, starts: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the secrets of a rule, whose words begin at the given offsets."""
    end = 0
    for at in sorted(starts):
        match = rule.pattern.match(text, at) if at >= end else None
        if match is None:
            continue
        end = match.end()
        group = "secret" if match["secret"] is not None else "bare"
        if not match[group].lstrip().startswith(MARK):
            yield match.span(group)


def _word_starts(lower: str) -> Iterator[tuple[int, list[int]]]:
    """Yield the number of each rule with the offsets of its words, in no order."""
    found = defaultdict[int, list[int]](list)
    index = _index()
    for word, rule in index.short if len(lower) > _LONG else index.words:
        at = lower.find(word)
        while at >= 0:
            found[rule].append(at)
            at = lower.find(word, at + 1)
    if len(lower) > _LONG:
        for at in index.possible[_keys(lower)].nonzero()[0].tolist():
            for word, rule, offset in index.by_part.get(lower[at : at + _PART], ()):
                if lower.startswith(word, at - offset):
                    found[rule].append(at - offset)
    yield from found.items()


@dataclass(frozen=True, slots=True)
class _WordIndex:
    """The words of all rules.

    Attributes:
        words: each with the number of its rule.
        short: those that are shorter than a part.
        by_part: by a part of the others: the word, the number of its rule, and the offset of the part in it.
        possible: whether a part with a key of `_keys` is in a word.
    """

    words: tuple[tuple[str, int], ...]
    short: tuple[tuple[str, int], ...]
    by_part: dict[str, list[tuple[str, int, int]]]
    possible: NDArray[Any]


@cache
def _index() -> _WordIndex:
    import numpy as np  # start-up time: windows import this module

    words = tuple((word, number) for number, rule in enumerate(_RULES) for word in rule.words)
    by_part = defaultdict[str, list[tuple[str, int, int]]](list)
    possible = np.zeros(1 << 16, dtype=bool)
    for word, rule in words:
        if len(word) >= _PART:
            # Marks are rarer than letters.
            at = max(range(len(word) - _PART + 1), key=lambda at: (-sum(map(str.isalpha, word[at : at + _PART])), at))
            by_part[word[at : at + _PART]].append((word, rule, at))
            possible[_keys(word[at : at + _PART])] = True
    return _WordIndex(words, tuple(pair for pair in words if len(pair[0]) < _PART), dict(by_part), possible)


def _keys(lower: str) -> NDArray[Any]:
    """Return a number of 16 bits for the part of a text at each offset."""
    import numpy as np

    letters = np.frombuffer(lower.encode("ascii", "replace"), np.uint8).astype(np.uint16)
    return letters[:-2] * np.uint16(2531) + letters[1:-1] * np.uint16(59) + letters[2:]
