"""The contents of the bundles: what PyInstaller must collect, and what it may leave out, each with its reason.

A bundle is a folder with the program, a Python of its own and the libraries, for machines without Python. `bundle.spec`
reads these lists on every platform.

Rejected: copying whole installed packages, which brings headers, tests and tools of three times the size.
"""

from __future__ import annotations

import py_compile
import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePath
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

APPLICATION: Final = "token-turnstile"
EXTRAS: Final = frozenset({"engines", "llama"})
"""The extras of Turnstile whose packages are in a bundle; a user cannot add packages to it."""

OWN_PACKAGES: Final = ("engine", "app", "resources")

AS_FILES: Final = (
    *OWN_PACKAGES,  # children run as scripts, and numba's cache looks at the file of a kernel
    "numba",  # `engine.masking.jit` changes how the source of its settings is loaded
    "pyqtgraph",  # the window imports it statement by statement
    "torch",  # compiles functions from their source
    "transformers",  # lists its own modules, and reads what each offers from their sources
    "xgrammar",  # finds its library beside its source
    "tvm_ffi",  # the same
)
"""Packages whose modules are files, with their source, rather than entries of an archive."""

WHOLE: Final = (*OWN_PACKAGES, "transformers", "keyring.backends", "tiktoken_ext", "xgrammar", "tvm_ffi", "pip")
"""Packages of which every module is collected, since they are imported by name."""

BY_NAME: Final = ("llguidance", "outlines_core", "xllamacpp", "sentencepiece", "gguf", "tiktoken", "accelerate")
"""Packages that are imported by name alone."""

DATA: Final = ("resources", "qtawesome", "transformers", "xgrammar", "tvm_ffi", "xllamacpp", "pip", "certifi")
"""Packages with files that are no modules."""

EXCLUDED: Final = (
    "triton",  # kernels for graphics cards, 1 GB; xgrammar requires it on Linux and runs without it
    "tkinter",  # Qt is the window
    "IPython",
    "matplotlib",
    "scipy",
    "pandas",
    "sklearn",
    "torchvision",
    "tensorflow",
    "jax",
    "flax",
    "pytest",
    "PySide6.QtQml",  # none of our windows is made of QML
    "PySide6.QtQuick",
    "PySide6.QtDesigner",
    "PySide6.QtSql",
    "PySide6.QtHelp",
    "PySide6.QtUiTools",
)
"""Modules that are left out although something imports them."""

LEFT_OUT: Final = {
    r"torch/(test|include|share)/": "tests, headers and tools",
    r"torch/bin/(?!torch_shm_manager)": "tests and tools; the one that remains is looked for by the import",
    r"torch/lib/.*\.(a|lib)$": "libraries for linking",
    r"(torch|functorch|torchgen|tvm_ffi|xgrammar)/.*\.(h|hpp|cuh|cu|cpp|c|cmake|pyi|pyx|pxd)$": "headers, sources in C",
    r"tvm_ffi/(include|3rdparty|share|src|lib/cmake)/": "headers, sources in C",
    r"(numpy|networkx|sympy|pyqtgraph|numba)/(.*/)?(tests?|examples|benchmarks)/": "tests and examples",
    r"PySide6/Qt/(qml|translations|resources|libexec|metatypes|modules)/": "QML, tools and other languages",
    r"PySide6/Qt/lib/libQt6(Qml|Quick|Labs|ShaderTools|VirtualKeyboard)": "QML",
    r"PySide6/Qt/lib/libQt6(Designer|Sql|Help|UiTools|Pdf)": "modules of Qt that no window uses",
    r"PySide6/Qt/plugins/(sqldrivers|qmltooling|designer|virtualkeyboard)": "plugins of these",
    r"PySide6/Qt/plugins/platforminputcontexts/libqtvirtual": "another of them",
}
"""Other files that are left out: a pattern of paths within the bundle, and a description of the files."""

_LEFT_OUT: Final = re.compile("|".join(f"(?:{pattern})" for pattern in LEFT_OUT))

KEPT_SYSTEM_LIBRARIES: Final = re.compile(
    r"lib(python3|ssl|crypto|ffi|sqlite3|z|bz2|lzma|expat|mpdec|uuid|readline|tinfo|ncursesw|panelw)[.\d-]"
)
"""Libraries of the build machine that belong to Python and go into a bundle. All others are the user's: a
library of the graphics stack works with the drivers of its own system alone."""

_UNUSED_MODULE: Final = re.compile(r"transformers\.models\..*\.(modular|convert)_")
_SYSTEM_FOLDERS: Final = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")


def is_used_module(name: str) -> bool:
    """Return whether a module of a package that is collected whole is used; transformers has a thousand others."""
    return _UNUSED_MODULE.match(name) is None


def is_left_out(path: str) -> bool:
    """Return whether a file is left out of a bundle, by its path in there."""
    return _LEFT_OUT.match(PurePath(path).as_posix().removeprefix("_internal/")) is not None


def is_foreign(source: str) -> bool:
    """Return whether a file is a library of the build machine that a bundle takes from the user's system instead."""
    return source.startswith(_SYSTEM_FOLDERS) and KEPT_SYSTEM_LIBRARIES.match(PurePath(source).name) is None


def compiled(entries: Iterable[tuple[str, str, str]], folder: Path) -> list[tuple[str, str, str]]:
    """Compile the modules that are files, since a bundle may be in a folder that its user cannot write.

    The code is used without a look at the time of its source, which a package does not keep.

    Args:
        entries: the files of a bundle: path in the bundle, path here, and kind.
        folder: a folder for the compiled files.

    Returns:
        more entries.
    """
    made = []
    for name, source, kind in entries:
        path = PurePath(name)
        if path.suffix == ".py":
            target = path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"
            written = py_compile.compile(
                source,
                cfile=str(folder / target),
                dfile=path.as_posix(),
                quiet=2,  # a template with the suffix of a module stays as it is
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
            if written is not None:
                made.append((str(target), written, kind))
    return made


def distributions(root: str = APPLICATION, extras: Iterable[str] = EXTRAS) -> tuple[Distribution, ...]:
    """Return a distribution and all that it requires here, by name; those whose modules are left out are absent.

    Raises:
        PackageNotFoundError: the first one is not installed.
    """
    found: dict[str, Distribution] = {}
    known: set[tuple[str, str]] = set()
    pending = [(canonicalize_name(root), extra) for extra in ("", *extras)]
    while pending:
        name, extra = pending.pop()
        if (name, extra) in known or name in EXCLUDED:
            continue
        known.add((name, extra))
        try:
            found.setdefault(name, distribution(name))
        except PackageNotFoundError:
            if not found:
                raise
            continue  # a requirement that another one replaces
        for line in found[name].requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                pending += [(canonicalize_name(requirement.name), one) for one in ("", *requirement.extras)]
    return tuple(found[name] for name in sorted(found))
