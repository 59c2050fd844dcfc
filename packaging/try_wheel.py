"""Builds the wheel and tries it as users install it: `packaging/try_wheel.py --pipx --uv`.

pipx and uv make an environment of their own for the command `turnstile`, below `build/`. There, the commands run that a
bundle is tried with, in an empty folder, so that a resource that is missing in the wheel is noticed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import platform_packages

ROOT: Final = Path(__file__).resolve().parent.parent
DIST: Final = ROOT / "dist"
WORK: Final = ROOT / "build"
CONSTRAINTS: Final = ROOT / "packaging" / "constraints.txt"


def build() -> Path:
    """Build the wheel, with the pages of the manual if `make manual` has made them."""
    subprocess.run((sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(DIST)), check=True, cwd=ROOT)
    return max(DIST.glob("token_turnstile-*.whl"), key=lambda path: path.stat().st_mtime)


def installers(wheel: Path) -> dict[str, tuple[tuple[str, ...], dict[str, str], Path]]:
    """Return, for each installer, its command, its environment, and the folder of the commands that it installs."""
    pipx, uv = WORK / "pipx", WORK / "uv"
    return {
        "pipx": (
            ("pipx", "install", "--force", "--pip-args", f"--constraint {CONSTRAINTS}", str(wheel)),
            {"PIPX_HOME": str(pipx), "PIPX_BIN_DIR": str(pipx / "bin"), "PIPX_MAN_DIR": str(pipx / "man")},
            pipx / "bin",
        ),
        "uv": (
            ("uv", "tool", "install", "--force", "--constraints", str(CONSTRAINTS), str(wheel)),
            {"UV_TOOL_DIR": str(uv), "UV_TOOL_BIN_DIR": str(uv / "bin")},
            uv / "bin",
        ),
    }


def attempt(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
    """Install with a command, and run what it installed.

    Args:
        command: the installer.
        environment: variables that it needs besides those of this process.
        folder: where it puts commands.
    """
    subprocess.run((sys.executable, "-m", *command), check=True, env={**os.environ, **environment})
    program = folder / ("turnstile.exe" if os.name == "nt" else "turnstile")
    with tempfile.TemporaryDirectory() as place:
        for one in platform_packages.smoke_commands(program):
            subprocess.run(one, check=True, cwd=place)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the wheel and try the installers that the command line names; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    for name in ("pipx", "uv"):
        parser.add_argument(f"--{name}", action="append_const", dest="names", const=name, help=f"install with {name}")
    wheel = build()
    try:
        for name in parser.parse_args(arguments).names or ():
            attempt(*installers(wheel)[name])
            print(f"{name} installs {wheel.name}, and it works", flush=True)
    except subprocess.CalledProcessError as error:
        print(f"turnstile: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
