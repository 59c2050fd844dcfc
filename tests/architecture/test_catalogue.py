"""The catalogue of texts (`resources/texts`) is complete, is used and has one style; planted texts prove the rules.

A package that is converted has its sentences in the catalogue alone: add it to `CONVERTED`.
"""

import ast
import re
import string
from functools import cache
from pathlib import Path

import pytest
from syntax import parsed

import app.window.main_window  # noqa: F401 - declares all commands
from app.catalogue import has_text, ui_text
from app.commands import MENUS, declared_commands
from engine.source.catalogue import CatalogueError, CatalogueText, area_texts, flatten
from engine.source.diagnostics import diagnostic_keys, diagnostic_texts

ROOT = Path(__file__).resolve().parents[2]
AREAS = sorted(path.stem for path in (ROOT / "resources/texts").glob("*.toml"))
CONVERTED = (
    "app/commands.py",
    "app/application.py",
    "app/delays.py",
    "app/dialogs",
    "app/display_text.py",
    "app/document",
    "app/entry.py",
    "app/graph",
    "app/jobs",
    "app/main.py",
    "app/models",
    "app/pane_spec.py",
    "app/panes/automaton",
    "app/panes/breakpoints",
    "app/panes/editor",
    "app/panes/forced",
    "app/panes/generation",
    "app/panes/probabilities",
    "app/panes/problems",
    "app/panes/test_strings",
    "app/panes/timeline",
    "app/pasting.py",
    "app/presenters",
    "app/session",
    "app/settings.py",
    "app/storage.py",
    "app/widgets",
    "app/window",
    "app/workers",
    "engine/cli",
    "engine/decoding",
    "engine/diagnosis/distance.py",
    "engine/diagnosis/failures",
    "engine/diagnosis/fixes.py",
    "engine/diagnosis/server_probe/report.py",
    "engine/diagnosis/share_page/page_data.py",
    "engine/diagnosis/targets",
    "engine/diagnosis/verdicts",
    "engine/export/conversion_preview.py",
    "engine/export/schema/formats.py",
    "engine/export/target.py",
    *(f"engine/export/targets/{name}.py" for name in ("dot", "ebnf", "gbnf", "json", "lark", "png")),
    *(f"engine/export/targets/{name}.py" for name in ("regex", "safetensors", "svg")),
    "engine/export/text/conversion.py",
    "engine/export/text/plain_grammar.py",
    "engine/export/writing.py",
    "engine/models",
    "engine/notations/explanation.py",
    *(
        f"engine/notations/{name}/{part}.py"
        for name in ("gbnf", "json_schema", "regex")
        for part in ("completion", "explanation", "reference")
    ),
    "engine/notations/json_schema/fixes.py",
    "engine/notations/node_explanation.py",
    "engine/notations/reference.py",
)
# The errors of the engine that these raise have keys; elsewhere they may still have their text.
RAISED = ("app/main.py", "engine/cli", "engine/decoding", "engine/export/writing.py", "engine/models")
# Modules with the text of programs, or patterns of messages of other programs; what they show is in the catalogue.
PROGRAMS = frozenset(("engine/cli/completion.py", "engine/diagnosis/failures/log_rules.py"))
MISUSE = ("AttributeError", "NotImplementedError", "ReferenceError", "TypeError", "ValueError")  # by calling code
# Names in settings files, ids of verdicts in JSON, and the syntax of DOT.
NOT_SHOWN = frozenset(
    (
        *("automaton split", "editor pages", "full screen", "grammar text size"),
        *(
            "cut off",
            "forced by the user",
            "dead end",
            "not yet",
            "no eos",
            "rule exit",
            "eos legal",
            "text before",
            "text after",
            "empty language",
            "grammar error",
        ),
        *("digraph automaton {", '  start [shape=point, label=""];', "shape=box, peripheries="),
        "No space left",  # what follows is parts of messages of other libraries, by which their errors are recognised
        *("cannot reshape array", "must be a divisor of the total size", "allocate memory", "not enough memory"),
        *("does not recognize this architecture", "Unrecognized configuration class", "not supported"),
        "a namespace cannot have an attribute ",  # shown as Jinja's own messages are
        "chat template",  # a name for the operating system's list of threads
    )
)

# What a label, a tip or a message is passed to: a word in such a call belongs in the catalogue, too.
WIDGET_CALLS = frozenset(
    """QAction QCheckBox QGroupBox QLabel QLineEdit QPushButton QRadioButton ElidedLabel Label Notification
    addAction addMenu addRow addTab setAccessibleDescription setAccessibleName setHeaderLabels
    setHorizontalHeaderLabels setPlaceholderText setStatusTip setText setTitle setToolTip setWhatsThis setWindowTitle
    set_tip showMessage""".split()
)
BANNED = re.compile(
    r"\b(stands?|stood|standing|told|tells?|mend(s|ed)?|such an?|twin|anew|whence|thereof|alarm"
    r"|rooms?|doors?|belongings|what one|of its own|an eye)\b",
    re.IGNORECASE,
)
PROPER = frozenset(
    """Turnstile Graphviz Python Hugging Face Hub Schema Pretty Ctrl Shift Return Shakespeare Transformers Ollama Lark
    Outlines Apache Licence Instruct""".split()
)
NAMES = ("Z is", "Unicode", "POSIX", "SmolLM2", "GBNF", "Graphviz", "Lark")  # what begins in upper case everywhere
LOWER_NAMES = ("transformers", "vLLM", "llama.cpp")  # what begins in lower case everywhere
CONSOLE = "cli."  # as in other programs, help texts and messages begin in lower case
CONSOLE_SENTENCES = re.compile(r"\.(description|prose\.[a-z_]+)$")
CONSOLE_NAMES = ("HTML", "JSON", "FR+FA")
# Areas and tables of complete sentences, which are shown one after another.
PROSE = (
    "diagnosis.audit.",
    "verdicts.",
    *(f"failures.{table}." for table in ("when", "sentence", "fix", "evidence", "check", "canary", "violation")),
    "export.about.",
    "export.checked.",
    "export.scope.",
    "probe.sentence.",
)
PHRASES = (
    "decoding.",
    "progress.",
    "explanation.",
    "errors.",
    "sources.forms.",
    "sources.name.",
    "sources.stage.",
)  # areas of parts of lines; the code capitalises the first of a line
LONGEST_TITLE = 40
SENTENCE = re.compile(r"[A-Za-z]{2,},? [A-Za-z]+")
HTML_TAG = re.compile(r"<[a-z/][^>]*(>|$)")


READERS = ("ui_text", "has_text", "catalogue_text")
ERROR = re.compile(r"errors(\.[a-z][a-z0-9_]*)+|progress\.[a-z_]+")  # a key that is passed to another function
ERROR_START = re.compile(r"errors\.")
DIAGNOSTIC = re.compile(r"(?!schema-violation)(?:regex|gbnf|schema|export)-|(?:limit-exceeded|matches-nothing)")


def catalogue() -> dict[str, CatalogueText]:
    texts = {f"{area}.{name}": text for area in AREAS for name, text in area_texts(area).items()}
    return {key: text for key, text in texts.items() if not is_severity(key)}


def is_severity(key: str) -> bool:
    return key.startswith("diagnostics.") and key.endswith(".severity")


# --- keys ------------------------------------------------------------------------------------------------------------


def used_keys(source: str) -> list[str]:
    """Return the keys that a module passes to the catalogue, as regular expressions."""
    found = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READERS:
            is_carried = ast.unparse(node.args[0]) in ("self.key", "what")  # by an object, which got it elsewhere
            found += [] if is_carried else _patterns(node.args[0], node.lineno)
        elif isinstance(node, ast.Call) and node.args and _called(node).endswith("Error"):
            is_key = re.match(r"f?'[a-z_-]+\.[^ ]*'( |$)", ast.unparse(node.args[0]))
            found += _patterns(node.args[0], node.lineno) if is_key else []
        elif _is_string(node) and ERROR.fullmatch(node.value):
            found.append(re.escape(node.value))
        elif isinstance(node, ast.JoinedStr) and _is_string(node.values[0]) and ERROR_START.match(node.values[0].value):
            found += _patterns(node, node.lineno)
    return found


def _patterns(node: ast.expr, line: int) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [re.escape(node.value)]
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        parts = (re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*" for part in node.values)
        return ["".join(parts)]
    if isinstance(node, ast.IfExp):
        return [*_patterns(node.body, line), *_patterns(node.orelse, line)]
    raise AssertionError(f"line {line}: a key is a literal, or an f-string that begins with one")


@pytest.fixture(scope="module")
def patterns() -> list[str]:
    return sorted({pattern for source in sources() for pattern in used_keys(source)})


@cache
def sources() -> tuple[str, ...]:
    paths = [path for package in ("app", "engine") for path in sorted((ROOT / package).rglob("*.py"))]
    return tuple(path.read_text("utf-8") for path in paths)


def test_every_key_that_is_used_has_a_text(patterns):
    keys = catalogue()
    assert [pattern for pattern in patterns if not any(re.fullmatch(pattern, key) for key in keys)] == []


def test_every_text_is_used(patterns):
    anything = re.compile("|".join((*patterns, *(re.escape(text.reference) for text in catalogue().values()))))
    by_reader = (key for key in catalogue() if not key.startswith("diagnostics.") or ".fragment." in key)
    assert [key for key in by_reader if not anything.fullmatch(key)] == []


def test_every_command_and_every_menu_has_its_texts_and_no_other_has():
    owners = {tuple(name.split(".")[:2]) for name in area_texts("commands")}
    ids = {tuple(command.id.split(".")) for command in declared_commands()}
    assert owners == ids | {("menus", menu) for menu in MENUS}
    for command in declared_commands():
        assert command.title
        assert command.tip


def test_a_key_in_a_call_is_found_in_each_of_its_forms():
    source = 'ui_text("a.b"); has_text(f"a.{x}.c"); ui_text("a.d" if x else "a.e", count=2)'
    assert used_keys(source) == [r"a\.b", r"a\..*\.c", r"a\.d", r"a\.e"]
    source = (
        'raise MisuseError("cli.a.error.b", name=name); raise ValueError("no key"); raise MisuseError(f"cli.{a}.b")'
    )
    assert used_keys(source) == [r"cli\.a\.error\.b", r"cli\..*\.b"]
    source = 'raise EngineError("errors.a.b"); EngineError(f"errors.c.{x}", y=1); x = "errors"'
    assert set(used_keys(source)) == {r"errors\.a\.b", r"errors\.c\..*"}
    with pytest.raises(AssertionError, match="line 1"):
        used_keys("ui_text(x)")


# --- diagnostics -----------------------------------------------------------------------------------------------------


def reported_keys(source: str) -> list[str]:
    """Return the codes of diagnostics in a module, with variants, as regular expressions."""
    tree = parsed(source)
    found = []
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and _is_string(node.values[0]) and DIAGNOSTIC.match(node.values[0].value):
            found += _patterns(node, node.lineno)
        elif _is_string(node) and id(node) not in inner and re.fullmatch(r"[a-z0-9.-]+", node.value):
            found += [re.escape(node.value)] if DIAGNOSTIC.match(node.value) else []
    return found


def test_every_diagnostic_that_is_reported_has_its_texts_and_every_one_is_reported():
    patterns = {pattern for source in sources() for pattern in reported_keys(source)}
    keys = diagnostic_keys()
    codes = {key.partition(".")[0] for key in keys}  # fixes and filters name the code alone
    assert sorted(p for p in patterns if not any(re.fullmatch(p, known) for known in keys | codes)) == []
    anything = re.compile("|".join(patterns))
    assert sorted(key for key in keys if not anything.fullmatch(key)) == []


def test_a_planted_code_is_found_in_each_of_its_forms():
    source = 'add("gbnf-a"); x = {"b": "schema-c.d"}; add(f"regex-{e}.f"); y = "a schema-less gbnf-x"'
    assert reported_keys(source) == [r"gbnf\-a", r"schema\-c\.d", r"regex\-.*\.f"]


def test_each_part_of_a_diagnostic_is_known():
    parts = {key.rpartition(".")[2] for key in area_texts("diagnostics") if not key.startswith("fragment.")}
    assert parts == {"message", "hint", "severity"}
    for key in diagnostic_keys():
        texts = diagnostic_texts(key)  # its severity is one of `Severity`, and it has a message
        assert not texts.message.endswith("."), key
        assert not texts.hint.endswith("."), key


# --- the loader ------------------------------------------------------------------------------------------------------


def test_an_unknown_key_is_an_error_that_names_similar_ones():
    with pytest.raises(CatalogueError, match=r"'commands\.file\.new\.titel'.*commands\.file\.new\.title"):
        ui_text("commands.file.new.titel")
    with pytest.raises(CatalogueError, match="no catalogue 'comands'"):
        ui_text("comands.file.new.title")


def test_a_reference_is_another_text(monkeypatch):
    areas = {"common": {"word": CatalogueText("Text", None, frozenset())}}
    monkeypatch.setattr("engine.source.catalogue.area_texts", areas.__getitem__)
    areas["planted"] = dict(flatten("", {"column": {"text": "@common.word", "wrong": "@common.wrod"}}))
    assert ui_text("planted.column.text") == "Text"
    with pytest.raises(CatalogueError, match="common\\.wrod"):
        ui_text("planted.column.wrong")


def test_every_reference_has_a_text():
    references = [text.reference for text in catalogue().values() if text.reference]
    assert [key for key in references if not has_text(key)] == []


def test_missing_and_unknown_fields_are_errors():
    with pytest.raises(CatalogueError, match=r"has the fields none; given: path"):
        ui_text("commands.file.new.title", path="x")


def test_the_number_chooses_the_form(monkeypatch):
    text = CatalogueText("{count:,} files of {name}", "One file of {name}", frozenset({"count", "name"}))
    monkeypatch.setattr("engine.source.catalogue.area_texts", lambda _area: {"files": text})
    assert ui_text("planted.files", count=1, name="x") == "One file of x"
    assert ui_text("planted.files", count=2000, name="x") == "2,000 files of x"
    assert has_text("planted.files")
    with pytest.raises(CatalogueError, match=r"has the fields count, name; given: name"):
        ui_text("planted.files", name="x")


# --- style -----------------------------------------------------------------------------------------------------------


def style_faults(key: str, text: str) -> list[str]:
    """Return what is wrong with the style of a text."""
    if key.endswith(".synonyms"):
        return [] if text == text.lower() and not text.endswith((",", ".")) else ["synonyms are in lower case"]
    faults = []
    plain = re.sub(r"\{[^}]*\}", "0", text)
    if banned := BANNED.search(plain):
        faults.append(f"the word {banned[0]!r}")
    if (plain != plain.strip() and ".fragment." not in key) or "  " in plain:
        faults.append("blanks")
    is_message = key.startswith("diagnostics.") and key.endswith(".message")
    is_phrase = key.startswith(PHRASES)
    if key.startswith(CONSOLE):
        return faults + console_faults(key, plain)
    may_be_lower = ".fragment." in key or is_message or is_phrase or plain.startswith(LOWER_NAMES)
    if plain[:1].islower() and not may_be_lower:
        faults.append("begins in lower case")
    if plain[:1].isupper() and is_phrase and not plain.startswith(NAMES):
        faults.append("a phrase begins in lower case")
    if plain[:1].isupper() and is_message and not plain.startswith(NAMES):
        faults.append("a message of a diagnostic begins in lower case")
    if ".fragment." not in key or not key.startswith(PROSE):
        faults += period_faults(key, plain, text)
    if "..." in plain:
        faults.append("three periods for an ellipsis")
    if key.endswith((".title", ".button")) or ".menus." in key:
        later = re.findall(r"(?<!^)(?<![.?!] )\b[A-Z][a-z]+\b", plain)
        faults += [f"{word!r} is no proper name" for word in later if word not in PROPER]
        if plain.endswith(".") or len(plain) > LONGEST_TITLE:
            faults.append(f"a title has no period and at most {LONGEST_TITLE} characters")
    return faults


def console_faults(key: str, plain: str) -> list[str]:
    faults = ["three periods for an ellipsis"] if "..." in plain else []
    if CONSOLE_SENTENCES.search(key):
        return faults + ([] if plain[:1].isupper() and plain.endswith(".") else ["a sentence of the command line"])
    if plain[:1].isupper() and not plain.startswith(CONSOLE_NAMES):
        faults.append("begins in upper case")
    return faults + (["no period at the end"] if plain.endswith(".") else [])


def period_faults(key: str, plain: str, text: str) -> list[str]:
    if key.startswith(PROSE):
        return [] if plain.endswith(".") else ["prose ends with a period"]
    sentences = re.split(r"[.?!] +(?=[A-Z0-9“])", plain)
    if len(sentences) == 1:
        return ["one sentence has no period at its end"] if plain.endswith(".") else []
    ends = text.endswith((".", "?", "!", "…", ":", "}"))
    return [] if ends else ["several sentences end with a period"]


def test_every_text_has_the_style_of_the_catalogue():
    forms = [(key, form) for key, text in catalogue().items() for form in (text.other, text.one) if form is not None]
    assert [(key, form, fault) for key, form in forms for fault in style_faults(key, form)] == []


@pytest.mark.parametrize(
    ("key", "text", "fault"),
    [
        ("a.tip", "Show where it stands", "stands"),
        ("a.tip", "show the file", "lower case"),
        ("a.tip", "Show the file.", "no period"),
        ("a.text", "It failed. Try again", "several sentences"),
        ("a.text", "Wait...", "ellipsis"),
        ("a.title", "Open File", "proper name"),
        ("a.title", "Open " + "x" * 40, "at most"),
        ("a.tip", "Show  it", "blanks"),
        ("a.synonyms", "Load", "lower case"),
        ("diagnostics.a.message", "The name is missing", "lower case"),
        ("diagnostics.a.hint", "add a name", "lower case"),
        ("verdicts.a.text", "It ends here", "prose"),
        ("explanation.a.text", "The text", "lower case"),
        ("cli.a.option.b", "The name", "upper case"),
        ("cli.a.error.b", "no name.", "no period"),
        ("cli.a.description", "Show the name", "sentence"),
        ("cli.a.prose.b", "it ends here.", "sentence"),
    ],
)
def test_a_planted_text_of_another_style_is_found(key, text, fault):
    assert any(fault in found for found in style_faults(key, text))


def test_no_two_texts_are_equal():
    """Equal texts are one text; but a button may have the title of a command, and a command that of its menu.

    Diagnostics of two notations may be equal: each has its own message and hint. So may parts of sentences, and a
    phrase and a text of the window.
    """
    by_text: dict[tuple[bool, bool, str], list[str]] = {}
    for key, text in catalogue().items():
        is_exempt = key.startswith("diagnostics.") or (".fragment." in key and key.startswith((*PROSE, "share.")))
        if not key.endswith(".synonyms") and ".menus." not in key and not is_exempt and not text.reference:
            owner = key.startswith("commands."), key.startswith(PHRASES), text.other
            by_text.setdefault(owner, []).append(key)
    assert {text: keys for (*_, text), keys in by_text.items() if len(keys) > 1} == {}


def test_fields_have_names():
    names = {name for text in catalogue().values() for name in text.fields}
    assert [name for name in names if not name.isidentifier()] == []
    forms = [form for text in catalogue().values() for form in (text.other, text.one) if form]
    assert all(not conversion for form in forms for *_, conversion in string.Formatter().parse(form))


# --- no sentence in the code -----------------------------------------------------------------------------------------


def literals(source: str, *, raised: bool = False) -> list[str]:
    """Return the sentences of a module, and the words that it passes to widgets; not what developers read.

    Args:
        source: the text of the module.
        raised: whether the user reads the errors that it raises.
    """
    tree = parsed(source)
    found = []
    ignored: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and _is_string(node.value):  # a docstring
            ignored.add(id(node.value))
        is_for_developers = isinstance(node, ast.Raise) and (not raised or _raised(node) in MISUSE)
        if (
            isinstance(node, ast.Assert)
            or is_for_developers
            or (isinstance(node, ast.Call) and _called(node).startswith("_log."))
        ):
            ignored |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.Call) and not node.args and _called(node).endswith(".split"):  # a list of names
            ignored |= {id(inner) for inner in ast.walk(node.func)}
        if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            ignored |= {id(inner) for inner in ast.walk(node.annotation)}
    for node in ast.walk(tree):
        if not _is_string(node) or id(node) in ignored or node.value in NOT_SHOWN or node.value.startswith("\nimport "):
            pass
        elif SENTENCE.search(HTML_TAG.sub("", node.value)):
            found.append(node.value)
        if isinstance(node, ast.Call) and _called(node).rpartition(".")[2] in WIDGET_CALLS:
            parts = (part for argument in node.args for part in _shown_parts(argument))
            found += [part for part in parts if re.search(r"[A-Za-z]{2}", part) and part not in found]
    return found


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func)


def _raised(node: ast.Raise) -> str:
    return _called(node.exc) if isinstance(node.exc, ast.Call) else ""


def _shown_parts(node: ast.expr) -> list[str]:
    """Return the literal parts of an argument that are shown; keys and ids are not."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        is_key = re.fullmatch(r"[a-z_]+(\.[a-z_]+)*\.?", node.value)
        return [] if is_key else [node.value]
    if isinstance(node, ast.JoinedStr):
        return [part for value in node.values for part in _shown_parts(value)]
    if isinstance(node, ast.IfExp):
        return [*_shown_parts(node.body), *_shown_parts(node.orelse)]
    return []


def test_converted_packages_have_their_sentences_in_the_catalogue():
    found = {}
    for name in CONVERTED:
        path = ROOT / name
        for module in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if module.relative_to(ROOT).as_posix() in PROGRAMS:
                continue
            if sentences := literals(module.read_text("utf-8"), raised=name in RAISED):
                found[module.relative_to(ROOT).as_posix()] = sentences
    assert found == {}


@pytest.mark.parametrize(
    "planted",
    [
        'x.setText("Close")',
        'x.setToolTip(f"{name} Failed")',
        'QLabel("Name" if x else "")',
        'def f():\n    """A docstring."""\n    return "could not be opened"',
        'X = {"a": f"{n} files were saved"}',
        'x = f"<b>{n}</b> files were saved"',
        'x = "saved by {}".format(y); x = "two words".split(y)',
    ],
)
def test_a_planted_sentence_is_found(planted):
    assert literals(planted)


def test_a_planted_sentence_in_an_error_that_the_user_reads_is_found():
    code = 'raise CommandError(f"{name} is not valid")'
    assert literals(code, raised=True)
    assert not literals(code)


@pytest.mark.parametrize(
    "code",
    [
        '"""Open the file."""',
        '_log.warning("could not open")',
        'raise ValueError("no such key")',
        'set_tip(x, y, "run.step")',
        'NAMES = "minimum maximum".split()',
        """f'<span style="color: {x}">{y}</span>'""",
    ],
)
def test_what_developers_read_is_no_sentence_of_the_window(code):
    assert literals(code) == []
