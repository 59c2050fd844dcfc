"""Simple rich text for labels: words, and code in the theme's colours."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from app import theme

_LONGEST_LINE = 40  # characters of code that are kept on one line
_MULTIPLE = re.compile(r"^ +| +$| {2,}")
_CODE = re.compile(r"(`+) ?(.+?) ?\1(?!`)")  # as in Markdown: code that contains backticks is delimited by more of them


def code(text: str, role: theme.Role = theme.Role.TEXT, *, struck: bool = False) -> str:
    """Return text as code, in HTML.

    Args:
        text: plain text.
        role: the colour.
        struck: whether it is struck through.
    """
    family = ", ".join(f"'{name}'" for name in theme.mono_font().families())
    colours = theme.current()
    style = f"font-family:{family}; color:{colours.hex(role)}; background-color:{colours.hex(theme.Role.GRID)};"
    inner = html.escape(text).replace("\t", "⇥").replace("\n", "↵ ")
    # A space must be visible at the ends and beside another one; in a long text, the others are where a line breaks.
    inner = _MULTIPLE.sub(_kept, inner) if len(text) > _LONGEST_LINE else inner.replace(" ", "&nbsp;")
    inner = f"<s>{inner}</s>" if struck else inner
    return f'<span style="{style}">&nbsp;{inner}&nbsp;</span>'


def _kept(spaces: re.Match[str]) -> str:
    return "&nbsp;" * len(spaces[0])


def words(text: str, role: theme.Role = theme.Role.TEXT, *, strong: bool = False) -> str:
    """Return text as words, in HTML.

    Args:
        text: plain text.
        role: the colour.
        strong: whether it is bold.
    """
    weight = " font-weight:600;" if strong else ""
    return f'<span style="color:{theme.current().hex(role)};{weight}">{html.escape(text)}</span>'


def prose(text: str, role: theme.Role = theme.Role.TEXT) -> str:
    """Return prose in which backticks delimit code, in a colour, as HTML."""
    parts, at = [], 0
    for found in _CODE.finditer(text):
        parts += [html.escape(text[at : found.start()]), code(found[2], role)]
        at = found.end()
    parts.append(html.escape(text[at:]))
    return "".join(parts).replace("\n", "<br>")


def bullets(lines: Sequence[str], role: theme.Role = theme.Role.TEXT) -> str:
    """Return a list of prose, in a colour, as HTML: a table, since the indent of Qt's lists is too wide."""
    rows = "".join(f"<tr><td>•&nbsp;</td><td>{prose(line, role)}</td></tr>" for line in lines)
    return f'<table cellspacing="0" cellpadding="1">{rows}</table>'
