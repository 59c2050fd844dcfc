"""The commands: one declaration for each, from which menus, toolbar, palette, tips and the list of keys are generated.

A declaration has what the program needs (id, keys, icon); its texts are in `resources/texts/commands.toml` under the
same id. So a test that names a command does not change with its title.

Keys are written as Qt's portable text, in which Ctrl is Cmd on macOS, and a comma separates two keys that are pressed
in sequence. The order of a menu is the table's; a separator precedes a command that says so.

No key is Ctrl+Alt with a character or a digit: on Windows that is AltGr, with which German keyboards type `{` and
Polish ones half of their characters, and desktops use Ctrl+Alt with the arrows themselves. Rarely used commands have a
sequence of two keys instead: `Ctrl+M` and another for the drawing of the automaton, `Ctrl+L` for the appearance,
`Ctrl+R` for runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from app.catalogue import has_text, ui_text
from app.theme.icons import icon
from app.theme.labels import plain_text


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the window.

    Attributes:
        id: its stable name, `menu.verb`.
        keys: its shortcuts; the first one is displayed.
        icon: a name of `app.theme.icons`; empty for none.
        separated: whether a separator precedes it in its menu.
        checkable: whether it is on or off.
        repeats: whether a held key repeats it.
    """

    id: str
    keys: tuple[str, ...]
    icon: str = ""
    separated: bool = False
    checkable: bool = False
    repeats: bool = False

    @property
    def menu(self) -> str:
        """Return the menu that contains it, one of `MENUS`."""
        return self.id.partition(".")[0]

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


MENUS = ("file", "edit", "view", "automaton", "run", "tests", "help")
"""The menus in their order."""

LOCAL_KEYS = {
    "candidates.force": "Shift+Return",
    "candidates.take": "Return",
    "dialog.close": "Esc",
    "find.close": "Esc",
    "find.next": "Return",
    "find.previous": "Shift+Return",
    "find.replace": "Return",
    "processors.down": "Alt+Down",
    "processors.up": "Alt+Up",
    "rename.cancel": "Esc",
    "rename.take": "Return",
    "breakpoints.remove": "Del",
    "tour.end": "Esc",
}
"""Keys that a focused widget handles itself, by the name that tool tips use."""

COMMANDS: tuple[Command, ...] = (
    Command("file.new", ("Ctrl+N",), icon="ph.file-plus"),
    Command("file.open", ("Ctrl+O",), icon="ph.folder-open"),
    Command("file.gallery", ("Ctrl+G",), icon="ph.squares-four"),
    Command("file.save", ("Ctrl+S",), icon="ph.floppy-disk", separated=True),
    Command("file.save_as", ("Ctrl+Shift+S",)),
    Command("file.export", ("Ctrl+E",), icon="ph.export", separated=True),
    Command("file.share", ("Ctrl+Shift+H",), icon="ph.share-network"),
    Command("file.quit", ("Ctrl+Q",), separated=True),
    Command("edit.undo", ("Ctrl+Z",), icon="ph.arrow-u-up-left", repeats=True),
    Command("edit.redo", ("Ctrl+Shift+Z",), icon="ph.arrow-u-up-right", repeats=True),
    Command("edit.find", ("Ctrl+F",), icon="ph.magnifying-glass", separated=True),
    Command("edit.find_next", ("F3",), repeats=True),
    Command("edit.find_previous", ("Shift+F3",), repeats=True),
    Command("edit.replace", ("Ctrl+H",)),
    Command("edit.complete", ("Ctrl+Space", "Meta+Space"), separated=True),
    Command("edit.fix", ("Ctrl+.",), icon="ph.wrench"),
    Command("edit.definition", ("F12",), separated=True),
    Command("edit.references", ("Shift+F12",)),
    Command("edit.rename", ("F2",)),
    Command("edit.comment", ("Ctrl+Shift+/", "Ctrl+#"), separated=True),
    Command("edit.format", ("Shift+Alt+F",), icon="ph.text-align-left"),
    Command("edit.bracket", ("Ctrl+B",)),
    Command("edit.convert", ("Ctrl+Shift+N",), icon="ph.arrows-left-right"),
    Command("edit.problem", ("F8",), separated=True, repeats=True),
    Command("edit.palette", ("Ctrl+Shift+P",), icon="ph.terminal"),
    Command("view.editor", ("Ctrl+1",)),
    Command("view.automaton", ("Ctrl+2",)),
    Command("view.generation", ("Ctrl+3",)),
    Command("view.problems", ("Ctrl+4",)),
    Command("view.probabilities", ("Ctrl+5",)),
    Command("view.tests", ("Ctrl+6",)),
    Command("view.timeline", ("Ctrl+7",)),
    Command("view.breakpoints", ("Ctrl+8",)),
    Command("view.baseline", ("Ctrl+9",)),
    Command("view.forced", ("Ctrl+0",)),
    Command("view.bottom", ("Ctrl+J",), checkable=True),
    Command("view.explanation", ("Ctrl+Shift+E",), icon="ph.chat-text", separated=True),
    Command("view.reference", ("Ctrl+Shift+K",), icon="ph.book-open"),
    Command("view.gbnf", ("Ctrl+Shift+G",)),
    Command("view.chips_probability", ("Ctrl+L, 1",), separated=True, checkable=True),
    Command("view.chips_choice", ("Ctrl+L, 2",), checkable=True),
    Command("view.chips_surprise", ("Ctrl+L, 3",), checkable=True),
    Command("view.chips_time", ("Ctrl+L, 4",), checkable=True),
    Command("view.text_larger", ("Ctrl++", "Ctrl+="), separated=True, repeats=True),
    Command("view.text_smaller", ("Ctrl+-",), repeats=True),
    Command("view.text_default", ("Ctrl+L, 0",)),
    Command("view.light", ("Ctrl+L, L",), separated=True, checkable=True),
    Command("view.dark", ("Ctrl+L, D",), checkable=True),
    Command("view.system", ("Ctrl+L, S",), checkable=True),
    Command("automaton.find", ("Ctrl+Shift+F",), icon="ph.magnifying-glass"),
    Command("automaton.map", ("Ctrl+M, Home",), separated=True),
    Command("automaton.live", ("Ctrl+M, L",)),
    Command("automaton.tokens", ("Ctrl+M, K",)),
    Command("automaton.up", ("Ctrl+M, Up",)),
    Command("automaton.back", ("Ctrl+M, Left",)),
    Command("automaton.forward", ("Ctrl+M, Right",)),
    Command("automaton.collapse", ("Ctrl+M, Down",)),
    Command("automaton.all", ("Ctrl+M, A",), checkable=True),
    Command("automaton.bytes", ("Ctrl+M, B",), separated=True, checkable=True),
    Command("automaton.merge", ("Ctrl+M, J",), checkable=True),
    Command("automaton.table", ("Ctrl+M, T",), checkable=True),
    Command("automaton.stacks", ("Ctrl+M, S",), icon="ph.stack", checkable=True),
    Command("automaton.coverage", ("Ctrl+M, V",), icon="ph.checks", checkable=True),
    Command("automaton.coverage_generated", ("Ctrl+M, G",), checkable=True),
    Command("automaton.minimap", ("Ctrl+M, M",), icon="ph.map-trifold", checkable=True),
    Command("automaton.fit", ("Ctrl+M, 0",)),
    Command("automaton.zoom_in", ("Ctrl+M, +", "Ctrl+M, ="), repeats=True),
    Command("automaton.zoom_out", ("Ctrl+M, -",), repeats=True),
    Command("automaton.layout", ("Ctrl+M, 1",), separated=True, checkable=True),
    Command("automaton.layout_dot", ("Ctrl+M, 2",), checkable=True),
    Command("automaton.layout_sugiyama", ("Ctrl+M, 3",), checkable=True),
    Command("automaton.layout_layered", ("Ctrl+M, 4",), checkable=True),
    Command("automaton.turn", ("Ctrl+M, D",), checkable=True),
    Command("automaton.save", ("Ctrl+M, P",), separated=True),
    Command("automaton.copy_dot", ("Ctrl+M, C",)),
    Command("run.step", ("Ctrl+Return", "F11"), icon="ph.play", repeats=True),
    Command("run.back", ("Ctrl+Shift+Return",), icon="ph.skip-back", repeats=True),
    Command("run.run", ("F5",), icon="ph.fast-forward"),
    Command("run.restart", ("Shift+F5",), icon="ph.arrow-counter-clockwise"),
    Command("run.until", ("Ctrl+F5",), icon="ph.flag", separated=True),
    Command("run.over", ("F10",), icon="ph.arrow-arc-right", repeats=True),
    Command("run.out", ("Shift+F11",), icon="ph.arrow-line-up"),
    Command("run.breakpoint", ("F9",), icon="ph.record"),
    Command("run.force", ("Ctrl+R, Return",), separated=True),
    Command("run.worst", ("Ctrl+R, W",)),
    Command("run.baseline", ("Ctrl+Shift+T",)),
    Command("run.processors", ("Ctrl+R, P",), icon="ph.funnel", separated=True),
    Command("run.complete", ("Ctrl+R, C",), checkable=True),
    Command("run.fast_forward", ("Ctrl+R, F",), icon="ph.link-simple", checkable=True),
    Command("run.processors_reset", ("Ctrl+R, R",)),
    Command("run.why", ("F1",), icon="ph.question", separated=True),
    Command("run.cancel", ("Esc",), icon="ph.x"),
    Command("run.workers", ("Ctrl+Shift+F5",), separated=True),
    Command("tests.check", ("Ctrl+K",), icon="ph.clipboard-text"),
    Command("tests.add", ("Ctrl+T",)),
    Command("tests.paste", ("Ctrl+Shift+V",)),
    Command("tests.duplicate", ("Ctrl+Shift+D",)),
    Command("tests.remove", ("Ctrl+Shift+Del",)),
    Command("tests.toggle", ("Ctrl+U",)),
    Command("tests.failure", ("Shift+F8",), repeats=True),
    Command("tests.shortest", ("Ctrl+Shift+L",), separated=True),
    Command("tests.random", ("Ctrl+Shift+R",)),
    Command("tests.rules", ("Ctrl+Shift+U",)),
    Command("tests.near", ("Ctrl+Shift+M",)),
    Command("help.tour", ("Shift+F1",), icon="ph.compass"),
    Command("help.keys", ("Ctrl+/",), icon="ph.keyboard"),
    Command("help.details", ("Ctrl+Shift+F1",), icon="ph.clipboard-text"),
    Command("help.log", ("Ctrl+Shift+F2",), icon="ph.folder-open"),
    Command("help.about", ("Ctrl+F1",), icon="ph.info"),
)

_COMMANDS = {command.id: command for command in COMMANDS}
_KEYS = {**{command.id: command.keys[0] for command in COMMANDS}, **LOCAL_KEYS}
KEYS_OF = "keysOf"  # a property of widgets whose tip names a key: the id of the command


def menu_title(menu: str) -> str:
    """Return the title of a menu."""
    return ui_text(f"commands.menus.{menu}")


def native(keys: QKeySequence | str) -> str:
    """Return keys in the platform's spelling, such as ⌘N on macOS for `Ctrl+N`."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def keys_of(command_id: str) -> str:
    """Return the first keys of a command, or of a local key, in the platform's spelling."""
    return native(_KEYS[command_id])


def with_keys(tip: str, command_id: str) -> str:
    """Return a tip followed by the keys of a command."""
    return f"{tip} ({keys_of(command_id)})"


def set_tip(widget: QWidget, tip: str, command_id: str) -> None:
    """Give a widget a tool tip that names the keys of a command.

    Args:
        widget: a button or field that does the same as the command.
        tip: what it does.
        command_id: the command, or the name of a local key.
    """
    widget.setToolTip(plain_text(with_keys(tip, command_id)))
    widget.setProperty(KEYS_OF, command_id)


class Actions(QObject):
    """One `QAction` for each command."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._actions = {command.id: self._make(command, window) for command in COMMANDS}
        window.addActions(list(self._actions.values()))

    def __getitem__(self, command_id: str) -> QAction:
        return self._actions[command_id]

    def __iter__(self) -> Iterator[tuple[Command, QAction]]:
        return ((command, self._actions[command.id]) for command in COMMANDS)

    def tip(self, command_id: str) -> str:
        """Return the description of a command, with its keys."""
        return with_keys(_COMMANDS[command_id].tip, command_id)

    def connect_to(self, slots: dict[str, Callable[[], object]]) -> None:
        """Connect commands to their handlers."""
        for command_id, slot in slots.items():
            self._actions[command_id].triggered.connect(lambda _checked=False, slot=slot: slot())

    def fill(self, bar: QMenuBar) -> dict[str, QMenu]:
        """Create the menus; return them by their names in `MENUS`."""
        menus = {name: bar.addMenu(f"&{menu_title(name)}") for name in MENUS}
        for command, action in self:
            if command.separated:
                menus[command.menu].addSeparator()
            menus[command.menu].addAction(action)
        return menus

    def _make(self, command: Command, window: QWidget) -> QAction:
        action = QAction(command.title, window)
        action.setObjectName(command.id)
        if command.icon:
            action.setIcon(icon(command.icon))
        action.setCheckable(command.checkable)
        action.setAutoRepeat(command.repeats)
        action.setShortcuts([QKeySequence(keys) for keys in command.keys])
        action.setToolTip(self.tip(command.id))
        action.setStatusTip("")
        if command.id == "file.quit":
            action.setMenuRole(QAction.MenuRole.QuitRole)
        elif command.id == "help.about":
            action.setMenuRole(QAction.MenuRole.AboutRole)
        return action
