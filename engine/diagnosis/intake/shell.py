"""Curl commands: the words of a line of a POSIX shell, of `cmd` or of PowerShell, and the request that they send.

Nothing is run and no file is read; a body in a file (`@file`) is named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

_START: Final = re.compile(r"^[ \t]*(?:\$ |> |% |PS [^>\n]*> )?(?:\w+=\S* )*curl(?:\.exe)?(?=\s)", re.MULTILINE)
_CONTINUED: Final = re.compile(r"[\\^`]\r?\n[ \t]*")
_HERE: Final = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n(.*?)\n[ \t]*\2(?:\n|$)", re.DOTALL)
_BODIES: Final = {"-d", "--data", "--data-raw", "--data-ascii", "--data-binary", "--json", "--data-urlencode"}
_WITH_VALUE: Final = {
    *("-X", "--request", "-H", "--header", "-u", "--user", "-o", "--output", "-A", "--user-agent", "-m", "--max-time"),
    *("-b", "--cookie", "-e", "--referer", "-x", "--proxy", "-w", "--write-out", "--connect-timeout", "--cacert"),
    *("-F", "--form", "-E", "--cert", "--key", "--retry", "-T", "--upload-file", "-c", "--cookie-jar"),
}
_ENDS: Final = {"|", ";", "&", "&&", "||", "\n"}
_ANSI: Final = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "e": "\x1b"}


@dataclass(frozen=True, slots=True)
class CurlCommand:
    """A curl command in a text.

    Attributes:
        url: the address.
        body: the request's body; empty if there is none.
        files: the names of files that the body is read from.
        before, after: the text around the command.
    """

    url: str = ""
    body: str = ""
    files: tuple[str, ...] = ()
    before: str = ""
    after: str = ""


@dataclass
class _Words:
    words: list[str] = field(default_factory=list)
    end: int = 0


def read_curl(text: str) -> CurlCommand | None:
    """Return the first curl command of a text; None if there is none."""
    start = _START.search(text)
    if start is None:
        return None
    before, rest = text[: start.start()], _CONTINUED.sub(" ", text[start.end() :])
    here = _HERE.search(rest)
    here_body = "" if here is None else here[3]
    if here is not None:
        rest = rest[: here.start()] + "\n" + rest[here.end() :]
    read = _split(rest)
    url, bodies, files = "", [], []
    words = iter(read.words)
    for word in words:
        option, equals, value = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
        if not word.startswith("-") or word == "-":
            url = url or word
        elif option in _BODIES or word in _BODIES:
            body = value if (equals or (value and not word.startswith("--"))) else next(words, "")
            if body.startswith("@") and option != "--data-raw":
                if body == "@-" and here_body:
                    bodies.append(here_body)
                else:
                    files.append(body[1:])
            else:
                bodies.append(unquote(body) if option == "--data-urlencode" else body)
        elif word == "--url":
            url = next(words, "")
        elif option == "--url":
            url = value
        elif word in _WITH_VALUE:
            next(words, "")
    return CurlCommand(url, "&".join(bodies), tuple(files), before, rest[read.end :])


def _split(text: str) -> _Words:
    """Return the words of a command up to its end, with the offset of the end."""
    read, at, word, is_open = _Words(), 0, "", False
    while at < len(text):
        char = text[at]
        if char in " \t" or char in _ENDS:
            if is_open:
                read.words.append(word)
                word, is_open = "", False
            if char in _ENDS:
                break
            at += 1
            continue
        is_open = True
        if char == "$" and text[at + 1 : at + 2] == "'":
            part, at = _ansi_quoted(text, at + 2)
        elif char == "'":
            part, at = _single_quoted(text, at + 1)
        elif char == '"':
            part, at = _double_quoted(text, at + 1)
        elif char == "\\" and at + 1 < len(text):
            part, at = text[at + 1], at + 2
        else:
            part, at = char, at + 1
        word += part
    if is_open:
        read.words.append(word)
    read.end = at
    return read


def _single_quoted(text: str, at: int) -> tuple[str, int]:
    end = text.find("'", at)
    end = len(text) if end < 0 else end
    return text[at:end], end + 1


def _double_quoted(text: str, at: int) -> tuple[str, int]:
    found = []
    while at < len(text) and text[at] != '"':
        if text[at] in "\\`" and text[at + 1 : at + 2] in ('"', "\\", "$", "`"):
            at += 1
        found.append(text[at])
        at += 1
    return "".join(found), at + 1


def _ansi_quoted(text: str, at: int) -> tuple[str, int]:
    found = []
    while at < len(text) and text[at] != "'":
        if text[at] == "\\" and at + 1 < len(text):
            code = re.compile(r"u([0-9a-fA-F]{1,4})|x([0-9a-fA-F]{1,2})").match(text, at + 1)
            if code is not None:
                found.append(chr(int(code[1] or code[2], 16)))
                at = code.end()
                continue
            at += 1
            found.append(_ANSI.get(text[at], "\\" + text[at]))
        else:
            found.append(text[at])
        at += 1
    return "".join(found), at + 1
