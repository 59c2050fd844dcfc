"""Installers of macOS and Windows: the commands that make them, on a machine that has none of these."""

import plistlib
import re
import struct
import tomllib
from pathlib import Path

import make_bundle
import platform_packages
import pytest
import render_icons

PACKAGING = Path(platform_packages.__file__).parent
SIGNED = {"TURNSTILE_CODESIGN_IDENTITY": "Ann", "TURNSTILE_NOTARY_PROFILE": "ann"}


def names(commands):
    return [" ".join(command[:2]) if command[0] == "xcrun" else command[0] for command in commands]


def test_macos_opens_documents():
    plist = plistlib.loads(plistlib.dumps(platform_packages.info_plist("1.2")))
    (kind,), (opened,) = plist["UTExportedTypeDeclarations"], plist["CFBundleDocumentTypes"]
    assert kind["UTTypeTagSpecification"]["public.filename-extension"] == ["turnstile"]
    assert opened["LSItemContentTypes"] == [kind["UTTypeIdentifier"]]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, ["codesign", "hdiutil"]),
        ({"TURNSTILE_CODESIGN_IDENTITY": "Ann"}, ["codesign", "hdiutil", "codesign"]),
        (SIGNED, ["codesign", "hdiutil", "codesign", "xcrun notarytool", "xcrun stapler"]),
    ],
)
def test_variables_decide_on_the_signatures_of_macos(environment, expected):
    commands = platform_packages.macos_commands(Path("Turnstile.app"), Path("turnstile.dmg"), environment)
    assert names(commands) == expected
    identity = environment.get("TURNSTILE_CODESIGN_IDENTITY", "-")
    assert commands[0][commands[0].index("--sign") + 1] == identity
    assert ("runtime" in commands[0]) is (identity != "-")


def test_a_program_that_compiles_kernels_may_do_so_on_macos():
    rights = plistlib.loads((PACKAGING / "macos-entitlements.plist").read_bytes())
    assert rights["com.apple.security.cs.allow-jit"] is True


def test_a_variable_decides_on_the_signatures_of_windows(tmp_path):
    plain = platform_packages.windows_commands(tmp_path, tmp_path, "1.2", {})
    assert names(plain) == ["ISCC"]
    assert "/DVersion=1.2" in plain[0]
    sign = {"TURNSTILE_SIGN_COMMAND": "signtool sign /a"}
    program, installer = platform_packages.windows_commands(tmp_path, tmp_path, "1.2", sign)
    assert program == ("signtool", "sign", "/a", str(tmp_path / "turnstile.exe"))
    assert {"/Ssign=signtool sign /a $f", "/DSigned"} < set(installer)


def test_the_installer_of_windows_uses_what_it_is_given():
    script = (PACKAGING / "turnstile.iss").read_text("utf-8")
    assert set(re.findall(r"\{#(\w+)\}", script)) == {"Version", "Source"}
    assert "SignTool=sign" in script
    assert r'"Software\Classes\.turnstile"' in script


def test_every_platform_has_a_builder(monkeypatch, tmp_path):
    ran = []
    monkeypatch.setattr(make_bundle, "run", ran.append)
    monkeypatch.setattr(make_bundle, "DIST", tmp_path)
    monkeypatch.setattr(make_bundle.shutil, "copy", lambda *_: None)
    for name, suffix in (("darwin", ".dmg"), ("win32", ".exe")):
        (package,) = make_bundle.BUILDERS[name](tmp_path, "1.2", 6)
        assert package.suffix == suffix
    assert names(ran) == ["codesign", "hdiutil", "ISCC"]
    assert "linux" in make_bundle.BUILDERS


def test_icons_have_all_their_pictures():
    pictures = {16: b"small", 256: b"large one"}
    made = render_icons.ico(pictures)
    assert struct.unpack_from("<HHH", made) == (0, 1, 2)
    sizes = [struct.unpack_from("<BBBBHHII", made, 6 + 16 * number) for number in range(2)]
    assert [made[offset : offset + length] for *_, length, offset in sizes] == [b"small", b"large one"]
    assert [size[0] for size in sizes] == [16, 0]  # none means 256
    mac = render_icons.icns(pictures)
    assert (mac[:4], struct.unpack_from(">I", mac, 4)[0]) == (b"icns", len(mac))
    assert mac[8:12] + mac[16:21] == b"icp4small"


def test_a_bundle_is_tried_with_commands_of_ours(tmp_path):
    program = tmp_path / "turnstile"
    assert {command[0] for command in platform_packages.smoke_commands(program)} == {str(program)}


def test_the_extra_of_bundles_has_what_builds_them():
    extras = tomllib.loads((PACKAGING.parent / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert any(line.startswith("pyinstaller") for line in extras["bundle"])


def test_the_pictures_of_icons_are_drawn(qapp, tmp_path, monkeypatch):
    monkeypatch.setattr(make_bundle, "WORK", tmp_path)
    make_bundle.write_icons()
    assert (tmp_path / "turnstile.ico").read_bytes().count(b"IHDR") == len(render_icons.ICO_SIZES)
    assert (tmp_path / "turnstile.icns").read_bytes().count(b"IHDR") == len(render_icons.ICNS_TYPES)
