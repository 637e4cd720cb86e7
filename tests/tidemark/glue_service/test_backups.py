"""Backups hold what S3 keeps of objects beside their bytes, when they hold the objects."""

import tarfile
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.backups import back_up, restore
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import KEY_FILE
from tidemark.local_state.rewinds.records import MARK, RewindCause, record_start
from tidemark.local_state.store.database import Store

OBJECT = {"Bucket": "lake", "Key": "orders/1.json"}


def told_of_the_object(home: Home, put: bytes | None = None) -> tuple[Any, ...]:
    """Serve a home, put the object if there is one to put, and return what S3 tells of it."""
    with serving(home) as (url, _):
        s3: Any = boto3.client(
            "s3",
            endpoint_url=url,
            region_name="us-east-1",
            **access_key(home).arguments,
            config=Config(s3={"addressing_style": "path"}),
        )
        if put is not None:
            if not home.lake.joinpath("lake").exists():
                s3.create_bucket(Bucket="lake")
            s3.put_object(**OBJECT, Body=put, Metadata={"from": put.decode()}, Tagging="kind=raw")
        head = s3.head_object(**OBJECT)
        tags = s3.get_object_tagging(**OBJECT)["TagSet"]
        s3.close()
    return head["ETag"], head["Metadata"], tags


@pytest.mark.parametrize("with_lake", [True, False])
def test_what_s3_keeps_of_objects_goes_with_them(tmp_path: Path, with_lake: bool) -> None:
    home = Home.open(tmp_path / "home")
    first = told_of_the_object(home, b"first")
    back_up(home, tmp_path / "backup.tar.gz", with_lake=with_lake)
    second = told_of_the_object(home, b"second")
    restore(home, tmp_path / "backup.tar.gz")
    assert first != second
    assert told_of_the_object(home) == (first if with_lake else second)


def mark_in_ssm(home: Home, put: str = "") -> str:
    """Serve a home, put the parameter if there is a value to put, and return its value."""
    with serving(home) as (url, _):
        ssm: Any = boto3.client(
            "ssm", endpoint_url=url, region_name="us-east-1", **access_key(home).arguments
        )
        if put:
            ssm.put_parameter(Name="/orders/last", Value=put, Type="String", Overwrite=True)
        value = ssm.get_parameter(Name="/orders/last")["Parameter"]["Value"]
        ssm.close()
    return str(value)


def test_marks_that_jobs_keep_in_ssm_go_back_with_their_bookmarks(tmp_path: Path) -> None:
    home, file = Home.open(tmp_path / "home"), tmp_path / "backup.tar.gz"
    mark_in_ssm(home, "7")
    back_up(home, file, with_lake=False)
    assert mark_in_ssm(home, "9") == "9"

    restore(home, file)

    assert mark_in_ssm(home) == "7"
    readable = [path.stat().st_mode & 0o077 for path in (file, home.root / "services.jsonl")]
    assert readable == [0, 0]


def test_a_backup_does_not_have_the_access_key(tmp_path: Path) -> None:
    home = Home.open(tmp_path / "home")
    key = access_key(home)

    back_up(home, tmp_path / "backup.tar.gz", with_lake=True)
    restore(home, tmp_path / "backup.tar.gz")

    with tarfile.open(tmp_path / "backup.tar.gz") as archive:
        assert KEY_FILE not in [Path(name).name for name in archive.getnames()]
    assert access_key(home) == key


def test_no_backup_is_made_of_a_home_that_is_half_rewound(tmp_path: Path) -> None:
    home = Home.open(tmp_path / "home")
    with Store(home.database) as store, store.transaction():
        record_start(store, RewindCause("ada", "a bad day", 1), {"to": "jr_1", "steps": {}})
    (home.root / MARK).touch()

    with pytest.raises(TidemarkError, match="rewind 1 was interrupted and is half done"):
        back_up(home, tmp_path / "backup.tar.gz", with_lake=False)


def test_no_backup_is_made_of_a_home_without_any_state(tmp_path: Path) -> None:
    home = Home.open(tmp_path / "home")

    with pytest.raises(TidemarkError, match=r"there is nothing in .*home to back up"):
        back_up(home, tmp_path / "backup.tar.gz", with_lake=False)

    assert not (tmp_path / "backup.tar.gz").exists()


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("{outside}", ""),
        ("lake/../../outside", ""),
        ("lake/link", "."),  # Python's own filter allows chains of these that lead outside
        ("lake/link", "{outside}"),
    ],
)
def test_an_archive_of_others_changes_nothing_outside_of_the_home(
    tmp_path: Path, name: str, link: str
) -> None:
    home, outside = Home.open(tmp_path / "home"), tmp_path / "outside"
    outside.touch()
    before = outside.stat().st_mtime_ns
    (home.lake / "a.json").touch()
    back_up(home, tmp_path / "backup.tar.gz", with_lake=True)
    member = tarfile.TarInfo(name.format(outside=outside))
    member.linkname = link.format(outside=outside)
    member.type = tarfile.SYMTYPE if link else tarfile.REGTYPE
    member.pax_headers = {"mtime": "1.0"}
    with (
        tarfile.open(tmp_path / "backup.tar.gz") as made,
        tarfile.open(tmp_path / "hostile.tar.gz", "w:gz") as hostile,
    ):
        for kept in made:
            hostile.addfile(kept, made.extractfile(kept) if kept.isfile() else None)
        hostile.addfile(member)

    with pytest.raises(UsageError, match=r"is outside of its folder|is not a file"):
        restore(home, tmp_path / "hostile.tar.gz")

    assert outside.stat().st_mtime_ns == before
