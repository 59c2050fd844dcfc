import subprocess
import sys
from pathlib import Path

import pytest

from app.document import Autosave, Document, DocumentError, DocumentFile, GrammarPart
from engine.decoding.values import FormerBranch, SamplerSettings, Trace


@pytest.fixture
def autosave(tmp_path):
    autosave = Autosave(tmp_path / "autosave")
    yield autosave
    autosave.close()


@pytest.fixture
def document(qtbot, autosave):
    return Document(autosave)


def saved_files(tmp_path):
    return list((tmp_path / "autosave").glob("*.autosave"))


def test_an_edit_makes_a_revision_and_marks_the_document(document, qtbot):
    with qtbot.waitSignals([document.changed, document.title_changed]):
        document.set_text("a+")
    assert (document.revision, document.is_modified) == (1, True)
    document.set_text("a+")
    assert document.revision == 1


def test_steps_do_not_mark_the_document_but_are_kept(document):
    trace = Trace(current=None, illegal=frozenset({1}))
    document.set_trace(trace)
    assert not document.is_modified
    assert document.content.trace == trace


def test_a_sampler_change_marks_it_without_a_revision(document):
    document.set_sampler(SamplerSettings(seed=3))
    assert (document.revision, document.is_modified) == (0, True)


def test_a_budget_is_part_of_the_document(document):
    document.set_max_tokens(12)
    assert document.content.max_tokens == 12
    assert document.is_modified


def test_the_latest_few_former_branches_are_kept_each_once(document):
    branches = [FormerBranch("Letters", str(i), ()) for i in range(10)]
    for branch in [*branches, branches[5]]:
        document.add_former(branch)
    assert [branch.prompt for branch in document.content.former] == list("59876432")
    assert not document.is_modified


def test_the_dialect_is_part_of_the_grammar(document):
    document.set_grammar(GrammarPart(dialect="ecma"))
    assert document.content.grammar.dialect == "ecma"
    assert document.revision == 1


def test_save_and_open(document, tmp_path):
    path = tmp_path / "work.turnstile"
    document.set_text("a+")
    document.save(path)
    assert (document.title, document.is_modified, document.path) == ("work", False, path)
    document.set_text("other")
    document.open(path)
    assert document.content.grammar.text == "a+"


def test_a_file_that_cannot_be_opened_costs_nothing(document, tmp_path):
    document.set_text("precious")
    (tmp_path / "bad.turnstile").write_text("{")
    with pytest.raises(DocumentError):
        document.open(tmp_path / "bad.turnstile")
    assert document.content.grammar.text == "precious"
    assert document.is_modified


def test_edits_are_autosaved_and_a_save_takes_that_away(document, qtbot, tmp_path):
    document.set_text("a+")
    qtbot.waitUntil(lambda: len(saved_files(tmp_path)) == 1)
    document.save(tmp_path / "work.turnstile")
    qtbot.waitUntil(lambda: not saved_files(tmp_path))


def test_a_clean_end_leaves_nothing_to_recover(document, qtbot, tmp_path):
    document.set_text("a+")
    qtbot.waitUntil(lambda: len(saved_files(tmp_path)) == 1)
    document.close()
    assert list((tmp_path / "autosave").iterdir()) == []


def test_the_work_of_a_window_that_is_alive_is_not_taken(document, qtbot, tmp_path):
    document.set_text("a+")
    qtbot.waitUntil(lambda: len(saved_files(tmp_path)) == 1)
    other = Autosave(tmp_path / "autosave")
    assert other.recover() is None
    other.close()


CRASH = """
import os, signal, sys
from pathlib import Path
from app.document import Autosave, DocumentFile, GrammarPart
autosave = Autosave(Path(sys.argv[1]))
autosave.save(DocumentFile(grammar=GrammarPart(text="precious work")), Path("/some/where.turnstile"))
autosave._writer.submit(lambda: None).result()
os.kill(os.getpid(), signal.SIGKILL)
"""


def crash(tmp_path):
    root = Path(__file__).parents[3]
    ended = subprocess.run([sys.executable, "-c", CRASH, str(tmp_path / "autosave")], cwd=root, check=False)
    assert ended.returncode == -9


def test_work_is_recovered_after_kill_9(document, qtbot, tmp_path):
    crash(tmp_path)
    saved = document.recover()
    assert saved is not None
    assert document.content.grammar.text == "precious work"
    assert document.is_modified
    assert document.title == "where"
    # It stays safe: this window's own autosave holds it now.
    qtbot.waitUntil(lambda: len(saved_files(tmp_path)) == 1)


def test_two_crashes_are_recovered_one_after_the_other(autosave, tmp_path):
    crash(tmp_path)
    crash(tmp_path)
    assert autosave.recover() is not None
    assert autosave.recover() is not None
    assert autosave.recover() is None


def test_a_damaged_autosave_is_put_aside(autosave, tmp_path):
    folder = tmp_path / "autosave"
    folder.mkdir()
    (folder / "x.autosave").write_bytes(b"{")
    assert autosave.recover() is None
    assert (folder / "x.damaged").exists()


def test_an_autosave_folder_that_cannot_be_made_costs_a_line_in_the_log(tmp_path, caplog):
    (tmp_path / "file").write_bytes(b"")
    autosave = Autosave(tmp_path / "file" / "autosave")
    autosave.save(DocumentFile(grammar=GrammarPart(text="a")), None)
    autosave.close()
    assert "autosave cannot write" in caplog.text


def test_autosave_that_fails_tells_once(qtbot, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    document = Document(Autosave(tmp_path / "file" / "autosave"))
    heard = []
    document.autosave_failed.connect(heard.append)
    document.set_text("a")
    qtbot.waitUntil(lambda: bool(heard))
    document.set_text("ab")
    document._autosave_now()
    document.close()  # waits for the writer
    qtbot.turns()
    assert len(heard) == 1


def test_what_cannot_be_copied_stays_where_the_crash_left_it(document, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    crash(tmp_path)
    before = saved_files(tmp_path)
    monkeypatch.setattr("app.document.autosave.write_atomically", full)
    assert document.recover() is not None
    assert saved_files(tmp_path) == before
