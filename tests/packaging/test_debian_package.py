"""The Debian package: its control files and its tree, of a program of two files."""

import gzip
import hashlib
import xml.etree.ElementTree as ET
from configparser import RawConfigParser

import debian_package
import pytest
import system_libraries

from engine.cli.exit_codes import COMMANDS

WHO = "Ann Example <ann@example.org>"
XML = "{http://www.freedesktop.org/standards/shared-mime-info}"


@pytest.fixture
def tree(tmp_path):
    program = tmp_path / "turnstile"
    (program / "_internal").mkdir(parents=True)
    (program / "turnstile").write_bytes(b"\x7fELF GLIBC_2.17\0GLIBC_2.34\0")
    (program / "turnstile").chmod(0o700)
    (program / "_internal" / "liba.so.1").write_bytes(b"\x7fELF GLIBC_2.36\0")
    made = tmp_path / "tree"
    made.mkdir()
    files = debian_package.documents("1.2", WHO, 0.0) | debian_package.desktop_files("1.2", "1970-01-01")
    debian_package.write_tree(made, program, files, "1.2", WHO)
    return made


def test_the_control_file_names_libraries_and_size(tree):
    fields = dict(
        line.split(": ", 1) for line in (tree / "DEBIAN" / "control").read_text().splitlines() if line[0] != " "
    )
    assert (fields["Package"], fields["Version"], fields["Maintainer"]) == ("turnstile", "1.2", WHO)
    assert int(fields["Installed-Size"]) > 20
    needed = fields["Depends"].split(", ")
    assert needed[0] == "libc6 (>= 2.36)"
    assert {one.debian for one in system_libraries.read_list()} < set(needed)


def test_the_command_leads_to_the_program(tree):
    assert str((tree / "usr/bin/turnstile").readlink()) == "/opt/turnstile/turnstile"
    assert (tree / "opt/turnstile/turnstile").stat().st_mode & 0o777 == 0o755
    assert (tree / "opt/turnstile/_internal/liba.so.1").stat().st_mode & 0o777 == 0o644


def test_the_sums_are_those_of_all_files(tree):
    sums = dict(line.split("  ")[::-1] for line in (tree / "DEBIAN" / "md5sums").read_text().splitlines())
    files = [
        path for path in tree.rglob("*") if path.is_file() and not path.is_symlink() and "DEBIAN" not in path.parts
    ]
    assert sums == {str(path.relative_to(tree)): hashlib.md5(path.read_bytes()).hexdigest() for path in files}


def test_the_desktop_opens_documents(tree):
    entry = RawConfigParser()
    entry.optionxform = str
    entry.read(tree / "usr/share/applications/turnstile.desktop", "utf-8")
    kind = ET.parse(tree / "usr/share/mime/packages/turnstile.xml").find(f"{XML}mime-type")
    assert entry["Desktop Entry"]["MimeType"] == f"{kind.get('type')};"
    assert kind.find(f"{XML}glob").get("pattern") == "*.turnstile"
    assert entry["Desktop Entry"]["Exec"].split()[0] == "turnstile"
    assert (tree / "usr/share/icons/hicolor/48x48/apps" / f"{entry['Desktop Entry']['Icon']}.png").is_file()


def test_the_metadata_names_the_release_and_the_entry(tree):
    (path,) = (tree / "usr/share/metainfo").iterdir()
    component = ET.parse(path).getroot()
    assert path.name == f"{component.findtext('id')}.metainfo.xml"
    assert component.find("releases/release").attrib == {"version": "1.2", "date": "1970-01-01"}
    assert (tree / "usr/share/applications" / component.findtext("launchable")).is_file()


def test_the_manual_page_has_every_command():
    lines = debian_package.man_page("1.2", "1970-01-01").splitlines()
    assert {rf".B {name}".replace("-", r"\-") for name in COMMANDS} <= set(lines)
    assert not [line for line in lines if line.startswith("'")]


def test_documents_are_where_debian_looks_for_them(tree):
    folder = tree / "usr/share/doc/turnstile"
    assert gzip.decompress((folder / "changelog.gz").read_bytes()).startswith(b"turnstile (1.2) stable")
    assert "Apache-2.0" in (folder / "copyright").read_text()
    reasons = (tree / "usr/share/lintian/overrides/turnstile").read_text().splitlines()
    assert [line[0] == "#" for line in reasons] == [True, False] * (len(reasons) // 2)


def test_the_maintainer_is_taken_from_the_variables_of_debian():
    assert debian_package.maintainer({"DEBFULLNAME": "Ann Example", "DEBEMAIL": "ann@example.org"}) == WHO
    assert debian_package.maintainer({"DEBEMAIL": "ann@example.org"}) == debian_package.MAINTAINER
