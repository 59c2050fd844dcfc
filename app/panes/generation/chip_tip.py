"""The tool tip of a step, with a table of the model's top tokens."""

from __future__ import annotations

import html

from app import theme
from app.display_text import percent, token_text
from app.theme.plain_text import plain_text
from app.widgets.rich_text import code
from engine.decoding.values import Step, TopToken

Role = theme.Role
_BAR = 72  # pixels of a probability of 1


def tip_with_favourites(text: str, step: Step) -> str:
    """Return a tool tip: lines of text, and the model's top tokens at the step if they were kept."""
    if not step.top:
        return plain_text(text)
    rows = "".join(_row(one, taken=one.token_id == step.token_id) for one in step.top)
    lines = html.escape(text).replace("\n", "<br>")
    return f"<qt>{lines}<br><br>The model's favourites:<table cellspacing='0' cellpadding='2'>{rows}</table></qt>"


def _row(one: TopToken, *, taken: bool) -> str:
    theme_now = theme.current()
    role = Role.TEXT if one.allowed else Role.MUTED
    bar = max(1, round(_BAR * one.p))
    colour = theme_now.hex(Role.BAR_MASKED if one.allowed else Role.BAR_MODEL)
    token = code(token_text(one.token, one.name, one.token_id), role, struck=not one.allowed)
    verdict = "taken" if taken else "" if one.allowed else "not allowed"
    share = html.escape(percent(one.p))
    strip = f"<tr><td width='{bar}' height='9' bgcolor='{colour}'></td></tr>"
    return (
        f"<tr><td>{token}</td><td align='right'>&nbsp;{share}&nbsp;</td><td width='{_BAR + 8}' valign='middle'>"
        f"<table cellspacing='0' cellpadding='0'>{strip}</table></td><td>{verdict}</td></tr>"
    )
