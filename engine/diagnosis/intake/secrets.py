"""Removes secrets from pasted texts: keys, tokens, passwords in addresses.

Two kinds of patterns find them: the form of a token, such as `sk-…`, and the name before a value, such as
`Authorization:`. A value that is a variable (`$KEY`, `os.environ["KEY"]`) is no secret. The mark that replaces one
matches no pattern, so a text that was cleaned stays as it is.

A pattern is only tried where one of its words is, which `str.find` finds: a megabyte takes milliseconds, so a text can
be cleaned while it is pasted.

Rejected: a search for text of high entropy. It would remove ids and base64 images, which outputs and schemas contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MARK: Final = "(removed)"

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
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose lower case is longer
        lower = "".join(char.lower() if char.isascii() else char for char in text)
    spans = sorted(span for rule in _RULES for span in _found(rule, text, lower))
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


def _found(rule: _SecretRule, text: str, lower: str) -> Iterator[tuple[int, int]]:
    for word in rule.words:
        at = lower.find(word)
        while at >= 0:
            match = rule.pattern.match(text, at)
            if match is not None:
                group = "secret" if match["secret"] is not None else "bare"
                if not match[group].lstrip().startswith(MARK):
                    yield match.span(group)
            at = lower.find(word, at + 1 if match is None else match.end())
