"""Makes an environment ready for `make run`, `make test` or `make bundle`: system libraries and packages.

Done once, it is recognised by a stamp, so that a second `make run` starts at
once. The stamp is written last and holds a hash of all that decides what is
installed: an interrupted or outdated installation has none that fits, and is
simply done again. Only the standard library is used, since nothing else is
there yet.

Rejected: the file times that make compares, which a fresh clone, a moved
checkout and a changed Python all get wrong; a tool such as uv, which a fresh
machine does not have.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import system_libraries

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = {"run": (), "test": ("test",), "manual": ("manual",), "bundle": ("bundle",)}
"""What each goal installs besides the program."""

ENVIRONMENTS = {"run": ".venv", "test": ".venv", "manual": ".venv", "bundle": "build/env"}
"""The environment of each goal. What is installed for tests must not get into a bundle."""

COVERED_BY = {
    "run": ("run", "test", "manual"),
    "test": ("test",),
    "manual": ("manual", "test"),
    "bundle": ("bundle",),
}
"""The goals whose installation serves a goal too."""


class SetupError(Exception):
    """The set-up cannot go on; the message says what to do."""


def fingerprint(root: Path, goal: str) -> str:
    """A hash of all that decides what `goal` installs, where, and for which Python."""
    digest = hashlib.sha256()
    for part in (goal, str(root), sys.version, sys.base_prefix):
        digest.update(part.encode() + b"\0")
    for name in ("pyproject.toml", "packaging/constraints.txt", "packaging/system-libraries.toml"):
        digest.update((root / name).read_bytes() + b"\0")
    return digest.hexdigest()


def stamp(root: Path, goal: str) -> Path:
    """Where it is noted that `goal` was set up."""
    return root / ENVIRONMENTS[goal] / f"ready-to-{goal}"


def is_ready(root: Path, goal: str) -> bool:
    """Whether the set-up for `goal` is done and still fits."""
    return any(
        path.is_file() and path.read_text("ascii") == fingerprint(root, other)
        for other in COVERED_BY[goal]
        for path in (stamp(root, other),)
    )


def prepare(root: Path, goal: str) -> None:
    """Set up everything for `goal`; at once where it is done already.

    Raises:
        SetupError: with what to do.
    """
    if is_ready(root, goal):
        return
    if sys.platform.startswith("linux"):
        provide_system_libraries()
    place = root / ENVIRONMENTS[goal]
    make_environment(place)
    for other in EXTRAS:
        (place / f"ready-to-{other}").unlink(missing_ok=True)
    install(root, goal)
    stamp(root, goal).write_text(fingerprint(root, goal), "ascii")


def provide_system_libraries() -> None:
    """Install the libraries that Qt needs as root on Debian; elsewhere print the command, and stop if they block."""
    absent = system_libraries.missing(system_libraries.read_list())
    if not absent:
        return
    family = system_libraries.distribution()
    commands = system_libraries.install_commands(absent, family)
    if family == "debian" and os.geteuid() == 0:
        for command in commands:
            run(command, DEBIAN_FRONTEND="noninteractive")
        absent = system_libraries.missing(system_libraries.read_list())
        if not absent:
            return
    names = ", ".join(library.soname for library in absent)
    say(f"Qt and Graphviz need system libraries that are not here: {names}.")
    for command in commands:
        print(f"    sudo {shlex.join(command)}", flush=True)
    if system_libraries.blocking(absent, system_libraries.displays(os.environ)):
        raise SetupError("Install them (the command stands above), then try again.")
    say("They are for a display that is not in use; going on without them.")


def make_environment(place: Path) -> None:
    """Make an environment, or make it anew where it is broken, moved or of another Python."""
    if environment_works(place):
        return
    provide_venv_module()
    say(f"Making {place}")
    shutil.rmtree(place, ignore_errors=True)
    run((sys.executable, "-m", "venv", str(place)))
    # Its scripts name their interpreter by its path: an environment that was moved or copied must be made anew.
    (place / "made-at").write_text(str(place), "utf-8")


def environment_works(place: Path) -> bool:
    """Whether the environment is whole, was made here, and by the Python that is asking."""
    python = interpreter(place)
    noted = place / "made-at"
    if not python.is_file() or (noted.is_file() and noted.read_text("utf-8") != str(place)):
        return False
    question = "import pip, sys; print(sys.version, sys.base_prefix, sep='|')"
    answer = subprocess.run([python, "-c", question], capture_output=True, text=True, check=False)
    return answer.returncode == 0 and answer.stdout.strip() == f"{sys.version}|{sys.base_prefix}"


def provide_venv_module() -> None:
    """Make sure that Python can make environments: Debian ships that part apart."""
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        if system_libraries.distribution() != "debian":
            raise SetupError(
                "This Python has no `ensurepip`, so it cannot make an environment; use one that has."
            ) from None
        if os.geteuid() != 0:
            raise SetupError(f"Python's venv module is missing. Run: sudo apt-get install {package}") from None
        run(("apt-get", "update"))
        run(("apt-get", "install", "-y", "--no-install-recommends", package), DEBIAN_FRONTEND="noninteractive")


def install(root: Path, goal: str) -> None:
    """Install Turnstile, editable, with the versions that it was tested with."""
    say("Installing packages; the first time takes a few minutes, most of it for PyTorch")
    extras = f"[{','.join(EXTRAS[goal])}]" if EXTRAS[goal] else ""
    pip = (str(interpreter(root / ENVIRONMENTS[goal])), "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(
        (
            *pip,
            "install",
            "--constraint",
            str(root / "packaging" / "constraints.txt"),
            "--editable",
            f"{root}{extras}",
        )
    )


def interpreter(place: Path) -> Path:
    """The Python of an environment."""
    return place / "bin" / "python"


def run(command: Sequence[str], **environment: str) -> None:
    """Run a command in the open.

    Raises:
        SetupError: if it fails.
    """
    try:
        subprocess.run(command, check=True, env={**os.environ, **environment})
    except (subprocess.CalledProcessError, OSError) as error:
        raise SetupError(f"This failed: {shlex.join(command)}\n{error}") from error


def say(text: str) -> None:
    """Tell the user where the set-up is."""
    print(f"turnstile: {text}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Set up for the goal that the command line names; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("goal", choices=sorted(EXTRAS))
    try:
        prepare(ROOT, parser.parse_args(arguments).goal)
    except SetupError as error:
        print(f"turnstile: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
