"""The Debian package of a bundle: its files where a desktop looks for them, and its control files.

The package is a tree that `dpkg-deb --root-owner-group` packs, so it needs no build tools of Debian and no root.

Rejected: `debhelper`, which expects to build from sources; maintainer scripts, since the triggers of the desktop's own
packages update the databases of types, icons and menus.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterable, Mapping
from email.utils import formatdate
from pathlib import Path
from typing import Final

import system_libraries
from sbom import LICENCES, SBOM

from engine.cli.exit_codes import COMMANDS, negative_answer, other_codes
from engine.source.catalogue import catalogue_text

ROOT: Final = Path(__file__).resolve().parent.parent
NAME: Final = "turnstile"
INSTALLED: Final = Path("opt") / NAME
APP_ID: Final = "org.turnstile.Turnstile"
"""The name of the AppStream component, of the Flatpak and of the application on macOS."""
MAINTAINER: Final = "Turnstile maintainers <maintainers@turnstile.invalid>"
"""The default; Debian's own variables DEBFULLNAME and DEBEMAIL name another one."""
ICON_SIZES: Final = (16, 32, 48, 128, 256)
COMPLETIONS: Final = {
    "bash": "share/bash-completion/completions/turnstile",
    "zsh": "share/zsh/vendor-completions/_turnstile",
    "fish": "share/fish/vendor_completions.d/turnstile.fish",
}
"""Where each shell looks for completions, below `usr`."""

OVERRIDES: Final = {
    "dir-or-file-in-opt": "An application with its own Python and libraries belongs into /opt (FHS 3.13).",
    "embedded-library": "It has the libraries that the tests ran with.",
    "package-installs-python-pycache-dir": "Its user cannot write there, and no script of the package compiles them.",
    "unstripped-binary-or-object": "The files of other projects stay as these have built them.",
}
"""Tags of lintian that the package has on purpose, with the reason."""

_SUMMARY: Final = "debugger for grammar-constrained decoding of language models"
_DESCRIPTION: Final = (
    "You write a grammar as a regular expression, GBNF or JSON Schema, see the",
    "automaton that it compiles to, and step a language model through it one token",
    "at a time. You paste an output that failed on a server and get the cause in",
    "one sentence. Then you export the grammar to the engine that you deploy on.",
    ".",
    "The package contains its own Python and libraries in /opt/turnstile.",
)
_VARIABLES: Final = {
    "TURNSTILE_CACHE": "the folder of downloaded models",
    "NUMBA_CACHE_DIR": "the folder of compiled kernels",
}
_OTHER_LIBRARIES: Final = ("libgcc-s1", "libstdc++6")
_GLIBC: Final = re.compile(rb"GLIBC_2\.(\d+)\0")


def maintainer(environment: Mapping[str, str]) -> str:
    """Return the name and address of who makes the package."""
    name, address = environment.get("DEBFULLNAME"), environment.get("DEBEMAIL")
    return f"{name} <{address}>" if name and address else MAINTAINER


def dependencies(glibc: int) -> str:
    """Return the field `Depends`: the system's libraries that Qt, Graphviz and the others load.

    Args:
        glibc: the minor version of glibc 2 that the files need.
    """
    packages = {library.debian for library in system_libraries.read_list()}
    return ", ".join((f"libc6 (>= 2.{glibc})", *sorted({*packages, *_OTHER_LIBRARIES})))


def needed_glibc(files: Iterable[Path]) -> int:
    """Return the newest minor version of glibc 2 that one of the files refers to; 0 if none does."""
    return max((int(number) for path in files for number in _GLIBC.findall(path.read_bytes())), default=0)


def control(version: str, kilobytes: int, depends: str, who: str) -> str:
    """Return the control file.

    Args:
        version: of Turnstile.
        kilobytes: the size of the installed files.
        depends: the packages that it needs.
        who: the maintainer.
    """
    fields = {
        "Package": NAME,
        "Version": version,
        "Section": "devel",
        "Priority": "optional",
        "Architecture": "amd64",
        "Installed-Size": str(kilobytes),
        "Maintainer": who,
        "Depends": depends,
        "Description": "\n ".join((_SUMMARY, *_DESCRIPTION)),
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def changelog(version: str, who: str, seconds: float) -> str:
    """Return Debian's changelog, which points to the one of Turnstile.

    Args:
        version: of Turnstile.
        who: the maintainer.
        seconds: the time of the build.
    """
    return (
        f"{NAME} ({version}) stable; urgency=medium\n\n"
        f"  * Turnstile {version}; its changes are in CHANGELOG.md.\n\n"
        f" -- {who}  {formatdate(seconds)}\n"
    )


def copyright_file() -> str:
    """Return the file `copyright`: the licence of Turnstile, and where those of its libraries are."""
    return (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        "Upstream-Name: Turnstile\n"
        f"Comment: The licences of the libraries are in /{INSTALLED}/{LICENCES},\n"
        f" and a list of all parts is in /{INSTALLED}/{SBOM}.\n"
        "\n"
        "Files: *\n"
        "Copyright: 2026 the Turnstile maintainers\n"
        "License: Apache-2.0\n"
        " On Debian systems, the text of the Apache License, Version 2.0, is in\n"
        " /usr/share/common-licenses/Apache-2.0.\n"
    )


def overrides() -> str:
    """Return lintian's overrides, each after a comment with its reason."""
    return "".join(f"# {reason}\n{NAME}: {tag}\n" for tag, reason in OVERRIDES.items())


def documents(version: str, who: str, seconds: float) -> dict[str, bytes]:
    """Return the files that Debian requires of a package, by their path below `usr`.

    Args:
        version: of Turnstile.
        who: the maintainer.
        seconds: the time of the build.
    """
    date = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    return {
        f"share/doc/{NAME}/copyright": copyright_file().encode(),
        f"share/doc/{NAME}/changelog.gz": gzip.compress(changelog(version, who, seconds).encode(), 9, mtime=0),
        f"share/lintian/overrides/{NAME}": overrides().encode(),
        f"share/man/man1/{NAME}.1.gz": gzip.compress(man_page(version, date).encode(), 9, mtime=0),
    }


def desktop_files(version: str, date: str) -> dict[str, bytes]:
    """Return the files that make a program known to the desktop, by their path below `usr`.

    Args:
        version: of Turnstile.
        date: the day of the build, as `2026-01-31`.
    """
    sources = ROOT / "packaging"
    icons = ROOT / "resources" / "icons"
    metainfo = (sources / f"{APP_ID}.metainfo.xml").read_text("utf-8")
    release = f'<release version="{version}" date="{date}"/>'
    return {
        "share/applications/turnstile.desktop": (sources / "turnstile.desktop").read_bytes(),
        "share/mime/packages/turnstile.xml": (sources / "turnstile-mime.xml").read_bytes(),
        f"share/metainfo/{APP_ID}.metainfo.xml": metainfo.replace("<release/>", release).encode(),
        "share/icons/hicolor/scalable/apps/turnstile.svg": (icons / "turnstile.svg").read_bytes(),
        **{
            f"share/icons/hicolor/{size}x{size}/apps/turnstile.png": (icons / f"turnstile-{size}.png").read_bytes()
            for size in ICON_SIZES
        },
    }


def man_page(version: str, date: str) -> str:
    """Return the manual page, made of the texts that `--help` shows.

    Args:
        version: of Turnstile.
        date: the day of the build, as `2026-01-31`.
    """
    about = catalogue_text("cli.program.description")
    commands = [(name, catalogue_text(f"cli.{name}.summary")) for name in COMMANDS]
    codes = [(str(int(code)), meaning) for code, meaning in other_codes()]
    codes[:0] = [
        ("0", catalogue_text("cli.exit.success")),
        ("1", negative_answer("program")),
    ]
    lines = [
        f'.TH TURNSTILE 1 "{date}" "Turnstile {version}"',
        ".SH NAME",
        f"turnstile \\- {_SUMMARY}",
        ".SH SYNOPSIS",
        ".B turnstile",
        "[\\fIFILE\\fR]",
        ".br",
        ".B turnstile",
        "\\fICOMMAND\\fR [\\fIOPTION\\fR]...",
        ".SH DESCRIPTION",
        _roff(about),
        ".PP",
        "\\fBturnstile\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR describes the options of a command.",
        ".SH COMMANDS",
        *_paragraphs(commands),
        ".SH EXIT STATUS",
        *_paragraphs(codes),
        ".SH ENVIRONMENT",
        *_paragraphs(
            [
                ("TURNSTILE_CACHE", "the folder of downloaded models"),
                ("NUMBA_CACHE_DIR", "the folder of compiled kernels"),
            ]
        ),
    ]
    return "\n".join(lines) + "\n"


def _paragraphs(items: Iterable[tuple[str, str]]) -> list[str]:
    """Return the lines of a list of words with their meanings."""
    return [line for word, meaning in items for line in (".TP", f".B {_roff(word)}", _roff(meaning))]


def _roff(text: str) -> str:
    """Return a text in which no character is a command of the manual's language."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def write_tree(tree: Path, program: Path, files: Mapping[str, bytes], version: str, who: str) -> None:
    """Write the tree of the package.

    Args:
        tree: an empty folder.
        program: the folder that PyInstaller made; its files become hard links.
        files: the other files, by their path below `usr`.
        version: of Turnstile.
        who: the maintainer.
    """
    shutil.copytree(program, tree / INSTALLED, symlinks=True, copy_function=os.link)
    command = tree / "usr" / "bin" / NAME
    command.parent.mkdir(parents=True)
    command.symlink_to(Path("/") / INSTALLED / NAME)
    for name, content in files.items():
        target = tree / "usr" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    everything = sorted(path for path in tree.rglob("*") if not path.is_symlink())
    for path in everything:
        is_program = ".so" not in path.name and path.stat().st_mode & 0o100  # a folder is one in this respect
        path.chmod(0o755 if is_program else 0o644)
    installed = [path for path in everything if path.is_file()]
    depends = dependencies(needed_glibc(path for path in installed if ".so" in path.name or path.name == NAME))
    kilobytes = sum(-(-path.stat().st_size // 1024) for path in installed)
    folder = tree / "DEBIAN"
    folder.mkdir(mode=0o755)
    (folder / "control").write_text(control(version, kilobytes, depends, who), "utf-8")
    (folder / "md5sums").write_text("".join(f"{_md5(path)}  {path.relative_to(tree)}\n" for path in installed), "utf-8")


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
