"""An object that names the folder of a run says which one counts."""

import base64
import json
import sqlite3
from contextlib import closing

import pytest

from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import SERVICES, TABLES
from tidemark.local_state.operations import Recorder, record_operations
from tidemark.operate.prove.pointers import RunFolders, forgotten, pointers_of, run_folders
from tidemark.operate.versions.targets import files_of

OLD, NEW = "v-2f1d7c1e-0000-4000-8000-0000000000aa", "v-2f1d7c1e-0000-4000-8000-0000000000bb"


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "home")


def put(home, path, text="{}"):
    file = home.lake / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_a_folder_that_no_pointer_names_is_forgotten(home):
    put(home, f"out/{NEW}/a.json")
    put(home, "out/current.json", f'{{"folder": "{NEW}/"}}')
    pointers = pointers_of(home, {}, files_of(home.lake))
    put(home, f"out/{OLD}/a.json")  # of a run that died

    assert pointers == ["out/current.json"]
    folders = RunFolders(vary=True, pointers=pointers)
    assert forgotten(home, files_of(home.lake), folders) == {f"out/{OLD}/a.json"}
    assert forgotten(home, files_of(home.lake), RunFolders()) == set()


@pytest.mark.parametrize(
    ("text", "is_pointer"), [(f'["out/{NEW}/"]', True), (f'{{"runs": ["{NEW}"]}}', False)]
)
def test_a_mark_that_the_run_reads_is_a_pointer_if_it_locates_the_folder(home, text, is_pointer):
    record_operations(home)
    Recorder(home, "jr_1").note_opened("s3://lake/state.json")
    put(home, f"lake/out/{NEW}/a.json")
    put(home, "lake/state.json", text)

    pointers = pointers_of(home, {}, files_of(home.lake))

    assert pointers == (["lake/state.json"] if is_pointer else [])


def note(home, name, value):
    """Record a request as the port does, which puts a parameter of SSM."""
    body = base64.b64encode(json.dumps({"Name": name, "Value": value}).encode()).decode()
    headers = {"x-amz-target": "AmazonSSM.PutParameter"}
    request = {"service": "ssm", "path": "/", "headers": headers, "body": body}
    with (home.root / SERVICES).open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(request)}\n")


def test_a_parameter_that_names_the_folder_of_a_run_is_a_pointer_by_its_last_value(home):
    put(home, f"out/{OLD}/a.json")
    note(home, "/orders/current", f"s3://lake/out/{OLD}/")
    note(home, "/orders/last", "4")
    before = files_of(home.lake)
    put(home, f"out/{NEW}/a.json")
    unnamed = pointers_of(home, before, files_of(home.lake))
    note(home, "/orders/current", f"s3://lake/out/{NEW}/")
    pointers = pointers_of(home, before, files_of(home.lake))

    folders = RunFolders(vary=True, pointers=pointers)
    assert (unnamed, pointers) == ([], ["ssm PutParameter /orders/current"])
    assert folders.places == pointers
    assert forgotten(home, files_of(home.lake), folders) == {f"out/{OLD}/a.json"}


@pytest.mark.parametrize(
    ("key", "value", "is_pointer"),
    [
        ("S:orders", f"s3://lake/out/{NEW}/", True),
        ("S:orders", NEW, False),  # which run has written a mark
        (f"S:{NEW}", f"s3://lake/out/{NEW}/", False),  # a log of runs
        ("S:orders", "s3://lake/out/", False),
    ],
)
def test_an_item_that_locates_the_folder_of_a_run_is_a_pointer(home, key, value, is_pointer):
    put(home, f"out/{NEW}/a.json")
    (home.root / TABLES).parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(home.root / TABLES)) as tables, tables:
        tables.execute("CREATE TABLE _tables (table_name TEXT)")
        tables.execute("INSERT INTO _tables VALUES ('sets')")
        tables.execute("CREATE TABLE sets (pk TEXT, sk TEXT, item_json TEXT)")
        item = json.dumps({"at": {"S": value}})
        tables.execute("INSERT INTO sets VALUES (?, '', ?)", (key, item))

    pointers = pointers_of(home, {}, files_of(home.lake))

    assert pointers == (["dynamodb:sets"] if is_pointer else [])
    assert RunFolders(pointers=pointers).places == pointers


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("out/current.json", "nothing"),
        ("out/current.json", OLD),
        (f"out/{NEW}/_SUCCESS", NEW),
        ("out/current.json", NEW + "x" * 100_000),
    ],
    ids=["no name", "another one", "in the folder itself", "a large object"],
)
def test_what_names_no_folder_of_the_run_is_no_pointer(home, path, text):
    put(home, f"out/{NEW}/a.json")
    put(home, path, text)

    assert pointers_of(home, {}, files_of(home.lake)) == []


@pytest.mark.parametrize(
    ("path", "is_one"),
    [("out/manifest.json", True), ("load/orders.manifest", True), ("state/done.json", False)],
)
def test_a_file_that_the_manifest_does_not_name_is_forgotten(home, tmp_path, path, is_one):
    base = Home.open(tmp_path / "base")
    put(home, f"out/data/{NEW}.json")
    put(home, path, f'{{"files": ["out/data/{NEW}.json"]}}')
    put(home, f"other/{NEW[2:]}.json")  # of another target
    folders = run_folders(base, home, home)
    put(home, f"out/data/{OLD}.json")  # of a run that died
    left = {f"out/data/{OLD}.json"} if is_one else set()

    assert folders.pointers == ([path] if is_one else [])
    assert forgotten(home, files_of(home.lake), folders) == left
    put(base, f"out/data/{OLD}.json")  # before there is a manifest
    assert forgotten(base, files_of(base.lake), folders) == left


def test_a_manifest_that_leaves_out_a_file_of_its_run_is_none(home, tmp_path):
    for name in (OLD, NEW):
        put(home, f"out/{name}.json")
    put(home, "out/manifest.json", f"{NEW}.json")

    assert run_folders(Home.open(tmp_path / "base"), home, home).pointers == []


@pytest.mark.parametrize("path", [f"out/manifest-{NEW}.json", f"out/{NEW}/manifest.json"])
def test_a_manifest_that_each_run_names_anew_is_none(home, tmp_path, path):
    put(home, f"data/{NEW}.json")
    put(home, path, f"data/{NEW}.json")

    folders = run_folders(Home.open(tmp_path / "base"), home, home)

    assert forgotten(home, files_of(home.lake), folders) == set()
    assert not folders.listed


def test_an_object_that_was_there_is_no_pointer(home):
    put(home, "out/list.json", NEW)
    before = files_of(home.lake)
    put(home, f"out/{NEW}/a.json")

    assert pointers_of(home, before, files_of(home.lake)) == []


def test_folders_of_days_are_not_folders_of_runs(home):
    put(home, "out/day=20261128/a.json")
    put(home, "state/done.json", "day=20261128")

    assert pointers_of(home, {}, files_of(home.lake)) == []
