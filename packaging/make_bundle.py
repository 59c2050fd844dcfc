"""Builds the application as a folder with its own Python, and what is made of it: `make bundle`.

On Linux, that is a Debian package and an archive that runs wherever it is unpacked; on macOS an application in a disk
image, on Windows an installer. The folder is built with the packages of the environment that runs this script, which
`packaging/bootstrap.py bundle` makes, so that nothing that is installed for tests gets into it.

Signing is decided by environment variables, so that no secret is in a file: `resources/manual/install.md` lists them.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

import debian_package
import platform_packages
import render_icons
import sbom
from bundle_contents import APPLICATION, distributions

ROOT: Final = Path(__file__).resolve().parent.parent
DIST: Final = ROOT / "dist"
WORK: Final = ROOT / "build"
MOST_BYTES: Final = 400_000_000
"""The most that a package or archive may have."""


class BundleError(Exception):
    """The bundle cannot be built; the message says what to do."""


def require_cpu_torch(version: str) -> None:
    """Refuse the build of PyTorch for graphics cards, whose libraries have gigabytes.

    Args:
        version: PyTorch's version of CUDA or ROCm; empty in the build for processors.
    """
    if version:
        raise BundleError(
            f"PyTorch in this environment is the one for graphics cards ({version}): a bundle would have gigabytes. "
            f"Install the one for processors, from the index that PyTorch's site names, and try again: "
            f"{sys.executable} -m pip install --index-url ADDRESS torch"
        )


def build_folder() -> Path:
    """Run PyInstaller, and return the folder of the program."""
    torch = import_module("torch.version")
    require_cpu_torch(torch.cuda or torch.hip or "")
    folder, pages = DIST / "turnstile", ROOT / "resources" / "manual"
    settings = ("--builder", "html", "--quiet", "--conf-dir", str(ROOT / "packaging" / "manual"))
    write_icons()
    run((sys.executable, "-m", "sphinx", *settings, str(pages), str(pages / "html")))  # as `make manual`
    run(
        (
            *(sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"),
            *(
                "--distpath",
                str(DIST),
                "--workpath",
                str(WORK / "pyinstaller"),
                str(ROOT / "packaging" / "bundle.spec"),
            ),
        )
    )
    sbom.write(folder, folder / "_internal")
    return folder


def write_icons() -> None:
    """Write the icons of Windows and macOS, which the specification names."""
    WORK.mkdir(exist_ok=True)
    pictures = {size: render_icons.picture(size) for size in render_icons.ICNS_TYPES}
    (WORK / "turnstile.icns").write_bytes(render_icons.icns(pictures))
    pictures |= {size: render_icons.picture(size) for size in render_icons.ICO_SIZES}
    small = {size: pictures[size] for size in render_icons.ICO_SIZES}
    (WORK / "turnstile.ico").write_bytes(render_icons.ico(small))


def linux_files(folder: Path, version: str) -> dict[str, bytes]:
    """Return the files for the desktop and for shells, by their path below `usr` or another prefix.

    Args:
        folder: the program.
        version: of Turnstile.
    """
    files = debian_package.desktop_files(version, time.strftime("%Y-%m-%d", time.gmtime()))
    for shell, path in debian_package.COMPLETIONS.items():
        done = subprocess.run([folder / "turnstile", "--print-completion", shell], check=True, capture_output=True)
        files[path] = done.stdout
    return files


def build_debian_package(folder: Path, version: str, level: int) -> Path:
    """Make the Debian package of a folder.

    Args:
        folder: the program.
        version: of Turnstile.
        level: of the compression.
    """
    tree = WORK / "debian"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    who, seconds = debian_package.maintainer(os.environ), time.time()
    files = debian_package.documents(version, who, seconds) | linux_files(folder, version)
    debian_package.write_tree(tree, folder, files, version, who)
    package = DIST / f"turnstile_{version}_amd64.deb"
    run(("dpkg-deb", "--root-owner-group", "-Zxz", f"-z{level}", "--build", str(tree), str(package)))
    shutil.rmtree(tree)
    return package


def build_archive(folder: Path, version: str, level: int) -> Path:
    """Make the archive of a folder, which runs wherever it is unpacked.

    Args:
        folder: the program.
        version: of Turnstile.
        level: of the compression.
    """
    name = f"turnstile-{version}-linux-x86_64"
    archive = DIST / f"{name}.tar.zst"
    run(
        (
            *("tar", "--create", "--file", str(archive), "--use-compress-program", f"zstd -T0 -{2 * level + 1}"),
            *("--owner=0", "--group=0", "--numeric-owner", "--sort=name"),
            *("--transform", f"s,^{folder.name},{name},S", "--directory", str(folder.parent), folder.name),
        )
    )
    return archive


def build_linux(folder: Path, version: str, level: int) -> list[Path]:
    """Make the packages for Linux: see `build_debian_package` and `build_archive`.

    Args:
        folder: the program.
        version: of Turnstile.
        level: of the compression.
    """
    return [build_debian_package(folder, version, level), build_archive(folder, version, level)]


def build_macos(folder: Path, version: str, level: int) -> list[Path]:  # noqa: ARG001 - as every builder
    """Make a disk image with the application.

    Args:
        folder: the program.
        version: of Turnstile.
        level: of the compression, which macOS decides.
    """
    image = DIST / f"turnstile-{version}-macos-{platform.machine()}.dmg"
    application = DIST / "Turnstile.app"
    for name in (sbom.SBOM, sbom.LICENCES):
        shutil.copy(folder / name, application / "Contents" / "Resources")
    for command in platform_packages.macos_commands(application, image, os.environ):
        run(command)
    return [image]


def build_windows(folder: Path, version: str, level: int) -> list[Path]:  # noqa: ARG001 - as every builder
    """Make an installer.

    Args:
        folder: the program.
        version: of Turnstile.
        level: of the compression, which Inno Setup decides.
    """
    for command in platform_packages.windows_commands(folder, DIST, version, os.environ):
        run(command)
    return [DIST / f"turnstile-{version}-windows-x86_64.exe"]


BUILDERS: Final = {"linux": build_linux, "darwin": build_macos, "win32": build_windows}
"""The functions that make the packages of a platform, from the folder, the version and the level of compression."""


def smoke_test(folder: Path) -> None:
    """Run commands of a bundle in an empty folder.

    Raises:
        BundleError: one fails.
    """
    program = folder / ("turnstile.exe" if sys.platform == "win32" else "turnstile")
    with tempfile.TemporaryDirectory() as place:
        for command in platform_packages.smoke_commands(program):
            done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
            if done.returncode:
                raise BundleError(f"This failed: {shlex.join(command)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


def check_size(package: Path, most: int = MOST_BYTES) -> str:
    """Return the size of a package in words.

    Raises:
        BundleError: it is larger than it may be.
    """
    size = package.stat().st_size
    if size > most:
        raise BundleError(f"{package.name} has {size / 1e6:.0f} MB; at most {most / 1e6:.0f} MB are allowed.")
    return f"{package.relative_to(ROOT)}: {size / 1e6:.0f} MB"


def run(command: Sequence[str]) -> None:
    """Run a command in the open.

    Raises:
        BundleError: it fails.
    """
    try:
        subprocess.run(command, check=True)
    except (subprocess.CalledProcessError, OSError) as error:
        raise BundleError(f"This failed: {shlex.join(command)}\n{error}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Build what the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--packages-only", action="store_true", help="pack the folder that is there")
    parser.add_argument("--level", type=int, default=6, help="of the compression, 0 to 9")
    options = parser.parse_args(arguments)
    version = next(one.version for one in distributions() if one.name == APPLICATION)
    try:
        folder = DIST / "turnstile" if options.packages_only else build_folder()
        smoke_test(folder)
        for package in BUILDERS[sys.platform](folder, version, options.level):
            print(check_size(package))
    except BundleError as error:
        print(f"turnstile: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
