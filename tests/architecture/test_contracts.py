"""The import contracts of `pyproject.toml` hold, and each of them can fail.

A contract that nobody ever broke may be one that cannot break: a module
misspelled, a layer left out. So each is broken here on purpose, in a copy.
"""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = [
    contract["id"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
]

# contract → (where the forbidden import is planted, what it imports)
PLANTS = [
    ("engine-knows-no-qt", "engine/source/planted.py", "PySide6.QtCore"),
    ("engine-knows-no-qt", "engine/cli/planted.py", "app.theme"),
    ("engine-layers", "engine/automata/planted.py", "engine.compile"),
    ("engine-layers", "engine/masking/planted.py", "engine.decoding"),
    ("engine-layers", "engine/vocabulary/planted.py", "engine.notations"),
    ("engine-layers", "engine/planted.py", "engine.source"),
    ("engine-layers", "engine/peers/planted.py", "engine.diagnosis"),
    ("engine-layers", "engine/decoding/planted.py", "engine.peers"),
    ("export-layers", "engine/export/schema/planted.py", "engine.export.text"),
    ("export-layers", "engine/export/graph/planted.py", "engine.export.targets"),
    ("export-layers", "engine/export/planted.py", "engine.export.rules"),
    ("peers-are-optional", "engine/peers/planted.py", "llguidance"),
    ("peers-are-optional", "app/workers/planted.py", "xgrammar"),
    ("app-layers", "app/panes/planted.py", "app.session"),
    ("app-layers", "app/workers/planted.py", "app.jobs"),
    ("app-layers", "app/planted.py", "app.theme"),
    ("panes-ignore-each-other", "app/panes/planted.py", "app.panes.editor"),
    ("layout-knows-no-qt", "app/graph/layout.py", "PySide6.QtCore"),
    ("workers-know-no-qt", "app/workers/planted.py", "PySide6.QtWidgets"),
]


@pytest.fixture
def checkout(tmp_path):
    for package in ("engine", "app"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(checkout, *contracts):
    code = (
        f"import sys, importlinter.cli as c; sys.exit(c.lint_imports(None, {contracts!r}, no_cache=True, no_logo=True))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_contracts_hold(checkout):
    code, output = lint(checkout)
    assert code == 0, output


@pytest.mark.parametrize(("contract", "place", "imported"), PLANTS)
def test_a_planted_violation_breaks_the_contract(checkout, contract, place, imported):
    with (checkout / place).open("a", encoding="utf-8") as file:
        file.write(f"\nimport {imported}\n")
    code, output = lint(checkout, contract)
    assert code == 1, output
    assert Path(place).stem in output


def test_every_contract_is_proved():
    assert {contract for contract, _, _ in PLANTS} == set(CONTRACTS)
