import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "packaging" / "find-python.sh"


@pytest.fixture
def folder(tmp_path):
    """The only folder on the path: nothing but the shell's own words and what a test puts there."""
    return tmp_path


def interpreter(folder, name, exit_code):
    path = folder / name
    path.write_text(f"#!/bin/sh\nexit {exit_code}\n", "utf-8")
    path.chmod(0o755)
    return path


def find(folder, **environment):
    return subprocess.run(
        ["/bin/sh", SCRIPT], env={"PATH": str(folder), **environment}, capture_output=True, text=True, check=False
    )


def test_the_first_that_fits_is_taken(folder):
    interpreter(folder, "python3", 1)
    interpreter(folder, "python3.12", 0)
    assert find(folder).stdout == "python3.12\n"


def test_none_that_fits_is_told_with_what_to_install(folder):
    interpreter(folder, "python3", 1)
    done = find(folder)
    assert done.returncode == 1
    assert "needs Python 3.11" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr


def test_a_choice_by_hand_wins_and_is_checked(folder):
    interpreter(folder, "python3", 0)
    chosen = interpreter(folder, "mine", 0)
    assert find(folder, PYTHON=str(chosen)).stdout == f"{chosen}\n"
    chosen.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    assert find(folder, PYTHON=str(chosen)).returncode == 1


def test_this_python_fits():
    done = subprocess.run(
        ["/bin/sh", SCRIPT], env={**os.environ, "PYTHON": sys.executable}, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == sys.executable
