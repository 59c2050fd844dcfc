"""Colours by role, in a light and a dark theme.

A widget requests a colour by its *meaning* ("live", "forbidden"), never by a value, so that every pane supports both
themes and later ones. Foreground roles keep a contrast of at least 4.5:1 against `WINDOW`, `PANEL` and their own
`*_FILL` in both themes (tests compute it, by WCAG 2.1). No colour is the only cue: a forbidden token is also struck
through, a live state also has a thicker outline.

Rejected: deriving one theme from the other by inverting lightness. Tints on a dark background need more chroma than an
inversion leaves them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from PySide6.QtGui import QColor

ThemeName = Literal["light", "dark"]
PaletteName = Literal["standard", "safe", "contrast"]


class Role(StrEnum):
    """The purpose of a colour."""

    WINDOW = "window"  # behind everything: toolbar, status bar, gaps
    PANEL = "panel"  # the background of a pane: editor, tables, canvas
    RAISED = "raised"  # buttons, chips, headers, inactive nodes
    BORDER = "border"
    TEXT = "text"
    MUTED = "muted"  # secondary text, labels, empty states
    DISABLED = "disabled"
    ACCENT = "accent"  # the primary button, focus, links
    ON_ACCENT = "on-accent"
    LIVE = "live"  # the live states
    LIVE_FILL = "live-fill"
    ALLOWED = "allowed"
    ALLOWED_FILL = "allowed-fill"
    FORBIDDEN = "forbidden"
    FORBIDDEN_FILL = "forbidden-fill"
    FORCED = "forced"  # the only legal continuation
    FORCED_FILL = "forced-fill"
    ERROR = "error"
    ERROR_FILL = "error-fill"
    WARNING = "warning"
    WARNING_FILL = "warning-fill"
    HINT = "hint"
    HINT_FILL = "hint-fill"
    TARGET = "target"  # what an engine treats otherwise than the standard
    TARGET_FILL = "target-fill"
    HOVER = "hover"  # fill of the hovered item, and of its source span
    SELECTION = "selection"  # fill of a selection; text stays TEXT
    BAR_MODEL = "bar-model"  # the model's probability, before the mask
    BAR_MASKED = "bar-masked"  # the probability after the mask
    GRID = "grid"
    NOTE_RED = "note-red"  # the colours that a user may give to a state; text on them stays TEXT
    NOTE_YELLOW = "note-yellow"
    NOTE_GREEN = "note-green"
    NOTE_TEAL = "note-teal"
    NOTE_BLUE = "note-blue"
    NOTE_PURPLE = "note-purple"
    SYNTAX_LITERAL = "syntax-literal"
    SYNTAX_CLASS = "syntax-class"
    SYNTAX_ESCAPE = "syntax-escape"
    SYNTAX_QUANTIFIER = "syntax-quantifier"
    SYNTAX_GROUP = "syntax-group"
    SYNTAX_OPERATOR = "syntax-operator"
    SYNTAX_ANCHOR = "syntax-anchor"
    SYNTAX_NAME = "syntax-name"
    SYNTAX_COMMENT = "syntax-comment"


NOTE_COLOURS = (
    Role.NOTE_RED,
    Role.NOTE_YELLOW,
    Role.NOTE_GREEN,
    Role.NOTE_TEAL,
    Role.NOTE_BLUE,
    Role.NOTE_PURPLE,
)
"""The colours of states, in the order in which they are offered."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A complete set of colours."""

    name: ThemeName
    values: Mapping[Role, str]
    _colours: Mapping[str, QColor] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Parsed once: a table requests some hundred colours in each paint.
        object.__setattr__(self, "_colours", {role.value: QColor(value) for role, value in self.values.items()})

    def colour(self, role: Role | str) -> QColor:
        """Return the colour of a role, given as `Role.LIVE` or as `"live"`; a copy, since a `QColor` can be changed."""
        return QColor(self._colours[role])

    def hex(self, role: Role | str) -> str:
        """Return a colour as `#rrggbb`, for style sheets and HTML."""
        return self.values[Role(role)]


LIGHT = Theme(
    "light",
    MappingProxyType(
        {
            Role.WINDOW: "#f3f4f7",
            Role.PANEL: "#ffffff",
            Role.RAISED: "#f8f9fb",
            Role.BORDER: "#d5d9e2",
            Role.TEXT: "#1a1e27",
            Role.MUTED: "#586173",
            Role.DISABLED: "#9aa2b1",
            Role.ACCENT: "#2f54c8",
            Role.ON_ACCENT: "#ffffff",
            Role.LIVE: "#9a4a00",
            Role.LIVE_FILL: "#ffe9c9",
            Role.ALLOWED: "#17694a",
            Role.ALLOWED_FILL: "#dcf3e7",
            Role.FORBIDDEN: "#a3323f",
            Role.FORBIDDEN_FILL: "#fbe6e8",
            Role.FORCED: "#6b3aa8",
            Role.FORCED_FILL: "#eee4fa",
            Role.ERROR: "#b3261e",
            Role.ERROR_FILL: "#fce8e6",
            Role.WARNING: "#7f5300",
            Role.WARNING_FILL: "#fff1cf",
            Role.HINT: "#1f5d96",
            Role.HINT_FILL: "#e2effa",
            Role.TARGET: "#0b6a74",
            Role.TARGET_FILL: "#ddf1f3",
            Role.HOVER: "#e4eafb",
            Role.SELECTION: "#cbd8fb",
            Role.BAR_MODEL: "#7c879d",
            Role.BAR_MASKED: "#2f8f68",
            Role.GRID: "#e6e9ef",
            Role.NOTE_RED: "#f7c3c8",
            Role.NOTE_YELLOW: "#f6dd86",
            Role.NOTE_GREEN: "#b9e6c9",
            Role.NOTE_TEAL: "#aee4e6",
            Role.NOTE_BLUE: "#bcdaf8",
            Role.NOTE_PURPLE: "#dcc8f6",
            Role.SYNTAX_LITERAL: "#1a1e27",
            Role.SYNTAX_CLASS: "#17694a",
            Role.SYNTAX_ESCAPE: "#1f5d96",
            Role.SYNTAX_QUANTIFIER: "#9a4a00",
            Role.SYNTAX_GROUP: "#6b3aa8",
            Role.SYNTAX_OPERATOR: "#a3323f",
            Role.SYNTAX_ANCHOR: "#0b6a74",
            Role.SYNTAX_NAME: "#2f54c8",
            Role.SYNTAX_COMMENT: "#626b7c",
        }
    ),
)

DARK = Theme(
    "dark",
    MappingProxyType(
        {
            Role.WINDOW: "#16181d",
            Role.PANEL: "#1d2026",
            Role.RAISED: "#262a32",
            Role.BORDER: "#363b46",
            Role.TEXT: "#e6e8ee",
            Role.MUTED: "#a0a8b8",
            Role.DISABLED: "#646c7b",
            Role.ACCENT: "#8fabff",
            Role.ON_ACCENT: "#10131a",
            Role.LIVE: "#ffb95e",
            Role.LIVE_FILL: "#47341a",
            Role.ALLOWED: "#6fd3a4",
            Role.ALLOWED_FILL: "#1b3a2d",
            Role.FORBIDDEN: "#f1929b",
            Role.FORBIDDEN_FILL: "#40242a",
            Role.FORCED: "#c9a6f7",
            Role.FORCED_FILL: "#35284a",
            Role.ERROR: "#ff9a92",
            Role.ERROR_FILL: "#452523",
            Role.WARNING: "#f0c262",
            Role.WARNING_FILL: "#3f341a",
            Role.HINT: "#8cc3f5",
            Role.HINT_FILL: "#1e3346",
            Role.TARGET: "#6cc9d4",
            Role.TARGET_FILL: "#17373b",
            Role.HOVER: "#2b3347",
            Role.SELECTION: "#34466f",
            Role.BAR_MODEL: "#7d8799",
            Role.BAR_MASKED: "#57b98b",
            Role.GRID: "#2b2f38",
            Role.NOTE_RED: "#6e2d38",
            Role.NOTE_YELLOW: "#5e4a10",
            Role.NOTE_GREEN: "#1f573d",
            Role.NOTE_TEAL: "#17545b",
            Role.NOTE_BLUE: "#234d78",
            Role.NOTE_PURPLE: "#4e3679",
            Role.SYNTAX_LITERAL: "#e6e8ee",
            Role.SYNTAX_CLASS: "#6fd3a4",
            Role.SYNTAX_ESCAPE: "#8cc3f5",
            Role.SYNTAX_QUANTIFIER: "#ffb95e",
            Role.SYNTAX_GROUP: "#c9a6f7",
            Role.SYNTAX_OPERATOR: "#f1929b",
            Role.SYNTAX_ANCHOR: "#6cc9d4",
            Role.SYNTAX_NAME: "#8fabff",
            Role.SYNTAX_COMMENT: "#98a0b0",
        }
    ),
)

# --- palettes --------------------------------------------------------------------------------------------------------
#
# Each replaces some colours of a theme. Those for colour blindness differ by at least 14 (CIE 1976) with each kind,
# those with a meaning by 24; a search from blue, orange and purple found them. Those of high contrast are the theme's,
# moved away from its grounds until texts have 7:1.

_SAFE_LIGHT = {
    Role.ALLOWED: "#0e5abd",
    Role.FORBIDDEN: "#b24700",
    Role.ERROR: "#a20a39",
    Role.WARNING: "#7a5c00",
    Role.LIVE: "#650c00",
    Role.FORCED: "#6f1b74",
    Role.BAR_MASKED: "#3486c9",
    Role.HINT: "#396ca3",
    Role.TARGET: "#00695c",
    Role.NOTE_RED: "#ebb79a",
    Role.NOTE_YELLOW: "#f7e27a",
    Role.NOTE_GREEN: "#b8e0c8",
    Role.NOTE_TEAL: "#a2e3ed",
    Role.NOTE_BLUE: "#99b1cf",
    Role.NOTE_PURPLE: "#dbb9ff",
    Role.ALLOWED_FILL: "#e0eaf6",
    Role.FORBIDDEN_FILL: "#f5e7de",
    Role.ERROR_FILL: "#f3dfe5",
    Role.WARNING_FILL: "#eeeade",
    Role.LIVE_FILL: "#ebdfde",
    Role.FORCED_FILL: "#ece1ed",
    Role.HINT_FILL: "#e5ecf3",
    Role.TARGET_FILL: "#deecea",
}

_CONTRAST_LIGHT = {
    Role.WINDOW: "#ffffff",
    Role.RAISED: "#f1f3f6",
    Role.BORDER: "#5b6270",
    Role.TEXT: "#000000",
    Role.MUTED: "#333a47",
    Role.GRID: "#a3a9b5",
    Role.HOVER: "#d3ddfa",
    Role.SELECTION: "#b9c9fa",
    Role.ACCENT: "#2949ae",
    Role.LIVE: "#7b3b00",
    Role.ALLOWED: "#13583e",
    Role.FORBIDDEN: "#8a2a35",
    Role.FORCED: "#5e3394",
    Role.ERROR: "#952019",
    Role.WARNING: "#6f4800",
    Role.HINT: "#1b5082",
    Role.TARGET: "#09565e",
    Role.BAR_MODEL: "#626d84",
    Role.BAR_MASKED: "#287b59",
    Role.SYNTAX_LITERAL: "#000000",
    Role.SYNTAX_CLASS: "#145c41",
    Role.SYNTAX_ESCAPE: "#1c5487",
    Role.SYNTAX_QUANTIFIER: "#823e00",
    Role.SYNTAX_GROUP: "#6637a0",
    Role.SYNTAX_OPERATOR: "#922d38",
    Role.SYNTAX_ANCHOR: "#095961",
    Role.SYNTAX_NAME: "#2949ae",
    Role.SYNTAX_COMMENT: "#4b515e",
}

_SAFE_DARK = {
    Role.ALLOWED: "#a3d2ef",
    Role.FORBIDDEN: "#fd9657",
    Role.ERROR: "#fe897f",
    Role.WARNING: "#fff17e",
    Role.LIVE: "#ffc527",
    Role.FORCED: "#c598fc",
    Role.BAR_MASKED: "#3d9ad8",
    Role.HINT: "#a8c8f0",
    Role.TARGET: "#60d0c0",
    Role.NOTE_RED: "#6e2d20",
    Role.NOTE_YELLOW: "#5f540e",
    Role.NOTE_GREEN: "#1b6145",
    Role.NOTE_TEAL: "#013e44",
    Role.NOTE_BLUE: "#194796",
    Role.NOTE_PURPLE: "#4d149e",
    Role.ALLOWED_FILL: "#3a4752",
    Role.FORBIDDEN_FILL: "#4e3a31",
    Role.ERROR_FILL: "#4e373a",
    Role.WARNING_FILL: "#4f4e39",
    Role.LIVE_FILL: "#4f4426",
    Role.FORCED_FILL: "#423a55",
    Role.HINT_FILL: "#3c4552",
    Role.TARGET_FILL: "#2c4748",
}

_CONTRAST_DARK = {
    Role.WINDOW: "#000000",
    Role.PANEL: "#000000",
    Role.RAISED: "#15181e",
    Role.BORDER: "#9aa1ae",
    Role.TEXT: "#ffffff",
    Role.MUTED: "#ced3dd",
    Role.GRID: "#565c68",
    Role.HOVER: "#263a6b",
    Role.SELECTION: "#2f4a8f",
    Role.LIVE: "#ffbc64",
    Role.ALLOWED: "#7ad6ab",
    Role.FORBIDDEN: "#f3a4ac",
    Role.FORCED: "#cfaff8",
    Role.ERROR: "#ffa39c",
    Role.HINT: "#90c5f5",
    Role.TARGET: "#7ccfd9",
    Role.SYNTAX_LITERAL: "#ffffff",
    Role.SYNTAX_COMMENT: "#9da4b4",
}


def _palette(light: Mapping[Role, str], dark: Mapping[Role, str]) -> Mapping[ThemeName, Theme]:
    """Return both themes with some other colours."""
    return MappingProxyType(
        {
            one.name: Theme(one.name, MappingProxyType({**one.values, **changes}))
            for one, changes in ((LIGHT, light), (DARK, dark))
        }
    )


PALETTES: Mapping[PaletteName, Mapping[ThemeName, Theme]] = MappingProxyType(
    {
        "standard": MappingProxyType({"light": LIGHT, "dark": DARK}),
        "safe": _palette(_SAFE_LIGHT, _SAFE_DARK),
        "contrast": _palette(_CONTRAST_LIGHT, _CONTRAST_DARK),
    }
)
"""The themes by palette: the usual colours, those for colour blindness, and those of high contrast."""
