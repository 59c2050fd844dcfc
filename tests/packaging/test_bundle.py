"""The contents of a bundle and its main module; building one takes minutes, and `try_bundle.py` tries it."""

import json
import re
import sys
from pathlib import Path

import bundle_contents
import bundle_entry
import debian_package
import make_bundle
import pytest
import sbom
import yaml

from app.licences import installed_distributions

METADATA = """Metadata-Version: 2.4
Name: {name}
Version: 1.2
{fields}
"""


@pytest.mark.parametrize(
    "path",
    [
        "torch/test/test_ops.py",
        "torch/include/ATen/ATen.h",
        "torch/bin/protoc",
        "torch/lib/libdnnl.a",
        "numpy/linalg/tests/test_linalg.py",
        "PySide6/Qt/lib/libQt6Quick.so.6",
        "PySide6/Qt/qml/QtQuick/qmldir",
        "_internal/PySide6/Qt/plugins/sqldrivers/libqsqlite.so",
    ],
)
def test_what_nobody_uses_is_left_out(path):
    assert bundle_contents.is_left_out(path)


@pytest.mark.parametrize(
    "path",
    [
        "torch/lib/libtorch_cpu.so",
        "torch/bin/torch_shm_manager",
        "torch/testing/__init__.py",
        "numpy/testing/overrides.py",
        "PySide6/Qt/lib/libQt6Widgets.so.6",
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "resources/texts/cli.toml",
    ],
)
def test_what_is_used_is_kept(path):
    assert not bundle_contents.is_left_out(path)


def test_the_tools_of_transformers_are_left_out():
    assert bundle_contents.is_used_module("transformers.models.llama.modeling_llama")
    assert not bundle_contents.is_used_module("transformers.models.gemma.modular_gemma")


def test_libraries_of_the_desktop_are_those_of_the_users_system():
    assert bundle_contents.is_foreign("/usr/lib/x86_64-linux-gnu/libxcb-cursor.so.0")
    assert bundle_contents.is_foreign("/lib/x86_64-linux-gnu/libstdc++.so.6")
    assert not bundle_contents.is_foreign("/usr/lib/x86_64-linux-gnu/libssl.so.3")
    assert not bundle_contents.is_foreign("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0")
    assert not bundle_contents.is_foreign("/home/me/env/lib/python3.11/site-packages/torch/lib/libgomp-98b2.so.1")


def test_the_metadata_of_all_requirements_is_collected():
    names = {one.name.lower() for one in bundle_contents.distributions()}
    assert {"token-turnstile", "torch", "numba", "llvmlite", "pyside6_essentials", "shiboken6"} <= names
    assert not {"triton", "pytest", "ruff", "faker"} & names


@pytest.fixture
def arguments(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["turnstile"])
    return sys.argv


def test_the_program_runs_code_for_its_children(arguments, tmp_path):
    target = tmp_path / "code"
    code = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(__name__ + str(len(sys.argv)))"
    bundle_entry.run_python(["-c", code, str(target)])
    assert target.read_text() == "__main__2"


def test_the_program_runs_a_script_for_its_children(arguments, tmp_path):
    script, target = tmp_path / "child.py", tmp_path / "script"
    script.write_text("import sys, pathlib\npathlib.Path(sys.argv[1]).write_text(__name__ + __file__)\n")
    bundle_entry.run_python([str(script), str(target)])
    assert target.read_text() == f"__main__{script}"


def test_the_program_runs_a_module_for_its_children(arguments, capsys):
    bundle_entry.run_python(["-m", "this"])
    assert "Zen" in capsys.readouterr().out


def test_the_option_of_python_is_none_of_turnstile(arguments, monkeypatch):
    given = []
    monkeypatch.setattr(bundle_entry, "run_python", given.extend)
    arguments[1:] = ["-P", "-c", "pass"]
    assert bundle_entry.main() == 0
    assert given == ["-c", "pass"]


def test_pytorch_for_graphics_cards_is_refused():
    make_bundle.require_cpu_torch("")
    with pytest.raises(make_bundle.BundleError, match=r"13\.0"):
        make_bundle.require_cpu_torch("13.0")


def test_a_package_over_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(make_bundle, "ROOT", tmp_path)
    package = tmp_path / "turnstile.deb"
    package.write_bytes(bytes(1000))
    assert make_bundle.check_size(package, 1000)
    with pytest.raises(make_bundle.BundleError, match=r"turnstile\.deb"):
        make_bundle.check_size(package, 999)


def test_sources_are_compiled_for_a_folder_that_cannot_be_written(tmp_path):
    module, template = tmp_path / "module.py", tmp_path / "template.py"
    module.write_text("A = 1\n")
    template.write_text("{{name}} = =\n")
    entries = [
        ("package/module.py", str(module), "DATA"),
        ("package/template.py", str(template), "DATA"),
        ("a.so", "a.so", "BINARY"),
    ]
    ((target, written, kind),) = bundle_contents.compiled(entries, tmp_path / "compiled")
    assert (Path(target).parts[:2], kind) == (("package", "__pycache__"), "DATA")
    assert Path(written).read_bytes()[4:8] == b"\x01\x00\x00\x00"  # a hash, and nobody compares it


@pytest.fixture
def contents(tmp_path):
    """The metadata of two distributions."""

    def write(name, fields, **files):
        folder = tmp_path / f"{name.replace('-', '_')}-1.2.dist-info"
        (folder / "licenses").mkdir(parents=True)
        (folder / "sboms").mkdir()
        (folder / "METADATA").write_text(METADATA.format(name=name, fields=fields))
        for path, text in files.items():
            (folder / path).write_text(text)
        record = "".join(f"{path.relative_to(tmp_path).as_posix()},,\n" for path in folder.rglob("*") if path.is_file())
        (folder / "RECORD").write_text(record)

    write("token-turnstile", "License-Expression: Apache-2.0", **{"licenses/LICENSE": "The Apache text"})
    inventory = {"components": [{"type": "library", "name": "zlib", "version": "1.3", "properties": []}]}
    texts = {
        "licenses/LICENSE": "The Apache text",
        "licenses/NOTICE": "Of Other",
        "sboms/parts.cdx.json": json.dumps(inventory),
    }
    write("Other_Part", "Classifier: License :: OSI Approved :: BSD License", **texts)
    return tmp_path


def test_a_distribution_names_its_licence(contents):
    found = {one.name: one for one in installed_distributions(contents)}
    assert found["token-turnstile"].licence == "Apache-2.0"
    assert found["Other_Part"].licence == "BSD License"
    assert [path.name for path in sorted(found["Other_Part"].files)] == ["LICENSE", "NOTICE"]


def test_the_sbom_lists_what_is_compiled_in(contents):
    part = sbom.BundledPart("libssl.so.3", "3.0", "pkg:deb/debian/libssl3@3.0", "The SSL text", "ab" * 32)
    made = sbom.document(installed_distributions(contents), [part])
    assert made["metadata"]["component"]["name"] == "token-turnstile"
    assert [one["name"] for one in made["components"]] == ["Other_Part", "zlib", "libssl.so.3"]
    assert made["components"][0]["purl"] == "pkg:pypi/other-part@1.2"
    assert len({one["bom-ref"] for one in made["components"]}) == 3
    assert made == sbom.document(installed_distributions(contents), [part])


def test_each_licence_is_written_once(contents):
    text = sbom.licence_texts(
        installed_distributions(contents), [sbom.BundledPart("Python", "3", "", "The Python text")]
    )
    assert text.count("The Apache text") == 1
    assert "Other_Part 1.2, token-turnstile 1.2\n\nThe Apache text" in text
    assert "Of Other" in text
    assert "The Python text" in text


def test_a_damaged_inventory_adds_nothing(tmp_path):
    damaged = tmp_path / "parts.json"
    for content in ("[]", "{", '{"components": 3}'):
        damaged.write_text(content)
        assert sbom.compiled_in("x", damaged) == []


def test_the_specification_is_python():
    path = Path(bundle_contents.__file__).with_name("bundle.spec")
    compile(path.read_text("utf-8"), str(path), "exec")


def pins(name):
    lines = (Path(bundle_contents.__file__).with_name(name)).read_text("utf-8").splitlines()
    return dict(line.split()[0].split("==") for line in lines if re.match(r"[A-Za-z]", line))


def test_the_hashes_are_those_of_the_versions_that_the_tests_ran_with():
    hashed, tested = (
        pins("requirements.txt"),
        {name.lower().replace("_", "-"): pin for name, pin in pins("constraints.txt").items()},
    )
    assert {name: pin for name, pin in hashed.items() if tested.get(name.replace(".", "-"), pin) != pin} == {}
    assert {"torch", "numba", "pyside6-essentials", "xgrammar"} <= hashed.keys()


def test_other_manifests_name_files_that_are_there():
    packaging = Path(bundle_contents.__file__).parent
    flatpak = yaml.safe_load((packaging / "turnstile.flatpak.yml").read_text("utf-8"))
    assert flatpak["id"] == debian_package.APP_ID
    files = [source["path"] for source in flatpak["modules"][0]["sources"] if source["type"] == "file"]
    assert [path for path in files if not (packaging / path).is_file()] == []
    image = yaml.safe_load((packaging / "AppImageBuilder.yml").read_text("utf-8"))
    assert image["AppDir"]["app_info"]["id"] == debian_package.APP_ID


def test_the_release_runs_scripts_that_are_there():
    root = Path(bundle_contents.__file__).parents[1]
    workflow = yaml.safe_load((root / ".github" / "workflows" / "release.yml").read_text("utf-8"))
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    scripts = set(re.findall(r"packaging/\w+\.py", " ".join(steps)))
    assert {"packaging/make_bundle.py", "packaging/try_bundle.py", "packaging/try_wheel.py"} <= scripts
    assert [script for script in scripts if not (root / script).is_file()] == []
