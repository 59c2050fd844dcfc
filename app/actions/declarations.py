"""The command table.

Keys are written as Qt's portable text, in which Ctrl is Cmd on macOS, and a comma separates two keys that are pressed
in sequence. The order of a menu is the table's; a separator precedes a command that says so.

No key is Ctrl+Alt with a character or a digit: on Windows that is AltGr, with which German keyboards type `{` and
Polish ones half of their characters, and desktops use Ctrl+Alt with the arrows themselves. Rarely used commands have a
sequence of two keys instead: `Ctrl+M` and another for the drawing of the automaton, `Ctrl+L` for the appearance,
`Ctrl+R` for runs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the window.

    Attributes:
        id: its stable name, `menu.verb`.
        menu: the menu that contains it.
        text: its label in menus; with "…" if a dialog follows.
        tip: one sentence that describes it.
        keys: its shortcuts; the first one is displayed.
        icon: a name of `app.theme.icons`; empty for none.
        separated: whether a separator precedes it in its menu.
        checkable: whether it is on or off.
        repeats: whether a held key repeats it.
    """

    id: str
    menu: str
    text: str
    tip: str
    keys: tuple[str, ...] = ()
    icon: str = ""
    separated: bool = False
    checkable: bool = False
    repeats: bool = False


MENUS = ("File", "Edit", "View", "Automaton", "Run", "Tests", "Help")

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
    Command("file.new", "File", "New", "Start an empty document", ("Ctrl+N",), "ph.file-plus"),
    Command("file.open", "File", "Open…", "Open a document, a grammar or a schema", ("Ctrl+O",), "ph.folder-open"),
    Command("file.gallery", "File", "Gallery…", "Start from an example", ("Ctrl+G",), "ph.squares-four"),
    Command("file.save", "File", "Save", "Save the document", ("Ctrl+S",), "ph.floppy-disk", separated=True),
    Command("file.save_as", "File", "Save as…", "Save the document under another name", ("Ctrl+Shift+S",)),
    Command(
        "file.export",
        "File",
        "Export…",
        "Export the grammar or the automaton (16 formats)",
        ("Ctrl+E",),
        "ph.export",
        separated=True,
    ),
    Command(
        "file.share",
        "File",
        "Share as HTML…",
        "Write the output, step by step, as one web page that replays it offline",
        ("Ctrl+Shift+H",),
        "ph.share-network",
    ),
    Command("file.quit", "File", "Quit", "Close the window", ("Ctrl+Q",), separated=True),
    Command(
        "edit.undo",
        "Edit",
        "Undo",
        "Undo the last edit of the grammar",
        ("Ctrl+Z",),
        "ph.arrow-u-up-left",
        repeats=True,
    ),
    Command(
        "edit.redo", "Edit", "Redo", "Redo what was undone", ("Ctrl+Shift+Z",), "ph.arrow-u-up-right", repeats=True
    ),
    Command(
        "edit.find", "Edit", "Find…", "Find a text in the grammar", ("Ctrl+F",), "ph.magnifying-glass", separated=True
    ),
    Command("edit.find_next", "Edit", "Find next", "Go to the next place of the text", ("F3",), repeats=True),
    Command("edit.find_previous", "Edit", "Find previous", "Go to the place before", ("Shift+F3",), repeats=True),
    Command("edit.replace", "Edit", "Replace…", "Replace a text in the grammar by another", ("Ctrl+H",)),
    Command(
        "edit.complete",
        "Edit",
        "Complete",
        "List what could stand at the cursor: rules, keywords, references, classes",
        ("Ctrl+Space", "Meta+Space"),
        separated=True,
    ),
    Command("edit.fix", "Edit", "Fix", "Repair what is wrong at the cursor", ("Ctrl+.",), "ph.wrench"),
    Command(
        "edit.definition",
        "Edit",
        "Go to definition",
        "Go to the rule or schema that the name at the cursor means",
        ("F12",),
        separated=True,
    ),
    Command("edit.references", "Edit", "References", "List where the name at the cursor is used", ("Shift+F12",)),
    Command("edit.rename", "Edit", "Rename…", "Give the rule or definition at the cursor another name", ("F2",)),
    Command(
        "edit.comment",
        "Edit",
        "Comment",
        "Make the selected lines comments, or what they were",
        ("Ctrl+Shift+/", "Ctrl+#"),
        separated=True,
    ),
    Command(
        "edit.format",
        "Edit",
        "Format",
        "Put the grammar's lines and blanks in order; it means the same then",
        ("Shift+Alt+F",),
        "ph.text-align-left",
    ),
    Command("edit.bracket", "Edit", "Other bracket", "Go to the partner of the bracket at the cursor", ("Ctrl+B",)),
    Command(
        "edit.convert",
        "Edit",
        "Another notation…",
        "Write the grammar in another notation, read it as one, or begin anew in one",
        ("Ctrl+Shift+N",),
        "ph.arrows-left-right",
    ),
    Command(
        "edit.problem",
        "Edit",
        "Next problem",
        "Go to the next problem of the grammar",
        ("F8",),
        separated=True,
        repeats=True,
    ),
    Command("edit.palette", "Edit", "Command palette…", "Find any command", ("Ctrl+Shift+P",), "ph.terminal"),
    Command("view.editor", "View", "Grammar", "Go to the grammar editor", ("Ctrl+1",)),
    Command("view.automaton", "View", "Automaton", "Go to the automaton", ("Ctrl+2",)),
    Command("view.generation", "View", "Generation", "Go to the generation", ("Ctrl+3",)),
    Command("view.problems", "View", "Problems", "Go to the list of problems", ("Ctrl+4",)),
    Command("view.probabilities", "View", "Probabilities", "Go to the redistribution", ("Ctrl+5",)),
    Command("view.tests", "View", "Tests", "Go to the test strings", ("Ctrl+6",)),
    Command("view.timeline", "View", "Timeline", "Go to the timeline of the steps", ("Ctrl+7",)),
    Command("view.breakpoints", "View", "Breakpoints", "Go to the list of breakpoints", ("Ctrl+8",)),
    Command("view.twin", "View", "Without grammar", "Go to what the model writes without the grammar", ("Ctrl+9",)),
    Command("view.forced", "View", "Forced text", "Go to the forced runs and their spellings", ("Ctrl+0",)),
    Command(
        "view.bottom", "View", "Bottom tabs", "Fold or unfold the tabs under the panes", ("Ctrl+J",), checkable=True
    ),
    Command(
        "view.explanation",
        "View",
        "Explanation",
        "Show or hide what each part of the grammar means",
        ("Ctrl+Shift+E",),
        "ph.chat-text",
        separated=True,
    ),
    Command(
        "view.reference",
        "View",
        "Quick reference",
        "Show or hide what the notation has to offer",
        ("Ctrl+Shift+K",),
        "ph.book-open",
    ),
    Command(
        "view.gbnf", "View", "Grammar as GBNF", "Show or hide the GBNF that the grammar comes to", ("Ctrl+Shift+G",)
    ),
    Command(
        "view.chips_probability",
        "View",
        "Chips by probability",
        "Colour the output by what the model held probable",
        ("Ctrl+L, 1",),
        separated=True,
        checkable=True,
    ),
    Command(
        "view.chips_choice",
        "View",
        "Chips by choice",
        "Colour the output by forced and free",
        ("Ctrl+L, 2",),
        checkable=True,
    ),
    Command(
        "view.chips_surprise",
        "View",
        "Chips by surprise",
        "Colour the output by how unexpected it was",
        ("Ctrl+L, 3",),
        checkable=True,
    ),
    Command(
        "view.chips_time", "View", "Chips by time", "Colour the output by its time", ("Ctrl+L, 4",), checkable=True
    ),
    Command(
        "view.light",
        "View",
        "Light theme",
        "Use the light theme",
        ("Ctrl+L, L",),
        separated=True,
        checkable=True,
    ),
    Command("view.dark", "View", "Dark theme", "Use the dark theme", ("Ctrl+L, D",), checkable=True),
    Command(
        "view.system",
        "View",
        "Theme of the desktop",
        "Follow the desktop's theme",
        ("Ctrl+L, S",),
        checkable=True,
    ),
    Command(
        "automaton.find",
        "Automaton",
        "Find in the automaton…",
        "Find a state, a rule, a byte or where a text leads",
        ("Ctrl+Shift+F",),
        "ph.magnifying-glass",
    ),
    Command("automaton.map", "Automaton", "Map", "Show all rules or regions", ("Ctrl+M, Home",), separated=True),
    Command("automaton.live", "Automaton", "Around the live state", "Show what surrounds it", ("Ctrl+M, L",)),
    Command("automaton.tokens", "Automaton", "Tokens of a state", "Show where its tokens lead", ("Ctrl+M, K",)),
    Command("automaton.up", "Automaton", "One level up", "From tokens or a part to the map", ("Ctrl+M, Up",)),
    Command("automaton.back", "Automaton", "Back", "Show what was shown before", ("Ctrl+M, Left",)),
    Command("automaton.forward", "Automaton", "Forward", "Show what one went back from", ("Ctrl+M, Right",)),
    Command("automaton.collapse", "Automaton", "Collapse", "Take back what was opened by stubs", ("Ctrl+M, Down",)),
    Command("automaton.all", "Automaton", "Draw all", "Draw every state", ("Ctrl+M, A",), checkable=True),
    Command(
        "automaton.bytes",
        "Automaton",
        "Label with bytes",
        "Draw each byte instead of characters and texts",
        ("Ctrl+M, B",),
        separated=True,
        checkable=True,
    ),
    Command(
        "automaton.merge",
        "Automaton",
        "Merge forced runs",
        "Draw each forced run, where the grammar leaves no choice, as one edge",
        ("Ctrl+M, J",),
        checkable=True,
    ),
    Command("automaton.table", "Automaton", "As a table", "Show it as a table", ("Ctrl+M, T",), checkable=True),
    Command(
        "automaton.stacks",
        "Automaton",
        "Stacks",
        "Show every way in which the match stands",
        ("Ctrl+M, S",),
        "ph.stack",
        checkable=True,
    ),
    Command(
        "automaton.coverage",
        "Automaton",
        "Show coverage",
        "Highlight what the test strings, or the generated outputs, use of the automaton",
        ("Ctrl+M, V",),
        "ph.checks",
        checkable=True,
    ),
    Command(
        "automaton.coverage_generated",
        "Automaton",
        "Coverage of generated outputs",
        "Count what generated outputs use, instead of what the test strings use",
        ("Ctrl+M, G",),
        checkable=True,
    ),
    Command(
        "automaton.minimap",
        "Automaton",
        "Minimap",
        "Show the whole drawing in a corner",
        ("Ctrl+M, M",),
        "ph.map-trifold",
        checkable=True,
    ),
    Command("automaton.fit", "Automaton", "Fit", "Show the whole drawing, however small", ("Ctrl+M, 0",)),
    Command(
        "automaton.zoom_in",
        "Automaton",
        "Zoom in",
        "Show the drawing larger",
        ("Ctrl+M, +", "Ctrl+M, ="),
        repeats=True,
    ),
    Command("automaton.zoom_out", "Automaton", "Zoom out", "Show the drawing smaller", ("Ctrl+M, -",), repeats=True),
    Command(
        "automaton.layout",
        "Automaton",
        "Best layout",
        "Lay out as the size allows",
        ("Ctrl+M, 1",),
        separated=True,
    ),
    Command(
        "automaton.layout_dot",
        "Automaton",
        "Layout by Graphviz",
        "Up to 200 states, within a second",
        ("Ctrl+M, 2",),
    ),
    Command(
        "automaton.layout_sugiyama",
        "Automaton",
        "Layout in layers",
        "Up to 500 states, with straight ways",
        ("Ctrl+M, 3",),
    ),
    Command(
        "automaton.layout_layered",
        "Automaton",
        "Layout by distance",
        "A column for each distance from the start",
        ("Ctrl+M, 4",),
    ),
    Command("automaton.turn", "Automaton", "Top to bottom", "Draw downwards instead of to the right", ("Ctrl+M, D",)),
    Command(
        "automaton.save",
        "Automaton",
        "Save this picture…",
        "Write what is drawn as SVG, PNG or DOT",
        ("Ctrl+M, P",),
        separated=True,
    ),
    Command(
        "automaton.copy_dot",
        "Automaton",
        "Copy as DOT",
        "Copy what is drawn in Graphviz' language",
        ("Ctrl+M, C",),
    ),
    Command(
        "run.step",
        "Run",
        "Step",
        "Let the sampler take the next token",
        ("Ctrl+Return", "F11"),
        "ph.play",
        repeats=True,
    ),
    Command(
        "run.back",
        "Run",
        "Back",
        "Undo the last step; it stays as a branch",
        ("Ctrl+Shift+Return",),
        "ph.skip-back",
        repeats=True,
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
    Command(
        "run.until",
        "Run",
        "Run until…",
        "Run until a rule is over, a state, a token, an allowed mass, a legal end, or so many tokens",
        ("Ctrl+F5",),
        "ph.flag",
        separated=True,
    ),
    Command(
        "run.over",
        "Run",
        "Step over",
        "Run until the rules that the next token opens are over",
        ("F10",),
        "ph.arrow-arc-right",
        repeats=True,
    ),
    Command("run.out", "Run", "Step out", "Run until the innermost rule is over", ("Shift+F11",), "ph.arrow-line-up"),
    Command(
        "run.breakpoint",
        "Run",
        "Breakpoint",
        "Set or remove a breakpoint at the cursor, or on the selected state when the graph has the focus: a run stops "
        "before that part of the grammar is entered, or when that state is reached",
        ("F9",),
        "ph.record",
    ),
    Command(
        "run.force",
        "Run",
        "Force the token",
        "Take the selected token though the grammar does not allow it",
        ("Ctrl+R, Return",),
        separated=True,
    ),
    Command("run.worst", "Run", "Worst step", "Go to where the grammar took most from the model", ("Ctrl+R, W",)),
    Command(
        "run.twin",
        "Run",
        "Write without the grammar",
        "Let the model write without the grammar, to compare",
        ("Ctrl+Shift+T",),
    ),
    Command(
        "run.processors",
        "Run",
        "Processors…",
        "Choose what stands between the model and the draw, and in which order",
        ("Ctrl+R, P",),
        "ph.funnel",
        separated=True,
    ),
    Command(
        "run.complete",
        "Run",
        "Complete within the budget",
        "Take only tokens after which the grammar can still end within the budget",
        ("Ctrl+R, C",),
        checkable=True,
    ),
    Command(
        "run.fast_forward",
        "Run",
        "Take forced runs in one go",
        "Write what the grammar forces as the tokenizer would, without asking the model for it",
        ("Ctrl+R, F",),
        "ph.link-simple",
        checkable=True,
    ),
    Command(
        "run.processors_reset", "Run", "Reset processors", "The grammar alone, and the usual order", ("Ctrl+R, R",)
    ),
    Command("run.why", "Run", "Why not?", "Explain the selected token", ("F1",), "ph.question", separated=True),
    Command("run.cancel", "Run", "Cancel", "Stop what runs in the background", ("Esc",), "ph.x"),
    Command(
        "run.workers",
        "Run",
        "Restart workers",
        "Start the background processes anew",
        ("Ctrl+Shift+F5",),
        separated=True,
    ),
    Command(
        "tests.check",
        "Tests",
        "Check an output…",
        "Paste what a model wrote, and read in a sentence what went wrong with it",
        ("Ctrl+K",),
        "ph.clipboard-text",
    ),
    Command("tests.add", "Tests", "Add a test", "Add a text that the grammar should accept or refuse", ("Ctrl+T",)),
    Command(
        "tests.paste", "Tests", "Paste lines as tests", "Add each line of the clipboard as a test", ("Ctrl+Shift+V",)
    ),
    Command("tests.duplicate", "Tests", "Duplicate tests", "Add the selected tests once more", ("Ctrl+Shift+D",)),
    Command("tests.remove", "Tests", "Remove tests", "Remove the selected tests", ("Ctrl+Shift+Del",)),
    Command("tests.toggle", "Tests", "Expect the opposite", "Expect the opposite of the selected tests", ("Ctrl+U",)),
    Command(
        "tests.failure",
        "Tests",
        "Next failing test",
        "Go to the next test that fails, and to its place",
        ("Shift+F8",),
        repeats=True,
    ),
    Command(
        "tests.shortest",
        "Tests",
        "Suggest the shortest text",
        "Suggest the shortest text that the grammar accepts",
        ("Ctrl+Shift+L",),
        separated=True,
    ),
    Command(
        "tests.random",
        "Tests",
        "Suggest random texts",
        "Suggest texts that the grammar accepts, at random",
        ("Ctrl+Shift+R",),
    ),
    Command(
        "tests.rules",
        "Tests",
        "Suggest one for each rule",
        "Suggest texts that use what no test uses yet",
        ("Ctrl+Shift+U",),
    ),
    Command(
        "tests.near",
        "Tests",
        "Suggest near misses",
        "Suggest texts that are refused, with one thing wrong",
        ("Ctrl+Shift+M",),
    ),
    Command(
        "help.tour",
        "Help",
        "Take the tour",
        "Five steps through the window, each at its own place",
        ("Shift+F1",),
        "ph.compass",
    ),
    Command("help.keys", "Help", "Keyboard shortcuts", "List every command and its keys", ("Ctrl+/",), "ph.keyboard"),
    Command(
        "help.details",
        "Help",
        "Copy details",
        "Copy versions and the last lines of the log, for a report; they contain no text of yours",
        ("Ctrl+Shift+F1",),
        "ph.clipboard-text",
    ),
    Command(
        "help.log",
        "Help",
        "Show log folder",
        "Open the folder of the diagnostic logs",
        ("Ctrl+Shift+F2",),
        "ph.folder-open",
    ),
    Command("help.about", "Help", "About Turnstile", "Version and licence", ("Ctrl+F1",), "ph.info"),
)
