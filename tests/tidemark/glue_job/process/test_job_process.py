"""One job process: what its script sees, with a script that imports no Spark."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_job.process.class_archive.archive import NO_CONF
from tidemark.glue_service.runs.job_run_process import (
    new_run_id,
    plan_job_run,
    poll_job_run,
    start_job_run,
    stop_job_run,
)
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import own_glue_version, own_spark
from tidemark.model.assembly.definitions import JobDefinition

PROBE = """
import importlib.util, json, os, sys
import from_a_file, from_a_zip

modules = ("app", "infra", "glue_jobs", "watermarks", "tests", "awsglue", "tidemark")
seen = {
    "argv": sys.argv,
    "name": __name__,
    "folder": os.getcwd(),
    "environment": dict(os.environ),
    "path": sys.path,
    "found": [name for name in modules if importlib.util.find_spec(name)],
    "libraries": [from_a_zip.VALUE, from_a_file.VALUE],
    "files": os.listdir(),
}
if os.path.exists("/proc/self/cmdline"):
    seen["shown"] = open("/proc/self/cmdline").read().split("\\0")
print(json.dumps(seen))
"""
CALLER = {
    "AWS_PROFILE": "production",
    "AWS_ACCESS_KEY_ID": "real-key",
    "AWS_SECRET_ACCESS_KEY": "real-secret",
    "AWS_SESSION_TOKEN": "real-token",
    "AWS_REGION": "us-west-1",
    "AWS_DEFAULT_REGION": "us-west-1",
    "AWS_CONFIG_FILE": "config",
    "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:1",
    "SPARK_HOME": "elsewhere",
    "PYSPARK_SUBMIT_ARGS": "--master yarn",
    "PYTHONPATH": str(Path(__file__).parents[4]),
    "PYTHONWARNINGS": "error",
    "TZ": "America/New_York",
    "PROJECT_SETTING": "kept",
}


def job(**changes):
    given = {
        "name": "probe",
        "script_location": "s3://scripts/probe.py",
        "glue_version": own_glue_version(),
        "default_arguments": {},
    }
    return JobDefinition(**{**given, **changes})


def put_script(home, text, name="probe.py"):
    path = home.lake / "scripts" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def machine_of(home):
    return Machine(home, Path("java"), "http://127.0.0.1:9", "eu-west-2")


def finish(running):
    return wait_until(lambda: poll_job_run(running))


def run_job(home, definition, run_id=None):
    """Run a job; its id is its own, for what is left of a run is killed by that, and others run."""
    machine = machine_of(home)
    run = plan_job_run(machine, definition, {}, run_id or new_run_id(), attempt=0)
    return finish(start_job_run(machine, definition, {}, run))


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "home")


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    """Run the probe once, with a caller who has much in the environment; return what it saw."""
    home = Home.open(tmp_path_factory.mktemp("probe") / "home")
    put_script(home, PROBE)
    put_script(home, "VALUE = 'file'", "from_a_file.py")
    with zipfile.ZipFile(home.lake / "scripts" / "libs.zip", "w") as archive:
        archive.writestr("from_a_zip.py", "VALUE = 'zip'")
    arguments = {
        "--extra-py-files": "s3://scripts/libs.zip,s3://scripts/from_a_file.py",
        "--source": "s3://landing/in/",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in CALLER.items():
            patch.setenv(name, value)
        run = run_job(home, job(default_arguments=arguments), "jr_" + "a" * 64)
    folder = home.runs / run.run_id
    assert run.state == "SUCCEEDED", (folder / "stderr.log").read_text(encoding="utf-8")
    return home, folder, json.loads((folder / "stdout.log").read_text(encoding="utf-8"))


def test_argv_is_as_on_aws(probe):
    _, folder, seen = probe

    assert seen["argv"] == [
        str(folder / "probe.py"),
        "--JOB_NAME",
        "probe",
        "--JOB_ID",
        "j_" + "a" * 64,
        "--JOB_RUN_ID",
        "jr_" + "a" * 64,
        "--extra-py-files",
        "s3://scripts/libs.zip,s3://scripts/from_a_file.py",
        "--source",
        "s3://landing/in/",
    ]


def test_other_users_of_the_machine_are_not_shown_the_arguments(probe):
    *_, seen = probe

    assert "s3://landing/in/" in seen["argv"]
    assert "s3://landing/in/" not in seen.get("shown", [])
    assert "arguments.json" not in seen["files"]


def test_script_runs_as_main_in_the_folder_of_its_run(probe):
    _, folder, seen = probe

    assert seen["name"] == "__main__"
    assert seen["folder"] == str(folder)


def test_python_path_holds_awsglue_and_the_extra_python_files_and_nothing_of_the_caller(probe):
    home, folder, seen = probe
    tidemark = Path(__file__).parents[4] / "tidemark"
    rooms = ("glue_job", "data_quality", "studio")

    assert seen["environment"]["PYTHONPATH"].split(":") == [
        *(str(tidemark / room / "site") for room in rooms),
        str(home.lake / "scripts" / "libs.zip"),
        str(folder / "modules"),
    ]
    assert seen["libraries"] == ["zip", "file"]


def test_project_packages_that_do_not_ship_cannot_be_imported(probe):
    assert probe[2]["found"] == ["awsglue", "tidemark"]


def test_identity_of_the_caller_never_reaches_the_job(probe):
    home, _, seen = probe
    environment = seen["environment"]

    assert "real" not in " ".join(environment.values())
    assert {name: environment[name] for name in environment if name.startswith("AWS_")} == {
        **access_key(home).variables,
        "AWS_REGION": "eu-west-2",
        "AWS_DEFAULT_REGION": "eu-west-2",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",  # nowhere: no port is served
        "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:9",
        "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:1",
    }


def test_spark_and_python_of_the_caller_never_reach_the_job(probe):
    home, folder, seen = probe
    environment = seen["environment"]

    assert "PYTHONWARNINGS" not in environment
    assert environment["SPARK_HOME"] == str(own_spark().home)
    conf = folder / "spark.conf"
    assert environment["PYSPARK_SUBMIT_ARGS"] == f"--properties-file {conf} pyspark-shell"
    assert environment["SPARK_CONF_DIR"] == str(NO_CONF)
    assert environment["JAVA_HOME"] == "java"
    assert environment["TZ"] == "UTC"
    assert environment["TIDEMARK_HOME"] == str(home.root)
    assert environment["PROJECT_SETTING"] == "kept"


def test_run_ids_are_made_as_glue_makes_them():
    assert len(new_run_id()) == 67
    assert new_run_id().startswith("jr_")
    assert new_run_id() != new_run_id()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("x = 1\nraise ValueError('bad row')", "ValueError: bad row (probe.py, line 2)"),
        ("def f():\n    1 / 0\n\nf()", "ZeroDivisionError: division by zero (probe.py, line 2)"),
        ("import json\njson.loads('{')", "(probe.py, line 2)"),
        ("import sys\n\nsys.exit(3)", "SystemExit: 3 (probe.py, line 3)"),
        ("import sys; sys.exit('no data')", "SystemExit: no data (probe.py, line 1)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (probe.py, line 1)"),
        ("x = (", "SyntaxError: '(' was never closed (probe.py, line 1)"),
        ("import os; os._exit(7)", "the job process ended with exit code 7"),
        ("import os; os.kill(os.getpid(), 15)", "the job process was killed by SIGTERM"),
    ],
    ids=[
        "raise",
        "within a function",
        "within a library",
        "sys.exit(3)",
        "sys.exit text",
        "interrupt",
        "syntax",
        "os._exit",
        "kill -9",
    ],
)
def test_failed_run_tells_the_exception_and_the_line_of_the_script(home, script, message):
    put_script(home, script)

    run = run_job(home, job())

    assert run.state == "FAILED"
    assert run.error_message.endswith(message)
    assert run.completed_at_ms >= run.started_at_ms


@pytest.mark.parametrize("script", ["", "import sys; sys.exit()", "import sys; sys.exit(0)"])
def test_script_that_ends_normally_succeeds(home, script):
    put_script(home, script)

    run = run_job(home, job())

    assert (run.state, run.error_message) == ("SUCCEEDED", None)
    assert (run.rows_read, run.rows_written) == (None, None)


@pytest.mark.spark
def test_run_whose_jvm_is_out_of_memory_says_so_and_names_the_setting(home):
    script = (
        "from pyspark.java_gateway import launch_gateway\n"
        "gateway = launch_gateway()\n"
        "gateway.new_array(gateway.jvm.long, 2_000_000_000)\n"
    )
    put_script(home, script)
    machine = replace(machine_of(home), java_home=find_java_home())
    run = plan_job_run(machine, job(), {}, new_run_id(), attempt=0)

    run = finish(start_job_run(machine, job(), {}, run))

    assert "java.lang.OutOfMemoryError: " in run.error_message
    assert "(probe.py, line 3)" in run.error_message
    assert "spark.driver.memory" in run.error_message
    assert "\n" not in run.error_message


@pytest.mark.nightly
@pytest.mark.spark
def test_run_whose_spark_ended_for_lack_of_memory_names_that_and_so_does_its_log(home):
    script = (
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.getOrCreate()\n"
        "spark.range(20_000_000).selectExpr('id', 'repeat(string(id), 50) s').toPandas()\n"
    )
    put_script(home, script)
    machine = replace(machine_of(home), java_home=find_java_home())
    arguments = {"--conf": "spark.driver.memory=500m"}
    run = plan_job_run(machine, job(), arguments, new_run_id(), attempt=0)

    run = finish(start_job_run(machine, job(), arguments, run))

    assert run.error_message.startswith("java.lang.OutOfMemoryError: ")
    assert "(probe.py, line 3)" in run.error_message
    assert "--conf spark.driver.memory" in run.error_message
    assert Path(run.log_path).read_text(encoding="utf-8").splitlines()[-1] == run.error_message


def test_a_killed_run_says_who_may_have_killed_it(home):
    put_script(home, "import os; os.kill(os.getpid(), 9)")

    message = run_job(home, job()).error_message

    assert message.startswith("the job process was killed by SIGKILL; ")
    assert "memory" in message


def test_missing_module_is_told_with_what_to_do(home):
    put_script(home, "import nowhere")

    message = run_job(home, job()).error_message

    assert message.startswith("ModuleNotFoundError: No module named 'nowhere' (probe.py, line 1); ")
    assert "--extra-py-files" in message


def test_job_knows_the_name_of_the_file_that_was_submitted(home):
    put_script(home, "import sys\nprint(sys.argv[0], __file__)\nraise ValueError('bad row')")

    run = run_job(home, job(submitted_file="/somewhere/h.py"))

    folder = Path(run.log_path).parent
    assert run.error_message == "ValueError: bad row (h.py, line 3)"
    log = Path(run.log_path).read_text(encoding="utf-8")
    assert 'File "/somewhere/h.py", line 3, in <module>\n    raise ValueError' in log
    copy = str(folder / "probe.py")
    assert (folder / "stdout.log").read_text(encoding="utf-8") == f"{copy} {copy}\n"


def test_traceback_in_the_log_begins_at_the_script(home):
    put_script(home, "raise ValueError('bad row')")

    run = run_job(home, job())

    log = Path(run.log_path).read_text(encoding="utf-8")
    assert log.splitlines()[1].endswith('probe.py", line 1, in <module>')
    assert "runpy" not in log


@pytest.mark.parametrize(
    ("definition", "error", "text"),
    [
        (
            job(script_location="s3://scripts/gone.py"),
            TidemarkError,
            "job probe names s3://scripts/gone.py, but there is no such file at .*gone.py",
        ),
        (
            job(default_arguments={"--extra-py-files": "s3://scripts/gone.zip"}),
            TidemarkError,
            "job probe names s3://scripts/gone.zip, but there is no such file",
        ),
        (job(script_location="probe.py"), UsageError, "'probe.py' is not a place in S3"),
        (job(default_arguments={"--conf": "x"}), UsageError, "--conf is 'x'"),
    ],
    ids=["script", "library", "no URI", "malformed --conf"],
)
def test_job_that_cannot_be_started_says_why(home, definition, error, text):
    put_script(home, "")
    machine = machine_of(home)

    with pytest.raises(error, match=text):
        start_job_run(
            machine, definition, {}, plan_job_run(machine, definition, {}, new_run_id(), attempt=0)
        )


@pytest.mark.nightly  # it waits for three seconds
def test_run_past_its_timeout_is_ended(home):
    put_script(home, "import time\ndef wait():\n    time.sleep(60)\nwait()\n")

    run = run_job(home, job(timeout_minutes=1 / 20))

    assert run.state == "TIMEOUT"
    assert run.error_message.startswith("Job run timed out after 0.05 minutes (probe.py, line 3); ")
    assert "timeout_minutes" in run.error_message
    log = Path(run.log_path).read_text(encoding="utf-8")
    assert log.endswith(f"\n{run.error_message}\n")


def test_run_past_its_timeout_before_its_script_has_begun_is_ended_too(home):
    put_script(home, "import time; time.sleep(60)")

    run = run_job(home, job(timeout_minutes=0))

    assert run.state == "TIMEOUT"
    assert run.error_message.startswith("Job run timed out after 0 minutes")


def test_stopped_run_is_ended(home):
    put_script(home, "import time; time.sleep(60)")
    machine = machine_of(home)
    run = plan_job_run(machine, job(), {}, new_run_id(), attempt=0)

    stopped = stop_job_run(start_job_run(machine, job(), {}, run))

    assert (stopped.state, stopped.error_message) == ("STOPPED", "Job run stopped")
    assert stopped.completed_at_ms is not None


def test_spark_properties_of_the_job_come_last_in_the_configuration(home):
    put_script(home, "")

    run = run_job(home, job(default_arguments={"--conf": "spark.ui.enabled=true"}))

    conf = home.runs / run.run_id / "spark.conf"
    lines = conf.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("spark.ui.enabled=")] == [
        "spark.ui.enabled=true"
    ]
    assert f"spark.hadoop.tidemark.lake={home.lake}" in lines
