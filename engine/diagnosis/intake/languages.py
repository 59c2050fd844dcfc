"""Programs and grammars that describe a format and are recognised but not run: Pydantic, Zod, TypeScript, Lark, EBNF.

The finding names the command that prints the schema. Programs and Lark are recognised by the form of their lines, since
there is no lexer of them. xgrammar's EBNF has the tokens of GBNF, and is read by its lexer.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from engine.notations import NOTATIONS
from engine.notations.gbnf.lexer import tokens

_PROGRAMS: Final = (
    ("pydantic", re.compile(r"^[ \t]*class (\w+)\((?:\w+\.)?(?:BaseModel|RootModel|SQLModel)\b", re.MULTILINE)),
    ("pydantic", re.compile(r"^[ \t]*class (\w+)\((?:\w+\.)?TypedDict\b", re.MULTILINE)),
    ("dataclass", re.compile(r"^@(?:\w+\.)?dataclass\b[^\n]*\n(?:@[^\n]*\n)*class (\w+)", re.MULTILINE)),
    ("zod", re.compile(r"(?:const|let|var)\s+(\w+)[^=\n]*=\s*z\s*\.\s*\w+\(")),
    ("zod", re.compile(r"\b(z)\.(?:object|array|enum|union|string|discriminatedUnion)\(")),
    ("typescript", re.compile(r"^[ \t]*(?:export\s+)?(?:declare\s+)?interface (\w+)[^\n{]*\{", re.MULTILINE)),
    ("typescript", re.compile(r"^[ \t]*(?:export\s+)?type (\w+)(?:<[^=\n]*>)?\s*=", re.MULTILINE)),
)
_COMMAND: Final = re.compile(
    r"\s*(?:[$>#%] )?(?:[A-Z_]+=\S+ +)*(?:vllm serve|python3? -m \S+|\S*llama-(?:server|cli)|ollama \w+|docker run"
    r"|(?:uv )?pip3? install|sglang \w+)\b[^\n]*"
)
_SERVERS: Final = {"vllm": "vllm", "sglang": "sglang", "llama-": "llama.cpp", "ollama": "ollama"}
_LARK_RULE: Final = re.compile(
    r"^[ \t]*[?!]?(?:[a-z_][a-z0-9_]*|[A-Z_][A-Z0-9_]*)(?:\.-?\d+)?[ \t]*:(?![:=])", re.MULTILINE
)
_LARK_SIGNS: Final = re.compile(
    r"^[ \t]*(?:%(?:import|ignore|declare|llguidance|regex|json)\b|\??start\b[^:\n]*:(?!:))", re.MULTILINE
)
_LOOKAHEAD: Final = "(="
_FUNCTIONS: Final = {"TagDispatch": "TagDispatch", "Token": "Token", "ExcludeToken": "Token", "Repeat": "Repeat"}
_BETWEEN: Final = frozenset(("blank", "line_end", "comment"))


def program_of(text: str) -> tuple[str, str] | None:
    """Return the kind of program that a text is, and the name of the format that it defines; None if it is none."""
    for kind, pattern in _PROGRAMS:
        found = pattern.search(text)
        if found is not None:
            return kind, found[1] if found[1] != "z" else "schema"
    return None


def server_of_command(text: str) -> str | None:
    """Return the server that a command starts, empty for another command; None if a text is no command."""
    found = _COMMAND.match(text)
    if found is None:
        return None
    return next((server for word, server in _SERVERS.items() if word in found[0]), "")


def is_lark(text: str) -> bool:
    """Return whether a text is a grammar of Lark, as llguidance reads it too."""
    if any(NOTATIONS["gbnf"].rule_starts(text)):
        return False
    return _LARK_SIGNS.search(text) is not None or len(_LARK_RULE.findall(text)) > 1


def xgrammar_constructs(text: str) -> list[str]:
    """Return the constructs of a grammar that xgrammar's EBNF has and GBNF has not."""
    rules = {name for name, _offset in NOTATIONS["gbnf"].rule_starts(text)}
    if not rules:
        return []
    found = set()
    for token, following in pairwise(token for token in tokens(text) if token.kind not in _BETWEEN):
        name = text[token.start : token.end]
        if token.kind == "name" and following.kind == "open" and name not in rules:
            found.add(_FUNCTIONS.get(name, ""))
        elif token.kind == "open" and text.startswith(_LOOKAHEAD, token.start):
            found.add(_LOOKAHEAD)
    return [construct for construct in dict.fromkeys((_LOOKAHEAD, *_FUNCTIONS.values())) if construct in found]
