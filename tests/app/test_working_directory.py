"""Started in a folder, Turnstile runs no code of it, in no process and no child, and opens no connection by itself."""

import os
import site
import subprocess
import sys
from pathlib import Path

import pytest

from app.document import DocumentFile, GrammarPart, ModelPart
from engine.document.codec import encode
from engine.source.processes import without_working_directory

ROOT = Path(__file__).parents[2]
OURS = ("engine", "app", "resources", "packaging")
OTHERS = ("numpy", "numba", "torch", "transformers", "PySide6", "pygraphviz", "msgspec", "platformdirs", "yaml", "tqdm")
EXTENSIONS = ("presenters", "panes", "notations", "targets", "adapters", "sources", "stages")
HOOKS = ("sitecustomize", "usercustomize", "src", "_ops", "_classes")
GRAMMAR = ("--notation", "regex", "--grammar", "a[bc]*d")
SVG = ("export", "--to", "svg", *GRAMMAR, "--output", "drawn.svg")
COMMANDS = {  # those of one name run one after the other in one process
    "grammar": (
        ("check", *GRAMMAR),
        ("step", *GRAMMAR, "--text", "ab"),
        ("explain", *GRAMMAR, "--next", "x"),
        ("replay", *GRAMMAR, "--text", "abx"),
        ("bench", *GRAMMAR, "--engines", "turnstile"),
        SVG,
        ("export", "--to", "png", *GRAMMAR, "--output", "drawn.png"),
    ),
    "model": (
        ("mask", *GRAMMAR, "--model", "records"),
        ("forced", *GRAMMAR, "--model", "records", "--max-tokens", "2"),
        ("generate", *GRAMMAR, "--model", "shakespeare", "--max-tokens", "2"),
        ("generate", *GRAMMAR, "--model", "nobody/nothing"),
        ("share", "work.turnstile", "--output", "work.html"),
    ),
    "window": (("--screenshot", "window.png"),),
}
NEGATIVE = ("replay", "nobody/nothing")
"""Commands with one of these words exit with 1."""
LAUNCHER = """
import sys
def note(event, arguments):
    if event == 'socket.getaddrinfo' or event == 'socket.connect' and isinstance(arguments[1], tuple):
        open({connected!r}, 'a').write(str(arguments))
sys.addaudithook(note)  # in the workers too, which import this file
from app.entry import main
if __name__ == '__main__':
    codes = []
    for command in {commands!r}:
        sys.argv[1:] = command
        codes.append(int(main()))
    print()  # a command may end within a line
    print(codes)
"""


@pytest.fixture
def planted(tmp_path):
    """A folder whose modules note when they are imported, in the file `imported`."""
    folder = tmp_path / "project"
    folder.mkdir()
    note = f"open({str(tmp_path / 'imported')!r}, 'a').write(__name__ + ' ')\n"
    # What a script of its own name shadows is not at issue: `__main__` is the launcher's.
    library = {name for name in sys.stdlib_module_names if name not in sys.builtin_module_names} - {"__main__"}
    for name in (*library, *HOOKS):
        (folder / f"{name}.py").write_text(note)
    for name in (*OURS, *OTHERS):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(note)
    for name in EXTENSIONS:
        (folder / "turnstile_extensions" / name).mkdir(parents=True)
        (folder / "turnstile_extensions" / name / "planted.py").write_text(note)
    (folder / ".numba_config.yaml").write_text("not yaml: [")
    (folder / "pyvenv.cfg").write_text("home = nowhere\n")
    (folder / "qt.conf").write_text("[Paths]\nPlugins = nowhere\n")
    document = DocumentFile(title="work", grammar=GrammarPart("regex", "ab"), model=ModelPart(spec="shakespeare"))
    (folder / "work.turnstile").write_bytes(encode(document))
    return folder


def start(folder, *commands, path=ROOT):
    """Run `turnstile`, by a launcher like the one that pip writes, in a folder; its last line has the exit codes."""
    launcher = folder.parent / "bin" / "turnstile"
    launcher.parent.mkdir(exist_ok=True)
    launcher.write_text(LAUNCHER.format(commands=commands, connected=str(folder.parent / "connected")))
    environment = dict(os.environ, PYTHONPATH=str(path))
    for name in ("PYTHONSAFEPATH", "DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        environment.pop(name, None)
    return subprocess.run(
        [sys.executable, launcher],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def imported(folder):
    marker = folder.parent / "imported"
    return sorted(set(marker.read_text().split())) if marker.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_no_code_of_the_working_directory_runs(planted, name):
    done = start(planted, *COMMANDS[name])
    assert imported(planted) == []
    assert not (planted.parent / "connected").exists()  # nothing uses the network by itself
    assert "Traceback" not in done.stderr
    expected = [int(any(word in command for word in NEGATIVE)) for command in COMMANDS[name]]
    assert done.stdout.splitlines()[-1:] == [str(expected)], done.stderr


def test_planted_code_would_be_noticed(planted):
    unsafe = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}  # a test may have set it
    subprocess.run([sys.executable, "-c", "import engine"], cwd=planted, env=unsafe, capture_output=True, check=False)
    assert "engine" in imported(planted)


def test_an_empty_entry_of_the_path_variable_brings_no_code_into_the_children(tmp_path):
    """An empty entry names the working directory; what the launcher imports before our code runs is beyond us."""
    folder = tmp_path / "project"
    folder.mkdir()
    note = f"open({str(tmp_path / 'imported')!r}, 'a').write(__name__ + ' ')\n"
    for name in ("multiprocessing", "pygraphviz", "random", "argparse"):
        (folder / f"{name}.py").write_text(note)
    done = start(folder, SVG, path=f"{ROOT}{os.pathsep}")
    assert (done.stdout.splitlines()[-1:], imported(folder)) == (["[0]"], []), done.stderr


def test_an_import_path_keeps_what_is_absolute_and_elsewhere(tmp_path, monkeypatch):
    project, library = tmp_path / "project", str(Path(os.__file__).parent)
    project.mkdir()
    (tmp_path / "link").symlink_to(project)
    monkeypatch.chdir(project)
    entries = ["", ".", "lib", str(project), str(tmp_path / "link"), str(project / "lib"), library]
    assert without_working_directory(entries) == [str(project / "lib"), library]


@pytest.mark.parametrize("own", [ROOT, Path(os.__file__).parent, Path(site.getsitepackages()[0])])
def test_an_import_path_keeps_the_folders_of_python_and_of_turnstile(own, monkeypatch):
    monkeypatch.chdir(own)
    assert without_working_directory(["", str(own)]) == [str(own)]


def test_an_import_path_is_cleaned_where_the_working_directory_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert without_working_directory(["", "lib", str(tmp_path)]) == [str(tmp_path)]
