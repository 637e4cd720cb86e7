"""The bookmark inside a job process, on a real store and real files."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tidemark.errors import EntityNotFoundError, TidemarkError
from tidemark.glue_job.process import bookmark_session
from tidemark.glue_job.process.bookmark_session import (
    files_to_read,
    folder_of,
    places_of,
    start_session,
)
from tidemark.local_state.bookmarks.files import NO_LIMITS, Limits
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.bookmarks.versions import latest_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store

ENABLE = {"job_bookmark_option": "job-bookmark-enable", "JOB_RUN_ID": "jr_1"}
URI = "s3://landing/weather/"


@pytest.fixture
def land(home):
    def put(key, minutes_ago=60):
        path = home.lake / "landing" / "weather" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(key, encoding="utf-8")
        at = time.time() - 60 * minutes_ago
        os.utime(path, (at, at))

    return put


def paths_read(*uris, ctx="", limits=NO_LIMITS):
    source = S3Source(uris, ctx, "json", limits=limits)
    return [file.path for file in files_to_read(source).files]


def read(ctx="weather", uri=URI):
    return [file.rpartition("/")[2] for file in paths_read(uri, ctx=ctx)]


def bookmark(home, job="ingest"):
    with Store(home.database) as store:
        return latest_bookmark(store, job)


@pytest.mark.rule("State and commit", source="BM")
def test_second_run_reads_only_what_arrived_after_the_first_commit(land):
    land("a.json", minutes_ago=90)
    first = start_session("ingest", ENABLE)
    assert read() == ["a.json"]
    first.commit()
    land("b.json", minutes_ago=0)

    start_session("ingest", ENABLE)

    assert read() == ["b.json"]


@pytest.mark.rule("transformation_ctx", source="BMS, TRB")
def test_source_without_a_context_reads_everything_while_others_stay_incremental(home, land):
    land("a.json")
    first = start_session("ingest", ENABLE)
    read("weather")
    read("")
    first.commit()

    start_session("ingest", ENABLE)

    assert read("weather") == []
    assert read("") == read("") == ["a.json"]
    assert list(bookmark(home).states) == ["weather"]


@pytest.mark.rule(
    "transformation_ctx", source="SILENT", choice="an error: one would hide the other"
)
def test_two_sources_with_one_context_are_refused(land):
    land("a.json")
    start_session("ingest", ENABLE)
    read("weather")

    with pytest.raises(TidemarkError, match="two sources use the transformation_ctx 'weather'"):
        read("weather")


@pytest.mark.rule("transformation_ctx", source="BM, BMS")
def test_new_context_reads_everything_again(land):
    land("a.json")
    first = start_session("ingest", ENABLE)
    read("weather")
    first.commit()

    start_session("ingest", ENABLE)

    assert read("weather_renamed") == ["a.json"]


@pytest.mark.rule("transformation_ctx", source="BM, BMS")
def test_other_path_under_an_old_context_skips_data_older_than_the_bookmark(home, land):
    land("a.json")
    land("other/old.json", minutes_ago=60)
    land("other/within_the_band.json", minutes_ago=5)
    first = start_session("ingest", ENABLE)
    read()
    first.commit()
    land("other/new.json", minutes_ago=0)

    start_session("ingest", ENABLE)

    assert read(uri=f"{URI}other/") == ["within_the_band.json", "new.json"]


@pytest.mark.rule("transformation_ctx", source="BM")
def test_contexts_not_opened_in_a_run_keep_their_state(home, land):
    land("a.json")
    first = start_session("ingest", ENABLE)
    read("weather")
    read("other")
    first.commit()
    weather = bookmark(home).states["weather"]

    second = start_session("ingest", ENABLE)
    read("other")
    second.commit()

    assert bookmark(home).version == 2
    assert bookmark(home).states["weather"] == weather


@pytest.mark.rule("State and commit", source="BM, LIB")
def test_state_follows_the_name_given_to_init(home, land):
    land("a.json")
    first = start_session("one name", ENABLE)
    read()
    first.commit()

    start_session("another name", ENABLE)

    assert read() == ["a.json"]
    assert bookmark(home, "one name").version == 1


@pytest.mark.rule("State and commit", source="BMS")
def test_before_init_a_source_reads_everything(land):
    land("a.json")

    assert read() == read() == ["a.json"]


@pytest.mark.rule("Files of S3", source="S3")
def test_band_of_the_source_is_honoured(land):
    land("a.json", minutes_ago=60)
    first = start_session("ingest", ENABLE)
    paths_read(URI, ctx="weather", limits=Limits(max_band_ms=0))
    first.commit()
    land("late.json", minutes_ago=1)

    start_session("ingest", ENABLE)

    assert paths_read(URI, ctx="weather", limits=Limits(max_band_ms=0)) == []


@pytest.mark.rule("transformation_ctx", source="SILENT", choice="one mark for all its paths")
def test_several_paths_share_one_context(home, land):
    land("a.json", minutes_ago=5)
    land("more/b.json", minutes_ago=9)
    start_session("ingest", ENABLE)

    files = paths_read(URI, f"{URI}more/", ctx="weather")

    assert files == ["s3://landing/weather/more/b.json", "s3://landing/weather/a.json"]


def test_plain_path_and_file_uri_are_listed_where_they_are(home, tmp_path):
    (tmp_path / "here.json").write_text("{}", encoding="utf-8")

    for uri in (f"{tmp_path}/here.json", f"file://{tmp_path}/here.json"):
        assert paths_read(uri) == [uri]


def test_enabled_bookmark_outside_a_local_run_says_how_to_start_the_script(monkeypatch):
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    monkeypatch.setattr(bookmark_session, "_sessions", [])

    with pytest.raises(TidemarkError, match="TIDEMARK_HOME is not set; start the script with"):
        start_session("ingest", ENABLE)


@pytest.mark.rule("Bad input", source="INFER")
def test_a_bucket_that_does_not_exist_is_an_error_and_not_an_empty_source(tmp_path, monkeypatch):
    home = Home.open(tmp_path / "other-home")
    (home.lake / "landing").mkdir()
    monkeypatch.setenv("TIDEMARK_HOME", str(home.root))

    with pytest.raises(
        EntityNotFoundError, match=r"NoSuchBucket.*s3://landin has no folder .* which has landing;"
    ):
        paths_read("s3://landin/x/")


def test_places_of_many_files_are_those_of_each(home):
    home.create_bucket("landing")
    uris = [
        "s3://landing/a.json",
        "s3://landing/in//day=1/a b.json",
        "s3a://landing/in/day=1/c",
        "file:///data/in/x",
        "/data/in/y",
    ]

    assert [Path(place) for place in places_of(uris)] == [folder_of(uri) for uri in uris]
    with pytest.raises(EntityNotFoundError, match="s3://nowhere has no folder"):
        places_of(["s3://landing/a.json", "s3://nowhere/a.json"])
