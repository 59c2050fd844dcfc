"""The application's one style sheet, generated from a theme.

Panes set no style sheets of their own; they set a dynamic property that is styled here, so that both themes apply to
them:

* `QLabel[role="title" | "heading" | "muted" | "empty"]`; an empty one may be `framed`
* `QPushButton[role="primary" | "link" | "flat" | "badge" | "choice"]`
* `QFrame[role="panel" | "bar" | "card" | "well" | "tour" | "banner"]`; a banner also has `severity="error" | "warning"
  | "hint" | "allowed"`
* `QListView[role="popup"]` and `QDialog[role="popup"]`, which have no window frame of the desktop
* `QToolButton[role="chip" | "archived" | "fold" | "outlined" | "primary" | "close"]`
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from app.theme.roles import Role, Theme

SPACE_XS, SPACE_S, SPACE_M, SPACE_L = 4, 8, 12, 16  # the only gaps in the window, in pixels

_STATUS_HEIGHT = 26  # pixels
_STATUS_RATIO = 1.9  # of the status bar's height in pixels to the size of titles in points

_SHEET = """
QWidget { color: {text}; }
QMainWindow, QDialog, QStatusBar, QToolBar, QMenuBar { background: {window}; }
QToolTip { background: {raised}; color: {text}; border: 1px solid {border}; padding: 4px 8px; }

QMenuBar { padding: 2px 4px; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: {hover}; }
QMenu { background: {panel}; border: 1px solid {border}; padding: 4px; }
QMenu::item { padding: 4px 28px 4px 12px; border-radius: 4px; }
QMenu::item:selected { background: {hover}; color: {text}; }
QMenu::item:disabled { color: {disabled}; }
QMenu::icon { padding-left: 8px; }
QMenu::separator { height: 1px; background: {border}; margin: 4px 8px; }

QToolBar { border: none; border-bottom: 1px solid {border}; padding: 6px 8px; spacing: 4px; }
QToolBar::separator { width: 1px; background: {border}; margin: 4px 8px; }
QToolButton { border: 1px solid transparent; border-radius: 6px; padding: 5px 9px; background: transparent; }
QToolButton:hover { background: {hover}; }
QToolButton:pressed, QToolButton:checked { background: {selection}; }
QToolButton:disabled { color: {disabled}; }
QToolButton:focus { border-color: {accent}; }
QToolButton::menu-indicator { image: none; width: 0; }
QToolButton#qt_toolbar_ext_button { padding: 4px 0; min-width: 20px; }
QToolButton[role="primary"] { background: {accent}; color: {on-accent}; font-weight: 600; }
QToolButton[role="primary"]:hover { border-color: {text}; }
QToolButton[role="primary"]:focus { border: 2px solid {text}; padding: 4px 8px; }
QToolButton[role="primary"]:disabled { background: {raised}; color: {disabled}; border-color: {border}; }
QToolButton[role="outlined"] { border-color: {border}; background: {panel}; }
QToolButton[role="outlined"]:hover { background: {hover}; }
QToolButton[role="outlined"]:focus { border-color: {accent}; }
QToolButton[role="chip"] { background: {raised}; border-color: {border}; padding: 2px 6px; border-radius: 5px; }
QToolButton[role="chip"]:hover { background: {hover}; }
QToolButton[role="close"] { padding: 0; }
QToolButton[role="fold"] { padding: 3px 6px 3px 0; }
QToolButton[role="fold"]:checked { background: transparent; }
QToolButton[role="archived"] { color: {muted}; border: 1px dashed {disabled}; padding: 2px 6px; border-radius: 5px; }
QToolButton[role="archived"]:hover { background: {hover}; color: {text}; }
QToolButton[role="archived"]:focus { border-color: {accent}; }

QPushButton { background: {raised}; border: 1px solid {border}; border-radius: 6px; padding: 5px 12px; }
QPushButton:hover { background: {hover}; }
QPushButton:pressed, QPushButton:checked { background: {selection}; }
QPushButton:focus { border-color: {accent}; }
QPushButton:disabled { color: {disabled}; }
QPushButton[role="primary"] { background: {accent}; color: {on-accent}; border-color: {accent}; font-weight: 600; }
QPushButton[role="primary"]:hover, QPushButton[role="primary"]:focus { border-color: {text}; }
QPushButton[role="primary"]:disabled { background: {raised}; color: {disabled}; border-color: {border}; }
QPushButton[role="flat"], QPushButton[role="link"] { background: transparent; border-color: transparent; }
QPushButton[role="flat"]:hover { background: {hover}; }
QPushButton[role="link"] { color: {accent}; padding: 2px 4px; }
QPushButton[role="flat"]:focus, QPushButton[role="link"]:focus { border-color: {accent}; }
QPushButton[role="badge"] { background: {panel}; border-radius: 5px; padding: 2px 6px; }
QPushButton[role="badge"]:hover { background: {hover}; }
QPushButton[role="badge"]:focus { border-color: {accent}; }
QPushButton[role="choice"] { text-align: left; background: {panel}; font-weight: 600; padding: 7px 12px; }
QPushButton[role="choice"]:hover { background: {hover}; }
QPushButton[role="choice"]:focus { border-color: {accent}; }

QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QDialog[role="popup"] { border: 1px solid {border}; }

QLabel { background: transparent; }
QLabel[role="title"] { font-size: {title-size}; font-weight: 600; }
QLabel[role="heading"] { font-weight: 600; }
QLabel[role="muted"] { color: {muted}; }
QLabel[role="empty"] { color: {muted}; background: {panel}; }
QLabel[role="empty"][framed="true"] { border: 1px solid {border}; border-radius: 6px; }

QFrame[role="panel"] { background: {panel}; border: none; }
QFrame[role="bar"] { background: {raised}; border: none; border-bottom: 1px solid {border}; min-height: 38px; }
QFrame[role="card"] { background: {raised}; border: 1px solid {border}; border-radius: 6px; }
QFrame[role="well"] { background: {panel}; border: 1px solid {border}; border-radius: 6px; }
QFrame[role="tour"] { background: {panel}; border: 1px solid {accent}; border-radius: 8px; }
QFrame[role="banner"] { border: none; border-left: 3px solid {hint}; background: {hint-fill}; }
QFrame[role="banner"][severity="error"] { border-left-color: {error}; background: {error-fill}; }
QFrame[role="banner"][severity="warning"] { border-left-color: {warning}; background: {warning-fill}; }
QFrame[role="banner"][severity="allowed"] { border-left-color: {allowed}; background: {allowed-fill}; }

QPlainTextEdit, QTextEdit, QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox,
QAbstractItemView { background: {panel}; selection-background-color: {selection}; selection-color: {text}; }
QPlainTextEdit, QTextEdit, QAbstractItemView, QGraphicsView { border: none; }
QGraphicsView { background: {panel}; }
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox { border: 1px solid {border}; border-radius: 6px; padding: 4px 8px; }
QLineEdit, QComboBox { min-height: 19px; }  /* as high as a spin box and a button beside them */
QSpinBox QLineEdit, QDoubleSpinBox QLineEdit, QComboBox QLineEdit, QAbstractItemView QLineEdit { min-height: 0; }
QSpinBox, QDoubleSpinBox { padding-right: 0px; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {
  color: {disabled}; background: {raised}; }
QLabel:disabled, QCheckBox:disabled, QRadioButton:disabled { color: {disabled}; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus { border-color: {accent}; }
QPlainTextEdit[role="field"] { border: 1px solid {border}; border-radius: 6px; padding: 2px 4px; }
QPlainTextEdit[role="field"]:focus { border-color: {accent}; }
QListWidget[role="field"] { border: 1px solid {border}; border-radius: 6px; padding: 3px; }
QScrollArea[role="field"] { background: {raised}; border: 1px solid {border}; border-radius: 6px; }
QListView[role="popup"] { border: 1px solid {border}; background: {panel}; }
QListWidget[role="field"]:focus { border-color: {accent}; }
QRadioButton::indicator { width: 12px; height: 12px; border-radius: 7px; }
QRadioButton::indicator:unchecked { border: 1px solid {muted}; background: {raised}; }
QRadioButton::indicator:checked { border: 4px solid {accent}; background: {on-accent}; width: 6px; height: 6px; }
QRadioButton::indicator:focus { border-color: {text}; }
QRadioButton::indicator:disabled { border-color: {disabled}; }
QCheckBox::indicator, QListWidget[role="field"]::indicator, QTableView::indicator { width: 12px; height: 12px;
  border: 1px solid {muted}; border-radius: 3px; background: {panel}; }
QCheckBox::indicator:checked, QListWidget[role="field"]::indicator:checked, QTableView::indicator:checked {
  border-color: {accent}; background: {accent}; image: url("{check}"); }
QCheckBox::indicator:focus { border-color: {text}; }
QCheckBox::indicator:disabled { border-color: {disabled}; background: {raised}; }
QCheckBox::indicator:checked:disabled { border-color: {disabled}; background: {raised};
  image: url("{check-disabled}"); }
QComboBox::drop-down { border: none; width: 20px; }
QSpinBox::up-button, QDoubleSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::down-button {
  border: none; background: transparent; width: 20px; }
QSpinBox::up-button, QDoubleSpinBox::up-button { subcontrol-position: top right; }
QSpinBox::down-button, QDoubleSpinBox::down-button { subcontrol-position: bottom right; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { width: 0; height: 0; border-bottom: 5px solid {muted};
  border-left: 4px solid {panel}; border-right: 4px solid {panel}; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow, QComboBox::down-arrow { width: 0; height: 0;
  border-top: 5px solid {muted}; border-left: 4px solid {panel}; border-right: 4px solid {panel}; }
QAbstractItemView { outline: 0; }
QHeaderView { background: {panel}; }
QHeaderView::section { background: {panel}; color: {muted}; border: none;
  border-bottom: 1px solid {border}; padding: 5px 8px; }
QTableView { gridline-color: {grid}; }
QTableView::item, QTreeView::item, QListView::item { padding: 3px 6px; }
QAbstractItemView::item:hover { background: {hover}; }
QAbstractItemView::item:selected { background: {selection}; color: {text}; }

QTabWidget::pane { border: none; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { padding: 6px 12px; background: transparent; color: {muted}; border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: {text}; }
QTabBar::tab:selected { color: {text}; border-bottom-color: {accent}; }
QTabBar::tab:focus { background: {hover}; }

QSplitter::handle { background: {border}; }
QSplitter::handle:hover { background: {accent}; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QStatusBar { border-top: 1px solid {border}; min-height: {status-height}; max-height: {status-height}; }
QStatusBar::item { border: none; }
QProgressBar { background: {grid}; border: none; border-radius: 3px; max-height: 6px; }
QProgressBar::chunk { background: {accent}; border-radius: 3px; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: {border}; border-radius: 4px; margin: 1px; }
QScrollBar::handle:hover { background: {disabled}; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
"""


def style_sheet(theme: Theme, title_points: float = 13.0) -> str:
    """Return the style sheet in a theme's colours.

    Args:
        theme: the theme.
        title_points: the font size of titles, in points.
    """
    icons = Path(str(files("resources") / "icons"))
    sheet = _SHEET.replace("{title-size}", f"{title_points:g}pt")
    sheet = sheet.replace("{status-height}", f"{max(_STATUS_HEIGHT, round(_STATUS_RATIO * title_points))}px")
    sheet = sheet.replace("{check}", (icons / f"check-{theme.name}.svg").as_posix())
    sheet = sheet.replace("{check-disabled}", (icons / f"check-{theme.name}-disabled.svg").as_posix())
    for role in Role:
        sheet = sheet.replace("{" + role.value + "}", theme.hex(role))
    return sheet
