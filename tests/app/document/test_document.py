import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from decode_views import trace
from PySide6.QtCore import QTimer

from app.document import Autosave, Document, DocumentError, DocumentFile, GrammarPart, Saved
from app.document.autosave import AutosaveEncoder, read_saved
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import ArchivedBranch, SamplerSettings, Trace


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
    branches = [ArchivedBranch("Letters", str(i), ()) for i in range(10)]
    for branch in [*branches, branches[5]]:
        document.add_archived(branch)
    assert [branch.prompt for branch in document.content.archived] == list("59876432")
    assert not document.is_modified


def test_a_branch_with_a_name_is_not_dropped_for_later_ones(document):
    named = ArchivedBranch("model", "named", (), "kept")
    document.add_archived(named)
    for name in "abcdefghi":
        document.add_archived(ArchivedBranch("model", name, ()))
    assert [branch.prompt for branch in document.content.archived] == [*"ihgfedcb", "named"]
    document.change_archived(named, None)
    assert named not in document.content.archived
    assert document.is_modified


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
    assert other.find() is None
    other.close()


CRASH = """
import os, signal, sys
from pathlib import Path
from app.document import Autosave, DocumentFile, GrammarPart
autosave = Autosave(Path(sys.argv[1]))
autosave.save(DocumentFile(grammar=GrammarPart(text="precious work")), Path("/some/where.turnstile"))
autosave.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def crash(tmp_path):
    root = Path(__file__).parents[3]
    ended = subprocess.run([sys.executable, "-c", CRASH, str(tmp_path / "autosave")], cwd=root, check=False)
    assert ended.returncode == -9


def test_work_is_recovered_after_kill_9(document, qtbot, tmp_path):
    crash(tmp_path)
    document.recover(document.autosave.find())
    assert document.content.grammar.text == "precious work"
    assert document.is_modified
    assert document.title == "where"
    # It stays safe: this window's own autosave holds it now.
    qtbot.waitUntil(lambda: len(saved_files(tmp_path)) == 1)


def test_two_crashes_are_recovered_one_after_the_other(autosave, tmp_path):
    crash(tmp_path)
    crash(tmp_path)
    for _ in range(2):
        autosave.take(autosave.find())
    assert autosave.find() is None


def test_a_damaged_autosave_is_put_aside(autosave, tmp_path):
    folder = tmp_path / "autosave"
    folder.mkdir()
    (folder / "x.autosave").write_bytes(b"{")
    assert autosave.find() is None
    assert autosave.damaged == 1
    (aside,) = folder.glob("x.autosave.damaged-*")
    assert aside.read_bytes() == b"{"


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
    document.autosave_now()
    document.close()  # waits for the writer
    qtbot.turns()
    assert len(heard) == 1


def test_what_cannot_be_copied_stays_where_the_crash_left_it(document, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    crash(tmp_path)
    before = saved_files(tmp_path)
    monkeypatch.setattr("app.document.autosave.write_atomically", full)
    document.recover(document.autosave.find())
    assert document.content.grammar.text == "precious work"
    assert saved_files(tmp_path) == before


def test_a_change_that_follows_another_does_not_put_its_autosave_off(document, qtbot, tmp_path):
    texts = iter(range(10**6))
    typing = QTimer(interval=20)
    typing.timeout.connect(lambda: document.set_text("a" * next(texts)))
    typing.start()
    qtbot.waitUntil(lambda: len(saved_files(tmp_path)) == 1)
    first = saved_files(tmp_path)[0].read_bytes()
    qtbot.waitUntil(lambda: saved_files(tmp_path)[0].read_bytes() != first)
    typing.stop()


def test_while_the_disk_is_busy_only_the_latest_state_waits(autosave, tmp_path, monkeypatch):
    begun, may_go_on, written = threading.Event(), threading.Event(), []

    def slow(path, data, **_options):
        begun.set()
        may_go_on.wait()
        written.append(msgspec.json.decode(data)["document"]["grammar"]["text"])

    monkeypatch.setattr("app.document.autosave.write_atomically", slow)
    autosave.save(DocumentFile(grammar=GrammarPart(text="0")), None)
    begun.wait()
    for number in range(1, 10):
        autosave.save(DocumentFile(grammar=GrammarPart(text=str(number))), None)
    may_go_on.set()
    autosave.flush()
    assert written == ["0", "9"]


def test_what_was_entered_is_autosaved_until_it_is_in_force_or_refused(document, tmp_path):
    def recovered():
        document.save_for_next_start("test")
        (file,) = saved_files(tmp_path)
        return read_saved(file.read_bytes(), file.name).document

    stages = PipelineSettings(suppress=("c",))
    document.draft(prompt="typed", pipeline=stages)
    assert (recovered().prompt, recovered().pipeline) == ("typed", stages)
    assert document.content == DocumentFile()
    document.drop_draft("pipeline")
    document.set_prompt("typed, and more")
    assert (recovered().prompt, recovered().pipeline) == ("typed, and more", PipelineSettings())
    document.draft(prompt="other")
    document.draft(prompt="typed, and more")
    assert document.shown.drafts == {}
    document.draft(prompt="of this document")
    document.replace(DocumentFile())
    assert document.shown.drafts == {}


def test_steps_are_encoded_once_and_read_back_the_same(autosave, tmp_path):
    steps = tuple(trace(tuple(b"ab" for _ in range(700))).nodes)
    encoder = AutosaveEncoder()
    for length in (0, 1, 255, 256, 257, 512, 700, 300, 0):
        nodes = steps[:length]
        archived = (ArchivedBranch("model", "prompt", tuple(node.step for node in nodes)),)
        path = tuple(range(length))
        content = DocumentFile(
            trace=Trace(nodes, path, path[-1] if path else None, frozenset(path[:2])), archived=archived
        )
        saved = Saved("/a/ü", 12.5, content, "SIGTERM")
        assert read_saved(encoder.encode(saved), "a") == saved
    changed = (steps[0], *(replace(node) for node in steps[1:300]))
    content = DocumentFile(trace=Trace(changed, (), None, frozenset()))
    assert read_saved(encoder.encode(Saved("", 0.0, content)), "a").document == content
