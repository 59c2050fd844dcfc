"""The command table.

Keys are written as Qt's portable text, in which Ctrl is Cmd on macOS. A command
belongs to a menu, whose order is the table's; a separator precedes a command
that says so.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that the user can do.

    Attributes:
        id: its stable name, `menu.verb`.
        menu: the menu that it stands in.
        text: what menus call it; "…" where a dialog follows.
        tip: one sentence that says what it does.
        keys: its shortcuts, the first one shown.
        icon: a name of `app.theme.icons`; empty for none.
        separated: whether a separator precedes it in its menu.
        checkable: whether it is on or off.
    """

    id: str
    menu: str
    text: str
    tip: str
    keys: tuple[str, ...] = ()
    icon: str = ""
    separated: bool = False
    checkable: bool = False


MENUS = ("File", "Edit", "View", "Run", "Help")

COMMANDS: tuple[Command, ...] = (
    Command("file.new", "File", "New", "Start an empty document", ("Ctrl+N",), "ph.file-plus"),
    Command("file.open", "File", "Open…", "Open a .turnstile document", ("Ctrl+O",), "ph.folder-open"),
    Command("file.gallery", "File", "Gallery…", "Start from an example", ("Ctrl+G",), "ph.squares-four"),
    Command("file.save", "File", "Save", "Save the document", ("Ctrl+S",), "ph.floppy-disk", separated=True),
    Command("file.save_as", "File", "Save as…", "Save the document under another name", ("Ctrl+Shift+S",)),
    Command(
        "file.export",
        "File",
        "Export…",
        "Write the automaton as JSON or as a Graphviz graph",
        ("Ctrl+E",),
        "ph.export",
        separated=True,
    ),
    Command("file.quit", "File", "Quit", "Close the window", ("Ctrl+Q",), separated=True),
    Command("edit.undo", "Edit", "Undo", "Undo the last edit of the grammar", ("Ctrl+Z",), "ph.arrow-u-up-left"),
    Command("edit.redo", "Edit", "Redo", "Redo what was undone", ("Ctrl+Shift+Z",), "ph.arrow-u-up-right"),
    Command("edit.problem", "Edit", "Next problem", "Go to the next problem of the grammar", ("F8",), separated=True),
    Command("edit.palette", "Edit", "Command palette…", "Find any command", ("Ctrl+Shift+P",), "ph.terminal"),
    Command("view.editor", "View", "Grammar", "Go to the grammar editor", ("Ctrl+1",)),
    Command("view.automaton", "View", "Automaton", "Go to the automaton", ("Ctrl+2",)),
    Command("view.generation", "View", "Generation", "Go to the generation", ("Ctrl+3",)),
    Command("view.problems", "View", "Problems", "Go to the list of problems", ("Ctrl+4",)),
    Command("view.probabilities", "View", "Probabilities", "Go to the redistribution", ("Ctrl+5",)),
    Command(
        "view.bottom", "View", "Bottom tabs", "Fold or unfold the tabs under the panes", ("Ctrl+J",), checkable=True
    ),
    Command("view.light", "View", "Light theme", "Use the light theme", separated=True, checkable=True),
    Command("view.dark", "View", "Dark theme", "Use the dark theme", checkable=True),
    Command("view.system", "View", "Theme of the desktop", "Follow the desktop's theme", checkable=True),
    Command("run.step", "Run", "Step", "Let the sampler take the next token", ("Ctrl+Return", "F11"), "ph.play"),
    Command(
        "run.back", "Run", "Back", "Undo the last step; it stays as a branch", ("Ctrl+Shift+Return",), "ph.skip-back"
    ),
    Command("run.run", "Run", "Run", "Step until the end, or until you pause", ("F5",), "ph.fast-forward"),
    Command(
        "run.restart",
        "Run",
        "Restart",
        "Go back to before the first token",
        ("Shift+F5",),
        "ph.arrow-counter-clockwise",
    ),
    Command("run.why", "Run", "Why not?", "Explain the selected token", ("F1",), "ph.question", separated=True),
    Command("run.cancel", "Run", "Cancel", "Stop what runs in the background", ("Esc",), "ph.x"),
    Command("run.workers", "Run", "Restart workers", "Start the background processes anew", separated=True),
    Command("help.keys", "Help", "Keyboard shortcuts", "List every command and its keys", ("Ctrl+/",), "ph.keyboard"),
    Command("help.about", "Help", "About Turnstile", "Version and licence", (), "ph.info"),
)
