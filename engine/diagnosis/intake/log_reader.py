"""Messages of servers and engines in logs, by the catalogue `resources/failures/messages.toml`.

Each message has a pattern, the cause that it is evidence for, the setting that changes it, and what the user should
paste next. Only lines that have the words of a message are searched, so a long log is read at the speed of `str.find`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from engine.diagnosis.case import LogFinding
from engine.diagnosis.intake.secrets import remove_secrets

_ECHO: Final = re.compile(r"\bReceived request\b|\bparams: SamplingParams\(")
"""A line that shows the request, whose fields are no messages."""
_LONGEST_LINE: Final = 4_000  # characters of a line that are searched
_MOST_FINDINGS: Final = 500
_SERVERS: Final = ("llama.cpp", "ollama", "vllm", "sglang")
_VERSIONS: Final = (
    (re.compile(r"^[ \t]*vLLM Version *: v?(?P<version>\d[\w.]*)", re.IGNORECASE | re.MULTILINE), "vllm"),
    (re.compile(r"vLLM API server version v?(?P<version>\d[\w.]*)", re.IGNORECASE), "vllm"),
    (re.compile(r"vLLM \(?(?:engine )?\(?v?(?P<version>\d+\.\d+[\w.]*)\)?", re.IGNORECASE), "vllm"),
    (re.compile(r"Initializing an? (?:V1 )?LLM engine \(v(?P<version>\d[\w.]*)\)"), "vllm"),
    (re.compile(r"sglang(?:\[all\])?(?:==| version:? )v?(?P<version>\d[\w.]*)", re.IGNORECASE), "sglang"),
    (re.compile(r"^(?:\w+ )?build: (?P<version>\d{3,5}) \([0-9a-f]{7,}\)", re.MULTILINE), "llama.cpp"),
    (re.compile(r"^version: (?P<version>\d{3,5}) \([0-9a-f]{7,}\)", re.MULTILINE), "llama.cpp"),
    (re.compile(r"ollama version is (?P<version>\d[\w.]*)"), "ollama"),
    (re.compile(r"msg=\"Listening on [^\"]*\(version (?P<version>\d[\w.]*)\)\""), "ollama"),
)


@dataclass(frozen=True, slots=True)
class KnownMessage:
    """A message of a server or an engine.

    Attributes:
        id: its name.
        engine: who writes it: a server, or a library that several servers use.
        cause: the cause that it is evidence for, as `engine.diagnosis.failures` names it; empty if it is only a hint.
        detail: the detail of the cause.
        sentence: the meaning of the message.
        setting: what to change.
        next: what to paste next.
        source: where the message was taken from.
        is_general: whether another message of a log says more precisely why it came.
        words: texts in lower case, one of which is in each line with the message.
        pattern: the regular expression that finds it; its named groups are the values of a finding.
    """

    id: str
    engine: str
    cause: str
    detail: str
    sentence: str
    setting: str
    next: str
    source: str
    is_general: bool
    words: tuple[str, ...]
    pattern: re.Pattern[str]


@cache
def known_messages() -> dict[str, KnownMessage]:
    """Return the catalogue by id, in the order in which the messages are searched."""
    text = (files("resources") / "failures" / "messages.toml").read_text("utf-8")
    return {name: _message(name, entry) for name, entry in tomllib.loads(text).items()}


def _message(name: str, entry: dict[str, Any]) -> KnownMessage:
    return KnownMessage(
        id=name,
        engine=entry["engine"],
        cause=entry["cause"],
        detail=entry.get("detail", ""),
        sentence=entry["sentence"],
        setting=entry["setting"],
        next=entry["next"],
        source=entry["source"],
        is_general=entry.get("general", False),
        words=tuple(entry["words"]),
        pattern=re.compile(entry["pattern"], re.IGNORECASE),
    )


def read_log(text: str) -> tuple[LogFinding, ...]:
    """Return the known messages of a log, in its order, but general ones last; a line has at most one."""
    found: list[LogFinding] = []
    seen: set[tuple[str, str]] = set()
    number, at = 1, 0
    for start in sorted(_candidates(text)):
        number, at = number + text.count("\n", at, start), start
        end = text.find("\n", start)
        line = text[start : min(len(text) if end < 0 else end, start + _LONGEST_LINE)]
        match = _first_match(line)
        if match is None:
            continue
        name, values = match
        clean = remove_secrets(line.strip())[0]
        if (name, clean) not in seen:
            seen.add((name, clean))
            found.append(LogFinding(name, number, clean, values))
        if len(found) == _MOST_FINDINGS:
            break
    return tuple(sorted(found, key=lambda one: known_messages()[one.message].is_general))


def _candidates(text: str) -> set[int]:
    """Return the offsets of the lines that may have a message."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose lower case is longer
        lower = "".join(char.lower() if char.isascii() else char for char in text)
    found: set[int] = set()
    for word in {word for message in known_messages().values() for word in message.words}:
        at = lower.find(word)
        while at >= 0:
            found.add(text.rfind("\n", 0, at) + 1)
            end = lower.find("\n", at)
            at = lower.find(word, end) if end >= 0 else -1
    return found


def _first_match(line: str) -> tuple[str, dict[str, str]] | None:
    if _ECHO.search(line) is not None:
        return None
    for message in known_messages().values():
        match = message.pattern.search(line)
        if match is not None:
            values = {name: value.strip() for name, value in match.groupdict().items() if value is not None}
            return message.id, values
    return None


def version_in_log(text: str) -> str:
    """Return the version of the server that a log names; empty if it names none."""
    for pattern, _ in _VERSIONS:
        match = pattern.search(text)
        if match is not None:
            return match["version"]
    return ""


def engine_of_log(findings: tuple[LogFinding, ...], text: str = "") -> str:
    """Return the server that wrote a log; empty if it cannot be seen.

    Args:
        findings: the messages that were recognised in it.
        text: the log.
    """
    for pattern, server in _VERSIONS:
        if pattern.search(text) is not None:
            return server
    engines = (known_messages()[one.message].engine for one in findings)
    return next((engine for engine in engines if engine in _SERVERS), "")
