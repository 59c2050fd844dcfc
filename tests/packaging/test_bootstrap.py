import sys

import bootstrap
import pytest
import system_libraries


@pytest.fixture
def root(tmp_path):
    (tmp_path / "packaging").mkdir()
    for name in ("pyproject.toml", "packaging/constraints.txt", "packaging/system-libraries.toml"):
        (tmp_path / name).write_text(f"# {name}\n", "utf-8")
    return tmp_path


@pytest.fixture
def calls(monkeypatch, root):
    """The steps that a set-up takes, in their order; none of them does anything."""
    made = []

    def make_environment(place):
        made.append("environment")
        place.mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(bootstrap, "provide_system_libraries", lambda: made.append("libraries"))
    monkeypatch.setattr(bootstrap, "make_environment", make_environment)
    monkeypatch.setattr(bootstrap, "install", lambda _, goal: made.append(f"install {goal}"))
    monkeypatch.setattr(sys, "platform", "linux")
    return made


def test_a_second_run_does_nothing(root, calls):
    bootstrap.prepare(root, "run")
    assert calls == ["libraries", "environment", "install run"]
    bootstrap.prepare(root, "run")
    assert len(calls) == 3


def test_what_serves_the_tests_serves_the_program(root, calls):
    bootstrap.prepare(root, "test")
    bootstrap.prepare(root, "run")
    assert calls.count("install test") == 1
    assert "install run" not in calls


def test_what_serves_the_program_does_not_serve_the_tests(root, calls):
    bootstrap.prepare(root, "run")
    bootstrap.prepare(root, "test")
    assert calls[-1] == "install test"


def test_a_bundle_has_an_environment_without_tests(root, calls):
    bootstrap.prepare(root, "test")
    bootstrap.prepare(root, "bundle")
    assert calls[-1] == "install bundle"
    assert bootstrap.stamp(root, "bundle").parent != bootstrap.stamp(root, "test").parent
    assert bootstrap.is_ready(root, "test")


def test_a_change_of_the_dependencies_installs_again(root, calls):
    bootstrap.prepare(root, "run")
    (root / "pyproject.toml").write_text("changed", "utf-8")
    assert not bootstrap.is_ready(root, "run")
    bootstrap.prepare(root, "run")
    assert calls.count("install run") == 2


def test_an_interrupted_installation_leaves_no_stamp(root, calls, monkeypatch):
    bootstrap.prepare(root, "run")
    (root / "pyproject.toml").write_text("changed", "utf-8")

    def interrupted(root, goal):
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "install", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bootstrap.prepare(root, "run")
    assert not bootstrap.stamp(root, "run").exists()


def test_an_environment_that_works_is_kept(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(bootstrap, "environment_works", lambda place: bool(made))

    def run(command):
        made.append(command[-1])
        (tmp_path / ".venv").mkdir()

    monkeypatch.setattr(bootstrap, "run", run)
    bootstrap.make_environment(tmp_path / ".venv")
    bootstrap.make_environment(tmp_path / ".venv")
    assert made == [str(tmp_path / ".venv")]


def test_an_environment_without_python_does_not_work(tmp_path):
    assert not bootstrap.environment_works(tmp_path / ".venv")


def test_an_environment_that_was_moved_does_not_work(tmp_path):
    place = tmp_path / ".venv"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(sys.executable)
    (place / "made-at").write_text("elsewhere", "utf-8")
    assert not bootstrap.environment_works(place)


def test_an_interpreter_that_does_not_start_makes_no_environment(tmp_path):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    python.chmod(0o755)
    assert not bootstrap.environment_works(tmp_path)


@pytest.fixture
def without_egl(monkeypatch):
    libraries = system_libraries.read_list()
    state = {"absent": libraries[:1]}
    monkeypatch.setattr(system_libraries, "missing", lambda _: state["absent"])
    monkeypatch.setattr(bootstrap.system_libraries, "distribution", lambda: "debian")
    return state


def test_root_on_debian_installs_the_libraries(without_egl, monkeypatch):
    commands = []

    def run(command, **environment):
        commands.append(command)
        without_egl["absent"] = ()

    monkeypatch.setattr(bootstrap, "run", run)
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 0)
    bootstrap.provide_system_libraries()
    assert [command[:2] for command in commands] == [("apt-get", "update"), ("apt-get", "install")]
    assert "libegl1" in commands[1]


def test_anyone_else_is_told_the_command(without_egl, monkeypatch, capsys):
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    with pytest.raises(bootstrap.SetupError):
        bootstrap.provide_system_libraries()
    assert "sudo apt-get install -y --no-install-recommends libegl1" in capsys.readouterr().out


def test_a_library_for_a_display_not_in_use_does_not_stop(without_egl, monkeypatch, capsys):
    without_egl["absent"] = tuple(item for item in system_libraries.read_list() if item.when == "wayland")
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(bootstrap.os, "environ", {"QT_QPA_PLATFORM": "offscreen"})
    bootstrap.provide_system_libraries()
    assert "libwayland-client0" in capsys.readouterr().out


def test_a_failed_command_is_told(capsys):
    with pytest.raises(bootstrap.SetupError, match="exit 3"):
        bootstrap.run(("sh", "-c", "exit 3"))
    with pytest.raises(bootstrap.SetupError, match="no-such-command"):
        bootstrap.run(("no-such-command",))


def test_main_turns_an_error_into_an_exit_code(monkeypatch, capsys):
    def fail(root, goal):
        raise bootstrap.SetupError("told")

    monkeypatch.setattr(bootstrap, "prepare", fail)
    assert bootstrap.main(["run"]) == 1
    assert "told" in capsys.readouterr().err
