"""Tries the Debian package in a bare Debian 12, as root: `packaging/try_bundle.py dist/turnstile_X_amd64.deb`.

`debootstrap` makes the root from the mirror of this machine, with nothing in it but what every Debian has. There, apt
installs the package with its dependencies, and a user without rights uses it: on the command line, and with keys from
xdotool in a window on an Xvfb of this machine. Then the package is removed, and nothing may remain.

Each step prints a line; the first that fails ends the trial with exit code 1 and leaves the root for a look at it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

WORK: Final = Path(__file__).resolve().parent.parent / "build" / "try"
TOOLS: Final = (
    "debootstrap",
    "dpkg-deb",
    "Xvfb",
    "xdotool",
    "import",
    "strace",
    "desktop-file-validate",
    "appstreamcli",
)
DISPLAY: Final = ":97"
USER: Final = "visitor"
HOME: Final = f"/home/{USER}"
_PATIENCE: Final = 180.0  # seconds; a first start compiles kernels
_GRAMMAR: Final = ("--notation", "regex", "--grammar", "[A-Z]+: [a-z]+")
_DOCUMENT: Final = {
    "format": "turnstile",
    "version": 3,
    "title": "trial",
    "grammar": {"notation": "regex", "text": _GRAMMAR[-1]},
    "model": {"spec": "shakespeare"},
}
_PLANTED: Final = ("engine", "app", "resources", "json", "numpy", "torch", "numba", "multiprocessing", "sitecustomize")
_PACKAGE: Final = "/var/tmp/turnstile.deb"  # noqa: S108 - a folder of the root
_STEPS: Final = 3
_ADDRESS: Final = re.compile(r"sa_family=AF_INET6?\b")


class TrialError(Exception):
    """A step failed; the message says what was seen."""


class TrialRoot:
    """A Debian system in a folder.

    Args:
        folder: the folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self) -> None:
        """Make it from the mirror of this machine, or take the one that an earlier trial made."""
        archive = self.folder.with_suffix(".tar")
        if str(self.folder) in Path("/proc/self/mounts").read_text("utf-8"):
            raise TrialError(f"something is mounted in {self.folder}: unmount it")
        if not archive.is_file():
            site, release = (
                _output("apt-get", "indextargets", "--format", "$(SITE) $(CODENAME)").splitlines()[0].split()
            )
            del release
            shutil.rmtree(self.folder, ignore_errors=True)
            _run("debootstrap", "--variant=minbase", "bookworm", str(self.folder), site)
            _run("tar", "--create", "--file", str(archive), "--directory", str(self.folder), ".")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        _run("tar", "--extract", "--file", str(archive), "--directory", str(self.folder))
        (self.folder / "dev" / "shm").mkdir(mode=0o1777, exist_ok=True)
        (self.folder / "dev" / "shm").chmod(0o1777)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(Path("/etc") / name, self.folder / "etc" / name)
        _run("useradd", "--root", str(self.folder), "--create-home", USER)

    @contextmanager
    def processes(self) -> Iterator[None]:
        """Show it the processes of this machine; its devices are its own."""
        _run("mount", "-t", "proc", "proc", str(self.folder / "proc"))
        try:
            yield
        finally:
            _run("umount", "--lazy", str(self.folder / "proc"))

    def command(self, *command: str, folder: str = HOME, user: str = USER, **environment: str) -> list[str]:
        """Return the command that runs another one in here.

        Args:
            command: the other command.
            folder: its working directory.
            user: who runs it.
            environment: its environment; there is nothing else in it but home, path and language.
        """
        words = {"HOME": HOME if user == USER else "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        variables = [f"{name}={value}" for name, value in {**words, **environment}.items()]
        inside = ["env", "-i", *variables, "sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", folder, *command]
        return ["chroot", f"--userspec={user}:{user}", str(self.folder), *inside]

    def run(self, *command: str, code: int = 0, folder: str = HOME, user: str = USER) -> str:
        """Run a command in here and return what it prints.

        Args:
            command: the command.
            code: the exit code that it must have.
            folder: its working directory.
            user: who runs it.
        """
        done = subprocess.run(
            self.command(*command, folder=folder, user=user), capture_output=True, text=True, check=False
        )
        if done.returncode != code:
            raise TrialError(
                f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
            )
        return done.stdout

    def path(self, name: str) -> Path:
        """Return where a file of this system is for us."""
        return self.folder / name.removeprefix("/")

    def files(self) -> set[str]:
        """Return the paths of all files, without those of processes, devices and package lists."""
        others = ("proc/", "dev/", "var/lib/apt", "var/cache", "var/log", "var/lib/dpkg", "tmp/", "home/")
        names = (path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*"))
        return {name for name in names if not name.startswith(others)}


def install(root: TrialRoot, package: Path) -> None:
    """Install the package with what it depends on."""
    shutil.copy(package, root.path(_PACKAGE))
    apt = ("apt-get", "install", "-y", "--no-install-recommends")
    root.run("apt-get", "update", user="root")
    root.run("env", "DEBIAN_FRONTEND=noninteractive", *apt, _PACKAGE, user="root")
    size = sum(path.stat().st_size for path in root.path("/opt/turnstile").rglob("*") if not path.is_symlink())
    print(f"   {package.stat().st_size / 1e6:.0f} MB packed, {size / 1e6:.0f} MB installed")


def use_commands(root: TrialRoot) -> None:
    """Run subcommands: without a model, with one, and those that start child processes."""
    version = root.run("turnstile", "--version").split()
    if version[0] != "turnstile" or len(version) != 2:
        raise TrialError(f"--version prints {version}")
    root.run("turnstile", "check", *_GRAMMAR)
    written = root.run(
        "turnstile", "generate", *_GRAMMAR, "--model", "shakespeare", "--seed", "7", "--max-tokens", "60"
    )
    print(f"   generated: {written.strip()!r}")
    root.run("turnstile", "mask", *_GRAMMAR, "--model", "records")
    for target, name in (("svg", "drawn.svg"), ("png", "drawn.png"), ("gbnf", "rules.gbnf")):
        root.run("turnstile", "export", "--to", target, *_GRAMMAR, "--output", name)
        if not root.path(f"{HOME}/{name}").stat().st_size:
            raise TrialError(f"{name} is empty")
    engines = json.loads(root.run("turnstile", "bench", *_GRAMMAR, "--json"))
    print(f"   engines: {', '.join(_engines(engines))}")


def _engines(value: Any) -> list[str]:
    """Return the names of the engines that a benchmark measured."""
    return [str(one.get("engine", one)) for one in value.get("engines", ())] if isinstance(value, dict) else []


def cache_kernels(root: TrialRoot) -> None:
    """Check that the compiled kernels are in the user's cache, and that the installed folder has nothing new."""
    kernels = root.path(f"{HOME}/.cache/turnstile/kernels")
    if not any(kernels.rglob("*.nbi")):
        raise TrialError("no compiled kernel is in the user's cache")
    listed = set(root.run("dpkg", "--listfiles", "turnstile", user="root").splitlines())
    found = {f"/{path.relative_to(root.folder)}" for path in root.path("/opt/turnstile").rglob("*")}
    if new := sorted(found - listed):
        raise TrialError(f"new files in the installed folder: {new[:5]}")


def start_among_modules(root: TrialRoot) -> None:
    """Start in a folder with modules of our names: none of them runs, not even in a child."""
    folder = root.path(f"{HOME}/project")
    folder.mkdir(exist_ok=True)
    for name in _PLANTED:
        (folder / f"{name}.py").write_text(f"open({HOME!r} + '/ran', 'a').write({name!r} + ' ')\n")
    (folder / ".numba_config.yaml").write_text("not yaml: [")
    shutil.chown(folder, *_owner(root))
    for command in (
        ("turnstile", "generate", *_GRAMMAR, "--model", "records", "--max-tokens", "3"),
        ("turnstile", "export", "--to", "svg", *_GRAMMAR, "--output", "drawn.svg"),
        ("turnstile", "--screenshot", "window.png"),
    ):
        done = subprocess.run(
            root.command(*command, folder=f"{HOME}/project"), capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, 3):
            raise TrialError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-3000:]}")
    if root.path(f"{HOME}/ran").exists():
        raise TrialError(f"code of the folder ran: {root.path(f'{HOME}/ran').read_text()}")


def use_window(root: TrialRoot) -> None:
    """Open a document in the window on a display, take steps with the keyboard, and save it with them."""
    document = root.path(f"{HOME}/work.turnstile")
    document.write_text(json.dumps(_DOCUMENT))
    shutil.chown(document, *_owner(root))
    trace = root.folder.parent / "network"
    command = root.command("turnstile", f"{HOME}/work.turnstile", DISPLAY=DISPLAY)
    screen = ("Xvfb", DISPLAY, "-screen", "0", "1280x720x24", "-nolisten", "tcp")
    with subprocess.Popen(screen) as display:
        watched = ("strace", "-f", "-qq", "-e", "trace=connect,sendto", "-e", "signal=none", "-o", str(trace))
        with subprocess.Popen([*watched, *command], start_new_session=True) as window:
            try:
                _drive(document, lambda: window.poll() is None)
            finally:
                _on_display("import", "-window", "root", str(root.folder.parent / "window.png"))
                os.killpg(window.pid, 15)
                window.wait(60)
                display.terminate()
    calls = [line for line in trace.read_text(errors="replace").splitlines() if _ADDRESS.search(line)]
    if calls:
        raise TrialError(f"the window used the network without a click: {calls[:3]}")


def _drive(document: Path, is_alive: Callable[[], bool]) -> None:
    """Press keys until the document has steps."""
    end = time.monotonic() + _PATIENCE
    while True:
        time.sleep(3)
        if not is_alive():
            raise TrialError("the window has ended")
        for key in ("F11", "ctrl+s"):
            _on_display("xdotool", "key", key)
            time.sleep(1)
        saved = json.loads(document.read_text("utf-8"))
        steps = len(saved.get("trace", {}).get("nodes", ()))
        if steps >= _STEPS:
            print(f"   {steps} steps were taken and saved")
            return
        if time.monotonic() > end:
            raise TrialError(f"after {_PATIENCE:.0f} s the document has {steps} steps")


def _on_display(*command: str) -> None:
    """Run a command on the display; its effect is looked at, not its exit code."""
    subprocess.run(command, env={**os.environ, "DISPLAY": DISPLAY}, check=False)


def remove(root: TrialRoot, before: set[str]) -> None:
    """Remove the package: nothing of it may remain outside of the user's home."""
    root.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "purge", "-y", "turnstile", user="root")
    root.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "autoremove", "-y", "--purge", user="root")
    remaining = sorted(name for name in root.files() - before if "turnstile" in name)
    if remaining:
        raise TrialError(f"after the removal there are still {remaining[:5]}")


def validate(package: Path) -> None:
    """Check the package with the validators of Debian and of the desktop."""
    tree = WORK / "unpacked"
    shutil.rmtree(tree, ignore_errors=True)
    _run("dpkg-deb", "--extract", str(package), str(tree))
    shared = tree / "usr" / "share"
    _run("desktop-file-validate", *(str(path) for path in (shared / "applications").iterdir()))
    _run("appstreamcli", "validate", "--no-net", *(str(path) for path in (shared / "metainfo").iterdir()))
    shutil.rmtree(tree)


def _owner(root: TrialRoot) -> tuple[int, int]:
    state = root.path(HOME).stat()
    return state.st_uid, state.st_gid


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TrialError(
            f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-2000:]}"
        )


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Try a package; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("package", type=Path)
    parser.add_argument("--without-lintian", action="store_true", help="which takes ten minutes on two cores")
    options = parser.parse_args(arguments)
    package = options.package
    if absent := [name for name in TOOLS if shutil.which(name) is None]:
        print(f"turnstile: these commands are missing: {', '.join(absent)}", file=sys.stderr)
        return 1
    root = TrialRoot(WORK / "root")
    root.folder.mkdir(parents=True, exist_ok=True)

    def trial(title: str, step: Callable[[], object]) -> None:
        began = time.monotonic()
        step()
        print(f"{title}: {time.monotonic() - began:.0f} s", flush=True)

    try:
        trial("validated", lambda: validate(package))
        if not options.without_lintian:
            trial("looked at by lintian", lambda: _run("lintian", "--fail-on", "error", str(package)))
        trial("made a bare root", root.make)
        before = root.files()
        with root.processes():
            trial("installed", lambda: install(root, package))
            trial("used on the command line", lambda: use_commands(root))
            trial("cached kernels", lambda: cache_kernels(root))
            trial("started among modules of the same names", lambda: start_among_modules(root))
            trial("used in the window, without network", lambda: use_window(root))
            trial("removed", lambda: remove(root, before))
    except TrialError as error:
        print(f"turnstile: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
