"""Mnemonics: the underlined letters by which menus and the buttons of a message box are used without a mouse.

They are computed from the titles, so that no two in a menu are equal, whatever an extension adds: a title gets its
first letter, or that of a later word, or any other; if none is left, another title gives one up.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox, QWidget

from app.theme.labels import plain_text


def without_mnemonic(title: str) -> str:
    """Return a title without the ampersand before its mnemonic; two ampersands are kept, since they show one."""
    return title.replace("&&", "\0").replace("&", "").replace("\0", "&&")


def with_mnemonics(titles: Sequence[str]) -> list[str]:
    """Return titles with `&` before a letter that no other of them has; before none if there are not enough."""
    plain = [without_mnemonic(title) for title in titles]
    wanted = [_positions(title) for title in plain]
    owner: dict[str, int] = {}

    def find(number: int, tried: set[str]) -> bool:
        for letter in sorted(wanted[number], key=owner.__contains__):
            if letter not in tried:
                tried.add(letter)
                if letter not in owner or find(owner[letter], tried):
                    owner[letter] = number
                    return True
        return False

    for number in range(len(plain)):
        find(number, set())
    at = {number: wanted[number][letter] for letter, number in owner.items()}
    return [f"{title[: at[n]]}&{title[at[n] :]}" if n in at else title for n, title in enumerate(plain)]


def _positions(title: str) -> dict[str, int]:
    """Return where the letters of a title are, the best one first: those that begin a word."""
    name = title.partition("\t")[0]  # keys follow
    letters = [at for at, character in enumerate(name) if character.isascii() and character.isalnum()]
    found: dict[str, int] = {}
    for at in sorted(letters, key=lambda at: at > 0 and title[at - 1].isalnum()):
        found.setdefault(title[at].casefold(), at)
    return found


def add_mnemonics(menu: QMenu) -> None:
    """Give each entry of a menu and of its submenus a letter of its own."""
    entries = [action for action in menu.actions() if not action.isSeparator() and action.text()]
    for action, text in zip(entries, with_mnemonics([action.text() for action in entries]), strict=True):
        if action.text() != text:
            action.setText(text)
        inner = action.menu()
        if isinstance(inner, QMenu):
            add_mnemonics(inner)


def ask(
    parent: QWidget,
    title: str,
    text: str,
    buttons: QMessageBox.StandardButton,
    default: QMessageBox.StandardButton,
) -> QMessageBox.StandardButton:
    """Ask a question in a message box whose buttons have letters; return the pressed button.

    Args:
        parent: the window.
        title: the title of the box.
        text: the question, as plain text.
        buttons: its buttons.
        default: the one that Return presses.
    """
    QTimer.singleShot(0, parent, _mark_box)  # when it is open
    return QMessageBox.question(parent, title, plain_text(text), buttons, default)


def _mark_box() -> None:
    box = QApplication.activeModalWidget()
    if isinstance(box, QMessageBox):
        mark_buttons(box)


def mark_buttons(box: QMessageBox) -> None:
    """Give each button of a message box a letter of its own."""
    buttons = box.buttons()
    for button, text in zip(buttons, with_mnemonics([button.text() for button in buttons]), strict=True):
        button.setText(text)
