"""The import contracts of `pyproject.toml` hold, and each of them can fail.

A contract that nobody ever broke may be one that cannot break: a module
misspelled, a layer left out. So each is broken here on purpose, in a copy: all of
them in the same one, since no planted import leads to another.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = {
    contract["id"]: contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
}

# contract → (where the forbidden import is planted, what it imports)
PLANTS = [
    ("engine-knows-no-qt", "engine/source/planted.py", "PySide6.QtCore"),
    ("engine-knows-no-qt", "engine/cli/planted.py", "app.theme"),
    ("engine-layers", "engine/automata/planted.py", "engine.compile"),
    ("engine-layers", "engine/masking/planted.py", "engine.decoding"),
    ("engine-layers", "engine/vocabulary/planted.py", "engine.notations"),
    ("engine-layers", "engine/targets.py", "engine.vocabulary"),
    ("engine-layers", "engine/planted.py", "engine.source"),
    ("engine-layers", "engine/peers/planted.py", "engine.diagnosis"),
    ("engine-layers", "engine/decoding/planted.py", "engine.peers"),
    ("schema-layers", "engine/schema_automaton/formula/planted.py", "engine.schema_automaton.solver"),
    ("schema-layers", "engine/schema_automaton/lexing/planted.py", "engine.schema_automaton.pushdown"),
    ("schema-layers", "engine/schema_automaton/planted.py", "engine.schema_automaton.formula"),
    ("export-layers", "engine/export/schema/planted.py", "engine.export.text"),
    ("export-layers", "engine/export/graph/planted.py", "engine.export.targets"),
    ("export-layers", "engine/export/planted.py", "engine.export.rules"),
    ("peers-are-optional", "engine/peers/planted.py", "llguidance"),
    ("peers-are-optional", "app/workers/planted.py", "xgrammar"),
    ("app-layers", "app/session/planted.py", "app.panes"),
    ("views-know-values", "app/panes/planted.py", "app.session"),
    ("views-know-values", "app/panes/timeline/pane.py", "app.document"),
    ("app-layers", "app/workers/planted.py", "app.jobs"),
    ("app-layers", "app/planted.py", "app.theme"),
    ("panes-ignore-each-other", "app/panes/planted.py", "app.panes.editor"),
    ("panes-ignore-each-other", "app/panes/timeline/presenter.py", "app.panes.problems.presenter"),
    ("graph-layers", "app/graph/layout/planted.py", "app.graph.match.folding"),
    ("graph-layers", "app/graph/match/planted.py", "app.graph.draw.shapes"),
    ("layout-knows-no-qt", "app/graph/layout/types.py", "PySide6.QtCore"),
    ("workers-know-no-qt", "app/workers/planted.py", "PySide6.QtWidgets"),
]

# the package of a circle → (where its second half is planted, the statement)
CIRCLES = {
    "engine.source": ("engine/source/limits.py", "import engine.source.cancel"),
    "engine.notations.regex": (
        "engine/notations/regex/dialect.py",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from engine.notations.regex.parser import parse",
    ),
    "engine.notations": ("engine/notations/links.py", "def late():\n    import engine.notations.json_schema.names"),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    copy = tmp_path_factory.mktemp("checkout")
    for package in ("engine", "app"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


@pytest.fixture(scope="module")
def told(checkout):
    """What is said of each contract where all are broken, by its id."""
    code, output = lint(checkout)
    assert code == 0, output
    for _, place, imported in PLANTS:
        with (checkout / place).open("a", encoding="utf-8") as file:
            file.write(f"\nimport {imported}\n")
    for place, statement in CIRCLES.values():
        with (checkout / place).open("a", encoding="utf-8") as file:
            file.write(f"\n{statement}\n")
    code, output = lint(checkout)
    assert code == 1, output
    _, _, broken = output.partition("Broken contracts")
    names = "|".join(re.escape(name) for name in CONTRACTS.values())
    found = re.split(f"^({names})$", broken, flags=re.MULTILINE)[1:]
    ids = {name: contract for contract, name in CONTRACTS.items()}
    return {ids[name]: text for name, text in zip(found[::2], found[1::2], strict=True)}


def lint(checkout):
    code = "import sys, importlinter.cli as c; sys.exit(c.lint_imports(None, (), no_cache=True, no_logo=True))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout,
        env={**os.environ, "COLUMNS": "1000"},  # so that no name is broken in two
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("contract", "place", "imported"), PLANTS)
def test_the_contracts_hold_and_a_planted_violation_breaks_its_own(told, contract, place, imported):
    importer = place.removesuffix(".py").replace("/", ".")
    # A package that is not ours is told by its name alone; a module where none is allowed, without its imports.
    named = imported if imported.startswith(("app", "engine")) else imported.partition(".")[0]
    assert re.search(f"^- +{re.escape(importer)}( -> {re.escape(named)} .*)?$", told[contract], re.MULTILINE)


@pytest.mark.parametrize("package", CIRCLES)
def test_a_planted_circle_is_found_even_where_it_is_for_types_or_in_a_function(told, package):
    assert f"No cycles are allowed in {package}.\n" in told["no-cycles"]


def test_every_contract_is_proved():
    assert {"no-cycles", *(contract for contract, _, _ in PLANTS)} == set(CONTRACTS)
