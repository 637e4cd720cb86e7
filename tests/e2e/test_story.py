"""The demo's own story on a few days, that its checks can fail, and what its jobs ask of AWS."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from rich.console import Console

from sample.story import (
    INGEST_JOBS,
    SAMPLE_JOBS,
    Plot,
    Story,
    StoryError,
    routes_table,
    runs_table,
    tell,
)
from tests.e2e.recorded_calls import (
    OWN_APP,
    Call,
    FileRecorder,
    recording_proxy,
    table_calls,
)
from tests.e2e.simulation import by_folder, grants, is_allowed, policies_of, without
from tidemark.glue_service.commands import load_app, region
from tidemark.glue_service.runs.jvms.server import serve_pool
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.glue_service.runs.pythons import Pythons
from tidemark.local_state.dynamodb import dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import KEPT_BY
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.store.checkpoints import checkpoint_of_run
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.cloud_assembly import read_assembly
from tidemark.model.assembly.template import scope_of
from tidemark.model.checkpoints.checkpoint import BookmarkMove

# At every change `make demo` tells the whole story, and proves it.
pytestmark = [pytest.mark.spark, pytest.mark.synth, pytest.mark.nightly]
# The columns of a file, without its root, and Hive's type of what Parquet says of each.
SCHEMA = "SELECT name, type, converted_type FROM parquet_schema(?) WHERE type IS NOT NULL"
HIVE = {("BYTE_ARRAY", "UTF8"): "string", ("INT64", None): "bigint"}
SMALL = Plot(first_days="1..2", next_days="3", late_weather="2", corrected="1")


@pytest.fixture(scope="module")
def console() -> Console:
    return Console(record=True, width=160, quiet=False)


@pytest.fixture(scope="module")
def recorder(tmp_path_factory) -> FileRecorder:
    return FileRecorder(tmp_path_factory.mktemp("recordings"), find_java_home())


@pytest.fixture(scope="module")
def requests() -> list:
    """What ingest-flights asks of services by boto3, while the story is told."""
    return []


@pytest.fixture(scope="module")
def own_jvms(tmp_path_factory) -> Iterator[Jvms]:
    """A JVM that starts when it is told to record itself: a second one takes longer to warm up."""
    with (
        serve_pool(tmp_path_factory.mktemp("jvms"), find_java_home(), 1) as (pool, file),
        closing(Pythons()) as pythons,
    ):
        yield Jvms(file, pool=pool, pythons=pythons)


@pytest.fixture(scope="module")
def told(assembly, tmp_path_factory, console, recorder, requests, own_jvms) -> Story:
    home = Home.open(tmp_path_factory.mktemp("story") / "home")
    with (
        dynamodb_endpoint(home) as engine,
        recording_proxy(engine) as (url, recorded),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("AWS_ENDPOINT_URL", url)  # a call of another service would be seen
        patch.setenv("AWS_ENDPOINT_URL_DYNAMODB", url)
        patch.setenv("AWS_SDK_UA_APP_ID", OWN_APP)
        options = f"{os.environ.get('JAVA_TOOL_OPTIONS', '')} {recorder.java_options}"
        patch.setenv("JAVA_TOOL_OPTIONS", options)
        story = Story(console, assembly, home, own_jvms)
        tell(story, SMALL)
        requests += [
            (service, operation, body)
            for service, operation, body in recorded
            if service != "DynamoDB" or "'ingest-flights'" in str(body)
        ]
    (home.root / KEPT_BY).unlink()  # what was recorded is the engine of this home itself
    return story


def rows_of(story: Story, run: int) -> dict[str, tuple[int | None, int | None]]:
    _, result = story.runs[run]
    return {
        r.job_name: (r.rows_read, r.rows_written)
        for r in result.job_runs
        if r.job_name in SAMPLE_JOBS
    }


def test_each_run_has_recorded_what_it_read_wrote_and_moved(told) -> None:
    found = {}
    with Store(told._home.database) as store:
        for run in told.runs[0][1].job_runs:
            checkpoint = checkpoint_of_run(store, run.run_id)
            assert checkpoint is not None, run.job_name
            assert checkpoint.code.keys() == {"script", "libs"}
            found[run.job_name] = checkpoint

    (landed,), (raw,) = found["ingest-flights"].read, found["ingest-flights"].written
    (move,) = found["ingest-flights"].watermarks
    assert (landed.rows, raw.rows, raw.mode) == (1785, 1785, "window")
    assert found["ingest-flights"].bookmark is None
    assert (move.before, move.after_version, len(move.windows)) == (None, 1, 1)
    weather = found["ingest-weather"]
    assert weather.bookmark == BookmarkMove("job-bookmark-enable", 0, 1)
    assert [(one.source, one.rows) for one in weather.read] == [("landing_weather", 3)]
    assert [(one.mode, one.rows) for one in weather.written] == [("append", 67)]
    curated = found["curate-flights"]
    assert [(one.source, one.rows) for one in curated.read] == [
        ("raw_flights", 1785),
        ("raw_weather", 67),
        ("", 1785),
        ("", 67),
    ]
    assert curated.read[0].dataset == raw.dataset
    assert [(one.mode, one.rows) for one in curated.written] == [("overwrite_partitions", 1785)]
    assert found["publish-delays"].read[0].dataset == curated.written[0].dataset


def test_the_first_run_loads_everything_that_landed(told) -> None:
    assert rows_of(told, 0) == {
        "ingest-flights": (1785, 1785),  # 842 + 943 flights
        "ingest-weather": (3, 67),  # one day of three airports; the other is late
        "curate-flights": (2 * 1785 + 2 * 67, 1785),
        "publish-delays": (2 * 1785, 342),
    }


def test_the_second_run_reads_only_what_is_new(told) -> None:
    flights = 914 + 17  # a day and its corrections
    reports, weather = 3 + 3, 72 + 72  # a day and the late file
    touched = 842 + 943 + 914  # the corrected day, the day of the late weather, the new day

    rows = rows_of(told, 1)

    assert rows["ingest-flights"] == (flights, flights)
    assert rows["ingest-weather"] == (reports, weather)
    assert rows["curate-flights"][1] == touched
    assert rows["publish-delays"][0] == 2 * touched


def test_the_third_run_reads_nothing(told) -> None:
    assert set(rows_of(told, 2).values()) == {(0, 0)}


def test_the_mart_equals_a_recomputation_and_the_story_says_so(told, console) -> None:
    told.prove()

    assert "equal a from-scratch recomputation" in console.export_text(clear=False)


def test_no_report_of_weather_has_the_id_of_one_of_an_earlier_run(told) -> None:
    files = told.folder("RawBucketName", "weather") / "**" / "*.parquet"

    reports = duckdb.sql(
        "SELECT report_id, any_value(origin), count(DISTINCT (origin, weather_date)) "
        "FROM read_parquet(?, hive_partitioning = true) GROUP BY ALL ORDER BY report_id",
        params=[str(files)],
    ).fetchall()

    assert [id_ for id_, *_ in reports] == list(range(1, 10))
    assert [(origin, days) for _, origin, days in reports] == [
        ("EWR", 1),
        ("JFK", 1),
        ("LGA", 1),
    ] * 3


def test_the_tables_show_every_job_and_the_worst_routes(told, console) -> None:
    console.print(runs_table(told.runs))
    console.print(routes_table(told.folder("MartBucketName", "route_delays")))

    text = console.export_text(clear=False)
    assert "Rows read" in text
    assert all(name in text for name in rows_of(told, 0))
    assert text.count(" min ") == 10


def test_the_published_table_has_the_columns_and_types_of_the_files(told, assembly) -> None:
    (table,) = load_app(assembly).deployment.catalog_tables
    folder = told.folder("MartBucketName", "route_delays")
    files = sorted(folder.rglob("*.parquet"))

    assert files
    for file in files:
        fields = duckdb.sql(SCHEMA, params=[str(file)]).fetchall()
        assert table.columns == [(name, HIVE[tuple(types)]) for name, *types in fields]
    assert Path(table.location.removeprefix("s3://")) == folder.relative_to(folder.parents[1])
    days = {file.parent.relative_to(folder).as_posix() for file in files}
    assert days == {f"flight_date=2013-01-0{day}" for day in (1, 2, 3)}
    ((key, _),) = table.partition_keys
    assert key == "flight_date"
    assert table.parameters["projection.flight_date.format"] == "yyyy-MM-dd"


def test_status_shows_the_watermark_and_the_bookmarks(told, assembly, monkeypatch) -> None:
    from click.testing import CliRunner

    from tidemark.cli.main import main

    monkeypatch.setenv("TIDEMARK_HOME", str(told.folder("MartBucketName").parents[1]))
    result = CliRunner().invoke(main, ["status", "--app", str(assembly)], env={"COLUMNS": "250"})

    assert result.exit_code == 0, result.output
    lines = {line.split()[0]: line for line in result.output.splitlines() if "SUCCEEDED" in line}
    assert "updated_at=2013-01-04 04:00:00.016" in lines["ingest-flights"]
    assert "v3 to 20" in lines["ingest-weather"]


def test_the_proof_fails_when_the_mart_lacks_a_day(told) -> None:
    folder = told.folder("MartBucketName", "route_delays/flight_date=2013-01-02")
    hidden = folder.rename(folder.parent.parent / "hidden")
    try:
        with pytest.raises(StoryError, match="missing_rows=1"):
            told.prove()
    finally:
        hidden.rename(folder)


# What Relationalize asks for on AWS: it writes its tables to the staging path and reads them.
RAW = "arn:aws:s3:::tidemark-dev-storage-raw"
STAGED = [
    *(
        Call("ingest-weather", f"s3:{action}Object", f"{RAW}/weather_staging/part-0.csv", {})
        for action in ("Put", "Get", "Delete")
    ),
    Call("ingest-weather", "s3:ListBucket", RAW, {"s3:prefix": ("weather_staging/",)}),
]
# Actions that no job was seen to need here, and why its role allows them.
JUSTIFIED = {
    "dynamodb:DescribeTable": "Watermarks.exists and set-up checks of a script",
    "dynamodb:Query": "history, rewinds and windows that are found again after a kill",
    "kms:Encrypt": "Glue encrypts bookmarks with it (CSE-KMS)",
    "logs:AssociateKmsKey": "without it Glue writes no logs of a job that encrypts them",
    "logs:CreateLogGroup": "Glue asks for the group before every run",
    "logs:CreateLogStream": "Glue writes the logs of every run",
    "logs:PutLogEvents": "Glue writes the logs of every run",
    "s3:AbortMultipartUpload": "a writer that failed takes back the parts it uploaded",
}


def is_of_the_story(job: dict) -> bool:
    """Return whether a job is one of the sample, which no one has scaffolded."""
    return job["Properties"]["Name"] in SAMPLE_JOBS


def is_justified(action: str, resource: str) -> bool:
    """Return whether a grant that nothing was seen to need has a reason."""
    before_the_run = "-assets-" in resource  # Glue fetches script and libraries
    asked_for_a_folder = not resource.endswith("/*")  # is there an object of that name?
    return action in JUSTIFIED or (
        action == "s3:GetObject" and (before_the_run or asked_for_a_folder)
    )


@pytest.fixture(scope="module")
def roles(assembly) -> dict[str, list]:
    """Return the resolved policy statements of each job's role."""
    exports, statements = {}, {}
    for stack in read_assembly(assembly).stacks:
        scope = scope_of(stack, region(), exports)
        resources = stack.template["Resources"]
        for output in stack.template.get("Outputs", {}).values():
            if "Export" in output:
                exports[scope.resolve(output["Export"]["Name"])] = scope.resolve(output["Value"])
        for resource in resources.values():
            if resource["Type"] == "AWS::Glue::Job" and is_of_the_story(resource):
                role = resources[resource["Properties"]["Role"]["Fn::GetAtt"][0]]
                name = resource["Properties"]["Name"]
                statements[name] = [
                    one
                    for policy in policies_of(role, resources)
                    for statement in scope.resolve(policy["PolicyDocument"]["Statement"])
                    for one in by_folder(statement)
                ]
    return statements


@pytest.fixture(scope="module")
def calls(told, recorder, requests, roles) -> list[Call]:
    """Return what the jobs were seen to ask of AWS, and what follows from it."""
    home = told.folder("MartBucketName").parents[1]
    job_of_run = {run.run_id: run.job_name for _, result in told.runs for run in result.job_runs}
    recorded = recorder.calls(Home.open(home), job_of_run)
    seen = {call for call in recorded if call.job in roles}
    (table,) = {
        arn
        for statement in roles["ingest-flights"]
        if "dynamodb:PutItem" in statement["Action"]
        for arn in [statement["Resource"]]
    }
    return [
        *seen,
        *implied(seen, roles, home / "lake"),
        *STAGED,
        *table_calls("ingest-flights", requests, table),
    ]


def implied(seen: set[Call], roles: dict[str, list], lake: Path) -> list[Call]:
    """Return what S3 needs beside an object's own action: listing, its key, and renaming.

    A file that was written and is not there at the end was renamed or replaced: on S3 it is copied
    from where it is, and deleted.
    """
    found = set()
    for call in seen:
        bucket, _, key = call.resource.partition("/")
        folder = key.partition("/")[0]
        (key_arn,) = (s["Resource"] for s in roles[call.job] if "kms:Decrypt" in s["Action"])
        found.add((call.job, "s3:ListBucket", bucket, f"{folder}/"))
        found.add((call.job, "s3:ListBucket", bucket, key.rpartition("/")[0] + "/"))
        if call.action == "s3:PutObject":
            found.add((call.job, "kms:GenerateDataKey", key_arn, ""))
            if not (lake / bucket.rpartition(":")[2] / key).exists():
                found.add((call.job, "s3:GetObject", call.resource, ""))
                found.add((call.job, "s3:DeleteObject", call.resource, ""))
        found.add((call.job, "kms:Decrypt", key_arn, ""))
    return [
        Call(job, action, arn, {"s3:prefix": (prefix,)} if prefix else {})
        for job, action, arn, prefix in found
    ]


def denied_to(statements: list, calls: list[Call]) -> list[Call]:
    return [
        call
        for call in calls
        if not is_allowed(statements, call.action, call.resource, call.context)
    ]


def test_every_job_was_seen_to_read_and_to_write(calls, roles) -> None:
    seen = {(call.job, call.action) for call in calls}

    assert {job for job, action in seen if action == "s3:GetObject"} == set(roles)
    assert {job for job, action in seen if action == "s3:PutObject"} == set(roles)
    assert ("ingest-flights", "dynamodb:UpdateItem") in seen


def test_every_call_is_allowed_to_the_role_of_its_job(calls, roles) -> None:
    denied = [
        call
        for job, statements in roles.items()
        for call in denied_to(statements, [call for call in calls if call.job == job])
    ]

    assert denied == []


def test_no_call_is_allowed_to_the_roles_of_jobs_that_do_not_share_the_data(calls, roles) -> None:
    others = [
        (job, call)
        for call in calls
        for job in roles
        if call.action in ("s3:PutObject", "dynamodb:PutItem", "dynamodb:UpdateItem")
        and job != call.job
        and is_allowed(roles[job], call.action, call.resource, call.context)
    ]

    assert others == []


def test_without_any_one_of_its_grants_a_job_could_not_do_what_it_does(calls, roles) -> None:
    idle = []
    for job, statements in roles.items():
        own = [call for call in calls if call.job == job]
        idle += [
            (job, *grant[1:])
            for grant in grants(statements)
            if not is_justified(*grant[1:]) and not denied_to(without(statements, grant), own)
        ]

    assert idle == []


def test_after_an_operator_rewound_the_jobs_that_load_the_mart_is_the_same(
    told, monkeypatch
) -> None:
    """The last test here, since the pipeline runs once more."""
    from click.testing import CliRunner

    from tidemark.cli.main import main

    monkeypatch.setenv("TIDEMARK_HOME", str(told.folder("MartBucketName").parents[1]))
    runs = {run.job_name: run.run_id for run in told.runs[0][1].job_runs}
    for arguments in (
        ["watermark", "rewind", "ingest-flights", "--reason", "bad rates"],
        ["bookmark", "rewind", "ingest-weather"],
    ):
        command = [*arguments, "--run", runs[arguments[2]], "--yes"]
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output

    told.run("Run 4: what came after the first run, again")

    before, after = rows_of(told, 1), rows_of(told, 3)
    assert {job: after[job] for job in INGEST_JOBS} == {job: before[job] for job in INGEST_JOBS}
    written = {job: rows for job, (_, rows) in before.items()}
    assert {job: rows for job, (_, rows) in after.items()} == written
    told.prove()  # raw holds these rows twice now, the mart once
