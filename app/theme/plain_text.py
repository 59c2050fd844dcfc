"""Texts that Qt must not interpret as HTML.

Qt guesses whether the text of a tool tip is HTML (`Qt.mightBeRichText`) and then loads the images that it names. The
texts of grammars, models and files are not HTML, so an invisible character is inserted where Qt would see a tag.

Rejected: an event filter on the application, which Python would run for every event; escaping as HTML, which a screen
reader would read out.
"""

from __future__ import annotations

import re

from PySide6.QtGui import Qt

_JOINER = "\N{WORD JOINER}"  # no glyph, no width, no line break
_MARK = re.compile(r"[<&]")


def plain_text(text: str) -> str:
    """Return a text that Qt treats as plain text; most texts are returned unchanged."""
    return _MARK.sub(rf"\g<0>{_JOINER}", text) if Qt.mightBeRichText(text) else text
