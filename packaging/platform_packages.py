"""Packages for macOS and Windows: file types, installers and signatures, besides the folder of PyInstaller.

Signatures are made if environment variables name who signs; no key and no password is in a file of ours:

- `TURNSTILE_CODESIGN_IDENTITY`: the identity of `codesign`, which PyInstaller uses (macOS)
- `TURNSTILE_NOTARY_PROFILE`: the profile of `notarytool` with the account that notarizes (macOS)
- `TURNSTILE_SIGN_COMMAND`: a command that signs the file after it, such as one of `signtool` (Windows)
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from debian_package import APP_ID

_DOCUMENT: Final = f"{APP_ID}.document"
_IMAGE: Final = ("-ov", "-format", "ULMO")
Commands = tuple[tuple[str, ...], ...]


def info_plist(version: str) -> dict[str, Any]:
    """Return what macOS reads about the application: its version, and that it opens documents.

    Args:
        version: of Turnstile.
    """
    return {
        "CFBundleDisplayName": "Turnstile",
        "CFBundleShortVersionString": version,
        "LSApplicationCategoryType": "public.app-category.developer-tools",
        "LSMinimumSystemVersion": "13.0",
        "NSHighResolutionCapable": True,
        "UTExportedTypeDeclarations": [
            {
                "UTTypeIdentifier": _DOCUMENT,
                "UTTypeDescription": "Turnstile document",
                "UTTypeConformsTo": ["public.json"],
                "UTTypeTagSpecification": {
                    "public.filename-extension": ["turnstile"],
                    "public.mime-type": ["application/x-turnstile"],
                },
            }
        ],
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": "Turnstile document",
                "CFBundleTypeRole": "Editor",
                "LSHandlerRank": "Owner",
                "LSItemContentTypes": [_DOCUMENT],
            }
        ],
    }


def macos_commands(application: Path, image: Path, environment: Mapping[str, str]) -> Commands:
    """Return the commands that make a disk image of a signed application.

    Args:
        application: the application, whose parts PyInstaller has signed; without an identity for this machine alone.
        image: the disk image.
        environment: the variables that name who signs.
    """
    identity, profile = environment.get("TURNSTILE_CODESIGN_IDENTITY"), environment.get("TURNSTILE_NOTARY_PROFILE")
    entitlements = str(Path(__file__).with_name("macos-entitlements.plist"))
    runtime = ("--options", "runtime", "--timestamp") if identity else ()
    signature = ("codesign", "--force", "--entitlements", entitlements, *runtime, "--sign", identity or "-")
    made: list[tuple[str, ...]] = [
        (*signature, str(application)),  # files were added since PyInstaller signed it
        ("hdiutil", "create", "-volname", "Turnstile", "-srcfolder", str(application), *_IMAGE, str(image)),
    ]
    if identity:
        made.append(("codesign", "--sign", identity, "--timestamp", str(image)))
    if identity and profile:
        made.append(("xcrun", "notarytool", "submit", str(image), "--keychain-profile", profile, "--wait"))
        made.append(("xcrun", "stapler", "staple", str(image)))
    return tuple(made)


def windows_commands(folder: Path, output: Path, version: str, environment: Mapping[str, str]) -> Commands:
    """Return the commands that make an installer of the program.

    Args:
        folder: the program.
        output: the folder of the installer.
        version: of Turnstile.
        environment: the variables that name who signs.
    """
    words = environment.get("TURNSTILE_SIGN_COMMAND", "")
    signs = tuple(shlex.split(words, posix=False))
    script = str(Path(__file__).with_name("turnstile.iss"))
    defined = (f"/DVersion={version}", f"/DSource={folder}", f"/O{output}")
    installer = ("ISCC", *defined, *((f"/Ssign={words} $f", "/DSigned") if signs else ()), script)
    return ((*signs, str(folder / "turnstile.exe")), installer) if signs else (installer,)


def smoke_commands(program: Path) -> Sequence[Sequence[str]]:
    """Return commands that a bundle must run before it is published: with a model, with children, and with Qt.

    Args:
        program: the executable.
    """
    grammar = ("--notation", "regex", "--grammar", "[A-Z]+: [a-z]+")
    return (
        (str(program), "--version"),
        (str(program), "check", *grammar),
        (str(program), "mask", *grammar, "--model", "records"),
        (str(program), "export", "--to", "svg", *grammar, "--output", "drawn.svg"),
        (str(program), "--screenshot", "window.png"),
    )
