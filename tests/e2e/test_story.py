"""The demo's own story on a few days, and that its checks can fail."""

import pytest
from rich.console import Console

from demo.story import SAMPLE_JOBS, Plot, Story, StoryError, main, routes_table, runs_table, tell
from local_glue.home import Home

pytestmark = [pytest.mark.spark, pytest.mark.synth]
SMALL = Plot(first_days="1..2", next_days="3", late_weather="2", corrected="1")


@pytest.fixture(scope="module")
def console() -> Console:
    return Console(record=True, width=160, quiet=False)


@pytest.fixture(scope="module")
def told(assembly, tmp_path_factory, console) -> Story:
    story = Story(console, assembly, Home.open(tmp_path_factory.mktemp("story") / "home"))
    tell(story, SMALL)
    return story


def rows_of(story: Story, run: int) -> dict[str, tuple[int | None, int | None]]:
    _, result = story.runs[run]
    return {
        r.job_name: (r.rows_read, r.rows_written)
        for r in result.job_runs
        if r.job_name in SAMPLE_JOBS
    }


def test_the_first_run_loads_everything_that_landed(told) -> None:
    assert rows_of(told, 0) == {
        "ingest-flights": (1785, 1785),  # 842 + 943 flights
        "ingest-weather": (67, 67),  # one day of three airports; the other is late
        "curate-flights": (2 * 1785 + 2 * 67, 1785),
        "publish-delays": (2 * 1785, 342),
    }


def test_the_second_run_reads_only_what_is_new(told) -> None:
    flights, weather = 914 + 17, 72 + 72  # a day and its corrections; a day and the late file
    touched = 842 + 943 + 914  # the corrected day, the day of the late weather, the new day

    rows = rows_of(told, 1)

    assert rows["ingest-flights"] == (flights, flights)
    assert rows["ingest-weather"] == (weather, weather)
    assert rows["curate-flights"][1] == touched
    assert rows["publish-delays"][0] == 2 * touched


def test_the_third_run_reads_nothing(told) -> None:
    assert set(rows_of(told, 2).values()) == {(0, 0)}


def test_the_mart_equals_a_recomputation_and_the_story_says_so(told, console) -> None:
    told.prove()

    assert "equal a from-scratch recomputation" in console.export_text(clear=False)


def test_the_tables_show_every_job_and_the_worst_routes(told, console) -> None:
    console.print(runs_table(told.runs))
    console.print(routes_table(told.folder("MartBucketName", "route_delays")))

    text = console.export_text(clear=False)
    assert "Rows read" in text
    assert all(name in text for name in rows_of(told, 0))
    assert text.count(" min ") == 10


def test_status_shows_the_watermark_and_the_bookmarks(told, assembly, monkeypatch) -> None:
    from click.testing import CliRunner

    from ops.cli import main

    monkeypatch.setenv("TIDEMARK_HOME", str(told.folder("MartBucketName").parents[1]))
    result = CliRunner().invoke(main, ["status", "--app", str(assembly)], env={"COLUMNS": "250"})

    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line for line in result.output.splitlines() if "SUCCEEDED" in line}
    assert "updated_at=2013-01-04T04:00:00.016" in lines["ingest-flights"]
    assert "v3 to 20" in lines["ingest-weather"]


def test_the_proof_fails_when_the_mart_lacks_a_day(told) -> None:
    folder = told.folder("MartBucketName", "route_delays/flight_date=2013-01-02")
    hidden = folder.rename(folder.parent.parent / "hidden")
    try:
        with pytest.raises(StoryError, match="missing_rows=1"):
            told.prove()
    finally:
        hidden.rename(folder)


def test_the_demo_never_empties_the_home_of_the_user(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    Home.open(tmp_path / "home")
    (tmp_path / "home" / "lake" / "precious.txt").write_text("keep", encoding="utf-8")

    assert main() == 2  # there is no cdk.json here

    assert (tmp_path / "home" / "lake" / "precious.txt").exists()
    assert (tmp_path / ".tidemark-demo").is_dir()
