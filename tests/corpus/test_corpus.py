"""Every case of `tests/data/corpus` on every path that can run it, and the ratchet of what passes."""

from __future__ import annotations

import pytest

from tests.corpus import ratchet
from tests.corpus.case import FOLDER, VOCABULARY_FILE, cases, read
from tests.corpus.paths import PATHS


@pytest.mark.parametrize("group", ratchet.groups())
@pytest.mark.parametrize("path", PATHS)
def test_no_case_is_wrong_and_no_fewer_pass(path, group):
    tally = ratchet.run(path, group)
    assert tally.wrong == []
    expected = ratchet.read()["passed"].get(path, {}).get(group, 0)
    assert tally.passed >= expected, f"refused: {tally.refused}"
    assert tally.passed == expected, "more cases pass: `python -m tests.corpus --raise` writes the ratchet"


def test_the_corpus_has_hundreds_of_grammars_in_every_notation():
    sources = {(case.notation, case.source) for case in cases()}
    assert len(sources) >= 300
    assert sum(len(case.texts) + len(case.dead) for case in cases()) >= 3_000
    for notation in ("regex", "gbnf", "json_schema"):
        assert sum(kind == notation for kind, _ in sources) >= 80


def test_the_ratchet_names_only_files_and_paths_that_exist():
    passed = ratchet.read()["passed"]
    assert set(passed) <= set(PATHS)
    assert {group for counts in passed.values() for group in counts} <= set(ratchet.groups())


@pytest.mark.parametrize("name", [path.name for path in sorted(FOLDER.glob("*.toml")) if path != VOCABULARY_FILE])
def test_every_file_has_a_case_with_accepted_texts_or_findings(name):
    assert all(case.texts or case.masks or case.findings is not None for case in read(FOLDER / name))


def test_a_key_that_nobody_reads_is_refused(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text('notation = "regex"\n[[case]]\nid = "a"\nsource = "a"\nacept = ["a"]\n', "utf-8")
    with pytest.raises(ValueError, match="unknown keys: acept"):
        read(path)


def test_a_wrong_expectation_is_found_on_every_path_of_texts(tmp_path, monkeypatch):
    path = tmp_path / "planted.toml"
    path.write_text(
        'notation = "gbnf"\n[[case]]\nid = "a"\nsource = \'root ::= "a"\'\naccept = ["b"]\nreject = []\n', "utf-8"
    )
    planted = read(path)[0]
    real = cases()
    monkeypatch.setattr("tests.corpus.case.cases", lambda notation=None: (*real, planted))
    monkeypatch.setattr("tests.corpus.paths.cases", lambda notation=None: (*real, planted))
    for name in ("automaton", "matcher", "masks", "completions", "verdicts", "reference", "python", "regex"):
        outcome = PATHS[name](planted)
        assert outcome is not None, name
        assert outcome.problem, name
