"""Small cloud assemblies, written by hand."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tries import tries
from tidemark.errors import UsageError
from tidemark.local_state.deployment.deployed_apps import publish
from tidemark.local_state.home import Home
from tidemark.model.assembly.cloud_assembly import FileAsset, read_assembly

STORAGE = {
    "type": "aws:cloudformation:stack",
    "properties": {"templateFile": "storage.template.json", "stackName": "tidemark-storage"},
}
PIPELINE = {
    "type": "aws:cloudformation:stack",
    "properties": {"templateFile": "pipeline.template.json"},
    "dependencies": ["storage", "pipeline.assets"],
}
ASSETS = {"type": "cdk:asset-manifest", "properties": {"file": "pipeline.assets.json"}}
DESTINATION = {"here": {"bucketName": "assets-${AWS::AccountId}", "objectKey": "0a1b.zip"}}


@pytest.fixture
def folder(tmp_path):
    """An assembly whose manifest names the dependent stack first."""
    folder = tmp_path / "cdk.out"
    folder.mkdir()
    artifacts = {
        "pipeline": PIPELINE,
        "pipeline.assets": ASSETS,
        "storage": STORAGE,
        "Tree": {"type": "cdk:tree", "properties": {"file": "tree.json"}},
    }
    files = {
        "template": {
            "source": {"path": "pipeline.template.json", "packaging": "file"},
            "destinations": {"here": {"bucketName": "assets", "objectKey": "t.json"}},
        },
        "libs": {"source": {"path": "asset.0a1b", "packaging": "zip"}, "destinations": DESTINATION},
    }
    write(folder / "manifest.json", {"version": "48.0.0", "artifacts": artifacts})
    write(folder / "storage.template.json", {"Resources": {}})
    write(folder / "pipeline.template.json", {"Resources": {"Job": {"Type": "AWS::Glue::Job"}}})
    write(folder / "pipeline.assets.json", {"files": files})
    return folder


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "home")


def write(path, document):
    path.write_text(json.dumps(document), encoding="utf-8")


def test_stacks_come_in_the_order_of_deployment_with_their_names(folder):
    assembly = read_assembly(folder)

    assert [stack.name for stack in assembly.stacks] == ["tidemark-storage", "pipeline"]
    assert assembly.stacks[1].template == {"Resources": {"Job": {"Type": "AWS::Glue::Job"}}}


def test_assets_are_the_files_without_the_templates(folder):
    assert read_assembly(folder).assets == (
        FileAsset(
            source=folder / "asset.0a1b",
            is_zipped=True,
            bucket={"Fn::Sub": "assets-${AWS::AccountId}"},
            key="0a1b.zip",
        ),
    )


def test_folder_without_a_manifest_is_no_assembly(tmp_path):
    with pytest.raises(UsageError, match=r"no manifest\.json\); run `cdk synth`, or name"):
        read_assembly(tmp_path)


@pytest.mark.parametrize("name", ["manifest.json", "storage.template.json", "pipeline.assets.json"])
@pytest.mark.parametrize(
    "content", [b'{"artifacts": ', b"[]", b"\xff\xfe"], ids=["cut", "no object", "no text"]
)
def test_file_that_is_no_json_object_is_named(folder, name, content):
    (folder / name).write_bytes(content)

    with pytest.raises(UsageError, match=f"{name}.*; synthesize the app again"):
        read_assembly(folder)


def test_missing_template_is_named(folder):
    (folder / "storage.template.json").unlink()

    with pytest.raises(UsageError, match=r"cannot read .*storage\.template\.json.*No such file"):
        read_assembly(folder)


def test_manifest_without_artifacts_is_an_empty_assembly(folder):
    write(folder / "manifest.json", {"version": "48.0.0"})

    assert read_assembly(folder).stacks == ()


def test_asset_without_its_source_is_named(home, tmp_path):
    asset = FileAsset(tmp_path / "asset.gone", False, "assets", "k.py")

    with pytest.raises(UsageError, match=r"asset\.gone, which does not exist; synth again"):
        publish(asset, "assets", home)


def test_file_is_copied_to_its_key(home, tmp_path):
    (tmp_path / "asset.py").write_text("print(1)", encoding="utf-8")

    target = publish(FileAsset(tmp_path / "asset.py", False, "assets", "deep/k.py"), "assets", home)

    assert target == home.lake / "assets" / "deep" / "k.py"
    assert target.read_text(encoding="utf-8") == "print(1)"


def test_key_that_is_already_there_is_left_alone(home, tmp_path):
    asset = FileAsset(tmp_path / "asset.py", False, "assets", "k.py")
    asset.source.write_text("print(1)", encoding="utf-8")
    target = publish(asset, "assets", home)
    before = target.stat()
    asset.source.write_text("print(2)", encoding="utf-8")

    publish(asset, "assets", home)

    assert target.read_text(encoding="utf-8") == "print(1)"
    assert (target.stat().st_ino, target.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_zip_depends_on_names_and_contents_only(home, tmp_path):
    archives = []
    for turn, order in enumerate((["b.py", "a.py"], ["a.py", "b.py"])):
        source = tmp_path / f"asset.{turn}"
        (source / "package").mkdir(parents=True)
        for name in order:
            path = source / "package" / name
            path.write_text(name, encoding="utf-8")
            os.utime(path, (turn * 10_000_000, turn * 10_000_000))
            path.chmod(0o600 if turn else 0o755)
        archives.append(publish(FileAsset(source, True, "x", f"{turn}.zip"), "assets", home))

    first, second = (path.read_bytes() for path in archives)
    assert first == second
    with zipfile.ZipFile(archives[0]) as archive:
        assert archive.namelist() == ["package/a.py", "package/b.py"]


@settings(
    max_examples=tries(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    files=st.dictionaries(
        st.lists(st.text("abä -.~", min_size=1, max_size=4), min_size=1, max_size=3)
        .map(tuple)
        .filter(lambda parts: not {".", ".."} & set(parts)),
        st.binary(max_size=20),
        min_size=1,
        max_size=5,
    )
)
def test_zip_members_are_the_files_by_their_relative_paths(tmp_path_factory, files):
    root = tmp_path_factory.mktemp("zip")
    source = root / "asset"
    written = {}
    for parts, content in files.items():
        path = source.joinpath(*parts)
        if path.exists() or any(parent.is_file() for parent in path.parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written["/".join(parts)] = content
    home = Home.open(root / "home")

    target = publish(FileAsset(source, True, "x", "k.zip"), "assets", home)

    with zipfile.ZipFile(target) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == written
        for name in archive.namelist():
            assert not PurePosixPath(name).is_absolute()
            assert ".." not in PurePosixPath(name).parts


def test_stacks_of_a_stage_are_read_from_its_nested_assembly(tmp_path):
    nested = tmp_path / "assembly-Dev"
    nested.mkdir()
    stage = {"type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-Dev"}}
    stack = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "t.json"}}
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": {"Dev": stage}}))
    (nested / "manifest.json").write_text(json.dumps({"artifacts": {"app": stack}}))
    (nested / "t.json").write_text('{"Resources": {}}')

    assert [stack.name for stack in read_assembly(tmp_path).stacks] == ["app"]


NAMED = {
    "the template of a stack": ("storage", "templateFile"),
    "the list of assets": ("pipeline.assets", "file"),
    "a stage": ("stage", "directoryName"),
}


@pytest.mark.parametrize("way", ["by its path", "by the whole path", "by a link"])
@pytest.mark.parametrize("what", [*NAMED, "an asset", "a nested template"])
def test_an_assembly_of_others_names_no_file_outside_of_it(folder, tmp_path, what, way):
    (tmp_path / "secret.txt").write_text('{"Resources": {}}')
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    named = {
        "by its path": "../secret.txt",
        "by the whole path": str(tmp_path / "secret.txt"),
        "by a link": "link",
    }[way]
    if what == "an asset":
        document = json.loads((folder / "pipeline.assets.json").read_text())
        document["files"]["libs"]["source"]["path"] = named
        write(folder / "pipeline.assets.json", document)
    elif what == "a nested template":
        inner = {"Type": "AWS::CloudFormation::Stack", "Metadata": {"aws:asset:path": named}}
        write(folder / "storage.template.json", {"Resources": {"Inner": inner}})
    else:
        document = json.loads((folder / "manifest.json").read_text())
        document["artifacts"].setdefault("stage", {"type": "cdk:cloud-assembly", "properties": {}})
        document["artifacts"]["stage"]["properties"].setdefault("directoryName", "stage")
        artifact, key = NAMED[what]
        document["artifacts"][artifact]["properties"][key] = named
        write(folder / "manifest.json", document)
        (folder / "stage").mkdir()
        write(folder / "stage" / "manifest.json", {})

    with pytest.raises(UsageError, match="outside of") as refusal:
        [stack.resource_types() for stack in read_assembly(folder, is_of_others=True).stacks]
    assert repr(named) in str(refusal.value)


def test_a_stage_shares_the_assets_of_the_assembly_around_it(folder):
    stage = folder / "assembly-prod"
    stage.mkdir()
    (folder / "asset.0a1b").mkdir()
    write(stage / "manifest.json", {"artifacts": {"pipeline.assets": ASSETS}})
    files = {"libs": {"source": {"path": "../asset.0a1b"}, "destinations": DESTINATION}}
    write(stage / "pipeline.assets.json", {"files": files})

    (asset,) = read_assembly(stage).assets

    assert asset.source.resolve() == (folder / "asset.0a1b").resolve()


@pytest.mark.parametrize("named", [5, None, "a\0", "."])
def test_an_assembly_that_names_no_file_is_refused_by_name(folder, named):
    document = json.loads((folder / "manifest.json").read_text())
    document["artifacts"]["stage"] = {
        "type": "cdk:cloud-assembly",
        "properties": {"directoryName": named},
    }
    write(folder / "manifest.json", document)

    with pytest.raises(UsageError, match=r"names no file|holds itself"):
        read_assembly(folder)


@pytest.mark.parametrize("named", [5, None, "a\0"])
def test_an_asset_without_a_file_is_refused_by_name(folder, named):
    document = json.loads((folder / "pipeline.assets.json").read_text())
    document["files"]["libs"]["source"]["path"] = named
    write(folder / "pipeline.assets.json", document)

    with pytest.raises(UsageError, match="names no file"):
        read_assembly(folder, is_of_others=True)


@pytest.mark.parametrize("name", ["../../../elsewhere", "/elsewhere", "a\x1b[2J", "", 5])
def test_a_stack_has_a_name_that_cloudformation_takes(folder, name):
    document = json.loads((folder / "manifest.json").read_text())
    document["artifacts"]["storage"]["properties"]["stackName"] = name
    write(folder / "manifest.json", document)

    with pytest.raises(UsageError, match="synthesize the app again"):
        read_assembly(folder)


@pytest.mark.parametrize(
    ("file", "member", "value"),
    [
        ("manifest.json", "artifacts", {"stack": {"type": STORAGE["type"], "properties": {}}}),
        ("manifest.json", "artifacts", {"stack": 5}),
        ("pipeline.assets.json", "files", {"libs": {"source": None, "destinations": DESTINATION}}),
        ("pipeline.assets.json", "files", {"libs": {"source": {"path": "a"}}}),
        ("pipeline.template.json", "Resources", {"Job": {"Properties": {}}}),
        (
            "pipeline.template.json",
            "Resources",
            {"Job": {"Type": "AWS::Glue::Job", "Properties": ""}},
        ),
    ],
)
def test_an_assembly_of_another_shape_is_refused_by_name(folder, file, member, value):
    write(folder / file, {member: value})

    with pytest.raises(UsageError, match=r"cdk\.out holds something that could not be deployed"):
        read_assembly(folder)


def test_a_circle_of_links_or_of_dependencies_a_pipe_and_deep_nesting_are_one_line(folder):
    manifest = folder / "manifest.json"
    circle = {"artifacts": {name: {"type": "x", "dependencies": ["a", "b"]} for name in "ab"}}
    for text in (json.dumps(circle), '{"a":' * 10**5):
        manifest.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match="RecursionError"):
            read_assembly(folder)

    (folder / "x.json").symlink_to("x.json")
    properties = {"templateFile": "x.json"}
    stack = {"type": "aws:cloudformation:stack", "properties": properties}
    write(manifest, {"artifacts": {"pipeline": stack}})
    with pytest.raises(UsageError, match=r"x\.json"):
        read_assembly(folder)

    (folder / "x.json").unlink()
    os.mkfifo(folder / "x.json")
    with pytest.raises(UsageError, match="it is a pipe"):
        read_assembly(folder)


def test_an_assembly_of_others_in_a_project_with_another_manifest_is_its_folder_alone(folder):
    write(folder.parent / "manifest.json", {"name": "a web app"})
    (folder.parent / ".env").write_text("PASSWORD=hunter2")
    document = json.loads((folder / "pipeline.assets.json").read_text())
    document["files"]["libs"]["source"]["path"] = "../.env"
    write(folder / "pipeline.assets.json", document)

    with pytest.raises(UsageError, match="outside of"):
        read_assembly(folder, is_of_others=True)
