"""Commands: each is declared beside its handler; menus, palette, tips and the list of keys are generated from that.

    class Steps(QObject):
        @command("run.step", "Ctrl+Return", "F11", place=(1, 1), icon="ph.play", refusal=lambda steps: steps.refusal)
        def step(self) -> None: ...

    commands.add(steps, session.step_allowed_changed)

A declaration is made when its module is imported, so every command has its action, menu entry and keys before its
handler exists: a window creates `Commands`, and then adds the objects that handle them. Titles, tips and synonyms are
in `resources/texts/commands.toml` under the id, so that a test that names a command does not change with its title.

`refusal` is one function for two questions, whether a command can run and why not, so that a disabled command always
explains itself. Rejected: `enabled_when`, which answers only the first.

Keys are written as Qt's portable text, in which Ctrl is Cmd on macOS, and a comma separates two keys that are pressed
in sequence. No key is Ctrl+Alt with a character or a digit: on Windows that is AltGr, with which German keyboards type
`{` and Polish ones half of their characters, and desktops use Ctrl+Alt with the arrows themselves. Rarely used commands
have a sequence of two keys instead: `Ctrl+M` and another for the drawing of the automaton, `Ctrl+L` for the appearance,
`Ctrl+R` for runs, `Ctrl+Shift+X` for changes of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from PySide6.QtCore import QObject, SignalInstance
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from app.catalogue import has_text, ui_text
from app.theme.icons import icon
from app.theme.labels import plain_text
from app.theme.mnemonics import add_mnemonics, with_mnemonics, without_mnemonic

MENUS = ("file", "edit", "view", "automaton", "state", "run", "tests", "help")
"""The menus in their order."""

_ROLES = {
    "file.quit": QAction.MenuRole.QuitRole,
    "help.about": QAction.MenuRole.AboutRole,
    "edit.preferences": QAction.MenuRole.PreferencesRole,
}  # of macOS
_DECLARATIONS = "declared_commands"  # an attribute of handlers
KEYS_OF = "keysOf"  # a property of widgets whose tip names a key: the id of the command
ZOOMS = "zoomsItself"  # a property of widgets that use Ctrl and the wheel for their own contents, such as drawings

Handler = TypeVar("Handler", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the window.

    Attributes:
        id: its stable name, `menu.verb`.
        keys: its shortcuts; the first one is displayed.
        menu: the menu that contains it, one of `MENUS`.
        place: its group in the menu, and its place in the group; separators are between groups.
        icon: a name of `app.theme.icons`; empty for none.
        context: the name of a context menu that contains it, too; empty for none.
        repeats: whether a held key repeats it.
        arguments: what its handler is called with.
        refusal: returns why it cannot run now, or an empty text, given its owner and arguments; None if it always can.
        checked: returns whether it is on, given its owner and arguments; None if it is not on or off.
    """

    id: str
    keys: tuple[str, ...]
    menu: str
    place: tuple[int, int]
    icon: str = ""
    context: str = ""
    repeats: bool = False
    arguments: tuple[object, ...] = ()
    refusal: Callable[..., str] | None = None
    checked: Callable[..., bool] | None = None

    @property
    def title(self) -> str:
        """Return its label in menus; it ends with "…" if a dialog follows."""
        return ui_text(f"commands.{self.id}.title")

    @property
    def tip(self) -> str:
        """Return a sentence that describes it."""
        return ui_text(f"commands.{self.id}.tip")

    @property
    def synonyms(self) -> tuple[str, ...]:
        """Return other words by which the palette finds it."""
        if not has_text(f"commands.{self.id}.synonyms"):
            return ()
        return tuple(ui_text(f"commands.{self.id}.synonyms").split(", "))


DECLARED: dict[str, Command] = {}
"""All commands by id, as their modules were imported."""

LOCAL_KEYS: dict[str, str] = {}
"""The keys that focused widgets handle themselves, by their names."""


def command(  # noqa: PLR0913 - each describes one property of a command
    command_id: str,
    *keys: str,
    place: tuple[int, int],
    menu: str = "",
    icon: str = "",
    context: str = "",
    repeats: bool = False,
    arguments: tuple[object, ...] = (),
    refusal: Callable[..., str] | None = None,
    checked: Callable[..., bool] | None = None,
) -> Callable[[Handler], Handler]:
    """Declare a command, whose handler is the decorated method.

    A method may handle several commands with different arguments.

    Args:
        command_id: its id.
        keys: its shortcuts.
        place: its group in the menu, and its place in the group.
        menu: the menu; the first part of the id by default.
        icon: as in `Command`; so are the other arguments.
        context: the name of a context menu.
        repeats: whether a held key repeats it.
        arguments: what its handler is called with.
        refusal: returns why it cannot run now.
        checked: returns whether it is on.

    Raises:
        ValueError: there is a command with this id, or no such menu.
    """
    menu = menu or command_id.partition(".")[0]
    if command_id in DECLARED or menu not in MENUS:
        raise ValueError(f"the command {command_id!r} is declared twice, or there is no menu {menu!r}")
    DECLARED[command_id] = Command(command_id, keys, menu, place, icon, context, repeats, arguments, refusal, checked)

    def decorate(handler: Handler) -> Handler:
        setattr(handler, _DECLARATIONS, (command_id, *getattr(handler, _DECLARATIONS, ())))
        return handler

    return decorate


def local_key(name: str, keys: str) -> str:
    """Declare a key that a focused widget handles itself; return the name.

    Args:
        name: the widget and what the key does, such as `find.close`; no two keys of one widget are equal.
        keys: the key.
    """
    LOCAL_KEYS[name] = keys
    return name


def declared_commands() -> tuple[Command, ...]:
    """Return all commands that were declared, in the order of the menus."""
    return tuple(sorted(DECLARED.values(), key=lambda one: (MENUS.index(one.menu), one.place, one.id)))


def menu_title(menu: str) -> str:
    """Return the title of a menu."""
    return ui_text(f"commands.menus.{menu}")


def submenu_title(declared: Command) -> str:
    """Return the title of the submenu that a command's group is; empty if the group is a part of the menu."""
    menu, group = declared.menu, declared.place[0]
    return ui_text(f"window.submenu.{menu}.{group}") if has_text(f"window.submenu.{menu}.{group}") else ""


def native(keys: QKeySequence | str) -> str:
    """Return keys in the platform's spelling, such as ⌘N on macOS for `Ctrl+N`."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


@cache
def keys_of(name: str) -> str:
    """Return the first keys of a command, or a local key, in the platform's spelling."""
    return native(LOCAL_KEYS[name] if name in LOCAL_KEYS else DECLARED[name].keys[0])


def with_keys(tip: str, name: str) -> str:
    """Return a tip followed by the keys of a command."""
    return f"{tip} ({keys_of(name)})"


def set_tip(widget: QWidget, tip: str, name: str) -> None:
    """Give a widget a tool tip that names the keys of a command.

    Args:
        widget: a button or field that does the same as the command.
        tip: what it does.
        name: the command, or the name of a local key.
    """
    widget.setToolTip(plain_text(with_keys(tip, name)))
    widget.setProperty(KEYS_OF, name)


class Commands(QObject):
    """The commands of a window: one `QAction` for each declaration, and the objects that handle them."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._actions = {one.id: _make_action(one, window) for one in declared_commands()}
        self._handled: dict[object, list[str]] = {}  # the commands that each object handles
        self._menus: tuple[QMenu, ...] = ()
        window.addActions(list(self._actions.values()))

    def __getitem__(self, command_id: str) -> QAction:
        return self._actions[command_id]

    def __iter__(self) -> Iterator[tuple[Command, QAction]]:
        return ((DECLARED[command_id], action) for command_id, action in self._actions.items())

    def add(self, owner: object, *changes: SignalInstance) -> None:
        """Connect the commands whose handlers are methods of an object.

        Args:
            owner: the object.
            changes: signals after which a command may be refused, or be on, that was not before.
        """
        own_classes = (base for base in type(owner).__mro__ if not base.__module__.startswith("PySide6"))
        for name in dict.fromkeys(name for base in own_classes for name in vars(base)):
            for command_id in getattr(getattr(type(owner), name), _DECLARATIONS, ()):
                self._handle(command_id, getattr(owner, name), owner)
        refresher = _Refresher(self, owner)
        for change in changes:
            change.connect(refresher.refresh)
        refresher.refresh()

    def connect_to(self, command_id: str, handler: Callable[[], object]) -> None:
        """Connect a command that no method declares."""
        self._actions[command_id].triggered.connect(lambda _checked=False: handler())

    def _handle(self, command_id: str, handler: Callable[..., object], owner: object) -> None:
        self._handled.setdefault(owner, []).append(command_id)

        def run() -> None:
            handler(*DECLARED[command_id].arguments)
            self.refresh(owner)

        self._actions[command_id].triggered.connect(run)

    def refresh(self, owner: object) -> None:
        """Enable and check the commands of an object according to its state; a refused one says why in its tip."""
        for command_id in self._handled.get(owner, ()):
            declared, action = DECLARED[command_id], self._actions[command_id]
            if declared.refusal is not None:
                refusal = declared.refusal(owner, *declared.arguments)
                action.setEnabled(not refusal)
                action.setToolTip(plain_text(refusal or with_keys(declared.tip, command_id)))
            if declared.checked is not None:
                action.setChecked(declared.checked(owner, *declared.arguments))

    def fill_bar(self, bar: QMenuBar) -> dict[str, QMenu]:
        """Create the menus of a window; return them by their names in `MENUS`."""
        titles = with_mnemonics([menu_title(name) for name in MENUS])
        menus = {name: bar.addMenu(title) for name, title in zip(MENUS, titles, strict=True)}
        self._menus = tuple(menus.values())
        for name, menu in menus.items():
            self.fill(menu, lambda one, name=name: one.menu == name, has_submenus=True)  # type: ignore[misc]
        self.add_mnemonics()
        return menus

    def add_mnemonics(self) -> None:
        """Give the entries of the window's menus their letters, after some have changed."""
        for menu in self._menus:
            add_mnemonics(menu)

    def set_title(self, command_id: str, title: str) -> None:
        """Change the title of a command."""
        if without_mnemonic(self._actions[command_id].text()) != title:
            self._actions[command_id].setText(title)
            self.add_mnemonics()

    def fill(self, menu: QMenu, is_member: Callable[[Command], bool], *, has_submenus: bool = False) -> None:
        """Add commands to a menu, with separators between their groups.

        Args:
            menu: the menu.
            is_member: whether it has a command.
            has_submenus: whether groups with a title are submenus.
        """
        menu.aboutToShow.connect(lambda: add_mnemonics(menu))  # some commands are in several menus
        before: tuple[str, int] | None = None
        into, is_inside = menu, False
        for one, action in self:
            if is_member(one):
                group, title = (one.menu, one.place[0]), submenu_title(one) if has_submenus else ""
                if group != before:
                    if before is not None and not (title and is_inside):
                        menu.addSeparator()
                    into, is_inside = menu.addMenu(title) if title else menu, bool(title)
                    into.setToolTipsVisible(menu.toolTipsVisible())
                before = group
                into.addAction(action)


class _Refresher(QObject):
    """Refreshes the commands of one object; as its slot is a method, no signal outlives the window."""

    def __init__(self, commands: Commands, owner: object) -> None:
        super().__init__(commands)
        self._commands, self._owner = commands, owner

    def refresh(self, *_values: object) -> None:
        self._commands.refresh(self._owner)


def _make_action(declared: Command, window: QWidget) -> QAction:
    action = QAction(declared.title, window)
    action.setObjectName(declared.id)
    if declared.icon:
        action.setIcon(icon(declared.icon))
    action.setCheckable(declared.checked is not None)
    action.setAutoRepeat(declared.repeats)
    action.setShortcuts([QKeySequence(keys) for keys in declared.keys])
    action.setToolTip(with_keys(declared.tip, declared.id))
    action.setStatusTip("")
    action.setMenuRole(_ROLES.get(declared.id, QAction.MenuRole.TextHeuristicRole))
    return action
