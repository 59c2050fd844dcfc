"""A user's script is type-checked against the installed wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("engine", "app", "resources")
SCRIPT = """
from engine import CompileOptions, Explanation, Matcher, Vocabulary, compile_grammar

grammar = compile_grammar("regex", "[0-9]{4}", CompileOptions(dialect="ecma"))
matcher = Matcher(grammar, Vocabulary([b"20", None], eos_ids=[1]))
why: Explanation = matcher.explain(0)
sentence: str = why.sentence
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The site-packages of a new environment with the wheel, which finds other libraries where this one does."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    venv.create(folder / "environment", with_pip=False, symlinks=os.name != "nt")
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "environment")}))
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(site)
    (site / "libraries.pth").write_text(f"{Path(np.__file__).parents[1]}\n")
    return site


def mypy(site: Path, folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    file = folder / "script.py"
    file.write_text(script)
    binaries = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    python = next(place / binaries for place in site.parents if (place / binaries).exists())
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--cache-dir", str(folder)]
    command += ["--python-executable", str(python), str(file)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_says_that_it_has_types(package):
    assert (ROOT / package / "py.typed").read_bytes() == b""


@pytest.mark.parametrize("package", PACKAGES)
def test_the_wheel_carries_the_marker(package, installed):
    assert (installed / package / "py.typed").is_file()


def test_a_users_script_is_checked(installed, tmp_path):
    found = mypy(installed, tmp_path, SCRIPT)
    assert found.returncode == 0, found.stdout + found.stderr
    wrong = mypy(installed, tmp_path, SCRIPT + 'compile_grammar("regex", b"x")\nnumber: int = why.sentence\n')
    assert wrong.stdout.count(" error: ") == 2, wrong.stdout
