"""Removes secrets from pasted texts: keys, tokens, passwords in addresses.

Two kinds of patterns find them: the form of a token, such as `sk-…`, and the name before a value, such as
`Authorization:`. A value that is a variable (`$KEY`, `os.environ["KEY"]`) is no secret. The mark that replaces one
matches no pattern, so a text that was cleaned stays as it is.

Rejected: a search for text of high entropy. It would remove ids and base64 images, which outputs and schemas contain.
"""

from __future__ import annotations

import re
from typing import Final

MARK: Final = "[removed]"

_VALUE: Final = r"[^\s\"'\\,;&|<>\[\]{}()$`]"
_QUOTE: Final = r"\\*[\"']"
_NAMES: Final = (
    r"(?:[\w-]*(?:api[_-]?key|apikey|access[_-]?token|auth[_-]?token|api[_-]?token|bearer[_-]?token|secret[_-]?key"
    r"|client[_-]?secret|secret[_-]?access[_-]?key|subscription-key|hf[_-]token|hub[_-]token)(?![\w-]))"
)
_ENVIRONMENT: Final = r"\b[A-Z][A-Z0-9_]*(?:_KEY|_TOKEN|_SECRET|_PASSWORD)"
_TOKENS: Final = (
    r"\bsk-(?:proj-|ant-|or-|svcacct-|admin-)?[A-Za-z0-9_-]{12,}",
    r"\b(?:hf|gsk|ghp|gho|ghu|ghs|ghr|r8|npm|tgp_v1|fw)_[A-Za-z0-9_-]{16,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\b(?:glpat|nvapi|pplx|xai|csk|voyage|jina|pypi|lsv2_pt|rpa)-?_?[A-Za-z0-9_-]{20,}",
    r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b",
    r"\bAIza[0-9A-Za-z_-]{30,}",
    r"\bya29\.[0-9A-Za-z_-]{20,}",
    r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}",
)
_PATTERNS: Final = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----()[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    # user:password@ in an address
    re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{1,20}://)[^\s/@\"'<>?#\[\]]{1,300}(?=@)"),
    # Authorization: Bearer …, as a header, a field of an object or an argument
    re.compile(
        rf"((?:proxy-)?authorization{_QUOTE}?\s*[:=]\s*(?:{_QUOTE})?\s*(?:(?:bearer|basic|token|digest|apikey|key)\s+)?)"
        rf"(?!bearer\s|basic\s|\[removed\])f?{_VALUE}[^\r\n\"'\\$<>]*",
        re.IGNORECASE,
    ),
    re.compile(rf"(\bbearer\s+){_VALUE}{{6,}}", re.IGNORECASE),
    re.compile(
        r"((?:^|[\"'\s-]H\s*[\"'])(?:set-)?cookie\s*:\s*)(?!\[removed\])[^\r\n\"']+", re.IGNORECASE | re.MULTILINE
    ),
    # api_key="…", "api_key": "…", --api-key …, x-api-key: …, ?api_key=…
    re.compile(rf"({_NAMES}{_QUOTE}?\s*[:=]\s*\\*[\"'])(?!\[removed\]|\$)[^\"'\\\r\n]+", re.IGNORECASE),
    re.compile(rf"({_NAMES}\s*[:=]\s*)(?!\[removed\]){_VALUE}{{6,}}(?![\w.]*[(\[])", re.IGNORECASE),
    re.compile(rf"(--?{_NAMES}\s+\\*[\"']?)(?!\[removed\]){_VALUE}+", re.IGNORECASE),
    re.compile(rf"({_ENVIRONMENT}{_QUOTE}?\]?\s*[:=]\s*\\*[\"']?)(?!\[removed\]|os\.|\$){_VALUE}{{4,}}(?![\w.]*[(\[])"),
    re.compile(r"([?&](?:key|token|sig|signature|access_token|auth|password)=)[^\s&\"'#\[\]]{4,}", re.IGNORECASE),
    # curl -u user:password
    re.compile(r"((?:\s-u|\s--user|\s--proxy-user)(?:\s+|=)[\"']?)(?!\[removed\])[^\s\"':]*:[^\s\"']+"),
    re.compile("()(?:" + "|".join(_TOKENS) + ")"),
)


def remove_secrets(text: str) -> tuple[str, int]:
    """Return a text in which each secret is replaced by a mark, and the number of secrets."""
    total = 0
    for pattern in _PATTERNS:
        text, count = pattern.subn(rf"\g<1>{MARK}", text)
        total += count
    return text, total
