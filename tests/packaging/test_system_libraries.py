import shlex

import pytest
import system_libraries
from system_libraries import SystemLibrary

EGL = SystemLibrary("libEGL.so.1", "always", "libegl1", "libglvnd-egl")
CURSOR = SystemLibrary("libxcb-cursor.so.0", "x11", "libxcb-cursor0", "xcb-util-cursor")
SHAPE = SystemLibrary("libxcb-shape.so.0", "x11", "libxcb-shape0", "libxcb")
RANDR = SystemLibrary("libxcb-randr.so.0", "x11", "libxcb-randr0", "libxcb")
WAYLAND = SystemLibrary("libwayland-client.so.0", "wayland", "libwayland-client0", "libwayland-client")


def test_the_list_reads_and_names_what_the_issue_asks_for():
    libraries = system_libraries.read_list()
    assert {library.when for library in libraries} == {"always", "x11", "wayland"}
    assert {"libegl1", "libxkbcommon0", "libxcb-cursor0", "libfontconfig1", "libdbus-1-3"} <= {
        library.debian for library in libraries
    }


def test_the_loader_is_asked():
    assert system_libraries.loads("libc.so.6")
    assert not system_libraries.loads("libno-such-thing.so.99")


def test_missing_are_those_that_do_not_load():
    assert system_libraries.missing([EGL, CURSOR], lambda soname: soname == EGL.soname) == (CURSOR,)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, set()),
        ({"DISPLAY": ":0"}, {"x11"}),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, {"wayland"}),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, set()),
    ],
)
def test_the_display_is_read_off_the_environment(environment, expected):
    assert system_libraries.displays(environment) == expected


@pytest.mark.parametrize(
    ("displays", "expected"), [((), [EGL]), (("x11",), [EGL, CURSOR]), (("wayland",), [EGL, WAYLAND])]
)
def test_only_what_the_display_needs_blocks(displays, expected):
    assert list(system_libraries.blocking([EGL, CURSOR, WAYLAND], frozenset(displays))) == expected


def test_each_family_has_its_command():
    debian = system_libraries.install_commands([SHAPE, EGL], "debian")
    assert [shlex.join(command) for command in debian] == [
        "apt-get update",
        "apt-get install -y --no-install-recommends libegl1 libxcb-shape0",
    ]
    fedora = system_libraries.install_commands([SHAPE, EGL, RANDR], "fedora")
    assert [shlex.join(command) for command in fedora] == ["dnf install -y libglvnd-egl libxcb"]
    assert system_libraries.install_commands([EGL], "") == ()
    assert system_libraries.install_commands([], "debian") == ()


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("ID=debian\n", "debian"),
        ('NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n', "debian"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "debian"),
        ("ID=fedora\n", "fedora"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "fedora"),
        ("ID=arch\n", ""),
    ],
)
def test_the_family_is_told_from_os_release(tmp_path, text, family):
    path = tmp_path / "os-release"
    path.write_text(text, "utf-8")
    assert system_libraries.distribution(path) == family


def test_no_os_release_is_no_family(tmp_path):
    assert system_libraries.distribution(tmp_path / "absent") == ""
