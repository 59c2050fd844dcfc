"""Which of the system's libraries Qt and Graphviz miss, and the command that brings them.

Their wheels carry themselves but not the libraries under them, and what is said
when one is missing names a file, not a package. The list beside this module maps each
file to the packages that hold it. A library counts as present when the dynamic
loader loads it: that is the very question they will ask.

Rejected: parsing `ldconfig -p`, which needs `/sbin` on the path and does not
see `LD_LIBRARY_PATH`; asking the package manager, which cannot tell whether a
file that came another way will do.
"""

from __future__ import annotations

import ctypes
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("system-libraries.toml")


@dataclass(frozen=True, slots=True)
class SystemLibrary:
    """One shared library that Qt loads.

    Attributes:
        soname: the name that the dynamic loader looks for.
        when: "always", or the display system ("x11", "wayland") that alone needs it.
        debian: the package that holds it on Debian and Ubuntu.
        fedora: the package that holds it on Fedora.
    """

    soname: str
    when: str
    debian: str
    fedora: str


def read_list(path: Path = LIST) -> tuple[SystemLibrary, ...]:
    """The libraries that Qt needs on Linux."""
    return tuple(SystemLibrary(**entry) for entry in tomllib.loads(path.read_text("utf-8"))["library"])


def loads(soname: str) -> bool:
    """Whether the dynamic loader finds this library."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def missing(libraries: Iterable[SystemLibrary], loads: Callable[[str], bool] = loads) -> tuple[SystemLibrary, ...]:
    """Those of the libraries that are not here."""
    return tuple(library for library in libraries if not loads(library.soname))


def displays(environment: Mapping[str, str]) -> frozenset[str]:
    """The display system that Qt will open the window on; none means that it runs offscreen."""
    if environment.get("QT_QPA_PLATFORM", "").startswith(("offscreen", "minimal")):
        return frozenset()
    if environment.get("WAYLAND_DISPLAY"):
        return frozenset({"wayland"})
    if environment.get("DISPLAY"):
        return frozenset({"x11"})
    return frozenset()


def blocking(absent: Iterable[SystemLibrary], displays: frozenset[str]) -> tuple[SystemLibrary, ...]:
    """Those of the absent libraries without which nothing can be shown here."""
    return tuple(library for library in absent if library.when == "always" or library.when in displays)


def install_commands(absent: Sequence[SystemLibrary], distribution: str) -> tuple[tuple[str, ...], ...]:
    """The commands that install the absent libraries, to be run as root.

    Args:
        absent: what is missing.
        distribution: "debian", "fedora" or "" (unknown: there is no command then).
    """
    if not absent or distribution not in {"debian", "fedora"}:
        return ()
    if distribution == "debian":
        packages = sorted({library.debian for library in absent})
        return ("apt-get", "update"), ("apt-get", "install", "-y", "--no-install-recommends", *packages)
    return (("dnf", "install", "-y", *sorted({library.fedora for library in absent})),)


def distribution(os_release: Path = Path("/etc/os-release")) -> str:
    """The family of this Linux: "debian", "fedora" or "" where it is neither or cannot be told."""
    if not os_release.is_file():
        return ""
    fields = dict(line.split("=", 1) for line in os_release.read_text("utf-8").splitlines() if "=" in line)
    names = {name for key in ("ID", "ID_LIKE") for name in fields.get(key, "").strip("\"'").split()}
    if names & {"debian", "ubuntu"}:
        return "debian"
    return "fedora" if names & {"fedora", "rhel"} else ""
