"""The one line about a failed job, made of the texts that Python, Py4J and Spark really give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.glue_job.process.failures import (
    MAX_LENGTH,
    Failure,
    RemedyPlaces,
    cause_in_message,
    failure_of,
    first_cause,
    timed_out,
    with_remedy,
)

OF_ICEBERG = "s3://b/t/metadata/snap-64846992-1-c4bb3164"
RESTORE = "`tidemark home restore FILE`"
DATALAKE = "--datalake-formats"
PLACES = RemedyPlaces(Path("/home/lake"), "/venv/bin/python")
NO_DRIVER = """An error occurred while calling o45.load.
: java.lang.ClassNotFoundException: org.postgresql.Driver
\tat java.base/java.net.URLClassLoader.findClass(URLClassLoader.java:445)
\tat org.apache.spark.sql.execution.datasources.jdbc.DriverRegistry$.register(Driver.scala:46)
"""
NESTED = """An error occurred while calling o97.parquet.
: org.apache.spark.SparkException: Job aborted.
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.jobAbortedError(Q.scala:638)
Caused by: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows.
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.taskFailedWhileWritingRowsError(Q.scala:774)
Caused by: java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
\t... 15 more
Caused by: java.lang.reflect.InvocationTargetException
\t... 16 more
"""
LOST_TASK = """An error occurred while calling o55.count.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 \
times, most recent failure: Lost task 0.0 in stage 0.0 (TID 0) (127.0.0.1 executor driver): \
java.lang.ArithmeticException: / by zero
\tat Foo.bar(Foo.java:1)

Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2856)
"""
PYTHON_WORKER = """An error occurred while calling o60.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 \
times, most recent failure: Lost task 0.0 in stage 1.0 (TID 1) (127.0.0.1 executor driver): \
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/spark/worker.py", line 1247, in main
    process()
  File "/jobs/h.py", line 5, in f
    raise ValueError("bad row")
ValueError: bad row

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(P.scala:572)
Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.x(DAGScheduler.scala:2856)
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/spark/worker.py", line 1247, in main
    process()
  File "/jobs/h.py", line 5, in f
    raise ValueError("bad row")
ValueError: bad row

\t... 1 more
"""
ANALYSIS = """[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `x` cannot be resolved.;
'Project ['x]
+- Range (0, 3, step=1, splits=Some(2))
"""
PARSE = """
[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'.(line 1, pos 0)

== SQL ==
x y z
^^^
"""


@pytest.mark.parametrize(
    ("name", "text", "cause"),
    [
        (
            "Py4JJavaError",
            NO_DRIVER,
            "java.lang.ClassNotFoundException: org.postgresql.Driver",
        ),
        ("Py4JJavaError", NESTED, "java.io.IOException: No space left on device"),
        ("Py4JJavaError", LOST_TASK, "java.lang.ArithmeticException: / by zero"),
        ("Py4JJavaError", PYTHON_WORKER, "ValueError: bad row"),
        (
            "AnalysisException",
            ANALYSIS,
            "AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `x` cannot "
            "be resolved.",
        ),
        (
            "ParseException",
            PARSE,
            "ParseException: [PARSE_SYNTAX_ERROR] Syntax error at or near 'x'.(line 1, pos 0)",
        ),
        ("ValueError", "first line\nsecond line", "ValueError: first line"),
        ("KeyboardInterrupt", "", "KeyboardInterrupt"),
    ],
    ids=[
        "no driver",
        "nested",
        "lost task",
        "Python worker",
        "analysis",
        "parse",
        "lines",
        "no text",
    ],
)
def test_cause_is_the_innermost_error_that_says_something(name, text, cause):
    assert cause_in_message(name, text) == cause


def test_cause_is_one_line_of_bounded_length():
    cause = cause_in_message("ValueError", "x" * 10_000)

    assert len(cause) == MAX_LENGTH
    assert "\n" not in cause


def test_error_that_was_raised_from_another_names_both():
    try:
        try:
            {}["day"]
        except KeyError as error:
            raise ValueError("no day in the row") from error
    except ValueError as error:
        failure = failure_of(error, __file__)

    assert failure.cause == "ValueError: no day in the row; caused by KeyError: 'day'"
    assert failure.where.startswith("test_failures.py, line ")


def test_error_whose_text_cannot_be_had_is_still_one_line():
    class Broken(Exception):  # noqa: N818
        def __str__(self) -> str:
            raise ConnectionError("the JVM is gone")

    assert failure_of(Broken(), __file__).cause == "Broken: Error while receiving its text"


def test_errors_that_cause_each_other_in_a_ring_are_one_line():
    first, second = ValueError("first"), KeyError("second")
    first.__cause__ = first
    assert failure_of(first, __file__).cause == "ValueError: first"

    first.__cause__, second.__cause__ = second, first
    assert failure_of(first, __file__).cause == "ValueError: first; caused by KeyError: 'second'"


def test_group_of_errors_names_the_first_one():
    error = ExceptionGroup("two", [ExceptionGroup("inner", [ValueError("x")]), KeyError("y")])

    assert failure_of(error, __file__).cause.endswith("(1 sub-exception): ValueError: x")


def test_characters_that_a_terminal_or_a_database_would_not_take_are_escaped():
    error = ValueError("a\x1b[2J \ud800\udcff\x00 é 漢 😀\tb")

    cause = failure_of(error, "/jobs/\udcff.py").cause

    assert cause == "ValueError: a\\x1b[2J \\ud800\\udcff\\x00 é 漢 😀 b"


def test_line_is_the_one_that_made_the_column_which_cannot_be_computed():
    error = RuntimeError("the write failed")
    error.__cause__ = ValueError(
        "Caused by: x.SparkDateTimeException: [CAST_INVALID_INPUT] The value\n== DataFrame ==\n"
        '"cast" was called from\n/jobs/h.py:63\n\n\tat org.apache.spark'
    )

    assert failure_of(error, "/jobs/h.py").where == "h.py, line 63"
    assert failure_of(error, "/jobs/other.py").where == ""


def test_line_of_a_function_that_ran_in_a_worker_of_spark_is_found():
    failure = failure_of(RuntimeError(PYTHON_WORKER), "/jobs/h.py")

    assert str(failure) == "ValueError: bad row (h.py, line 5)"


@pytest.mark.parametrize(
    ("cause", "log", "parts"),
    [
        ("java.lang.ClassNotFoundException: org.postgresql.Driver", "", ["--extra-jars"]),
        ("java.sql.SQLException: No suitable driver", "", ["--extra-jars"]),
        ("ClassNotFoundException: org.apache.iceberg.spark.SparkCatalog", "", [DATALAKE]),
        ("java.lang.ClassNotFoundException: delta.DefaultSource", "", [DATALAKE]),
        ("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: hudi.", "", [DATALAKE]),
        (
            "Py4JNetworkError: Answer from Java side is empty",
            "x\njava.lang.OutOfMemoryError: Java heap space\n\tat A.b\n",
            ["java.lang.OutOfMemoryError: Java heap space (h.py", "spark.driver.memory"],
        ),
        (
            "Py4JError: An error occurred while calling None.None",
            "Exception in thread x java.lang.OutOfMemoryError: Java heap space\n",
            ["java.lang.OutOfMemoryError: Java heap space (h.py", "spark.driver.memory"],
        ),
        (
            "Py4JNetworkError: Error while sending or receiving",
            "",
            ["the job's JVM is gone", "hs_err_pid", "the container's limit", "larger worker type"],
        ),
        ("ConnectionResetError: [Errno 104] x", "", ["the job's JVM is gone"]),
        ("E: no rows; caused by ConnectionRefusedError: x", "", ["the job's JVM is gone"]),
        ("java.lang.OutOfMemoryError: GC overhead", "", ["out of memory", "spark.driver.memory"]),
        (
            "GlueArgumentError: the following arguments are required: --day",
            "",
            ["declare what is missing in `arguments=`", "tidemark submit"],
        ),
        ("ModuleNotFoundError: No module named 'delta'", "", ["--datalake-formats"]),
        ("ModuleNotFoundError: No module named 'x'", "", ["-m pip ", "--extra-py-files"]),
        ("ModuleNotFoundError: No module named 'awsglue.blueprint'", "", ["is not a job"]),
        ("ParseException: [PARSE_SYNTAX_ERROR] at 'MATERIALIZED'", "", ["INSERT OVERWRITE"]),
        ("ParseException: [PARSE_SYNTAX_ERROR] near 'CALL'.", "", ["spark.sql.extensions"]),
        ("AnalysisException: [PATH_NOT_FOUND] Path does not exist: s3://b/k", "", ["/home/lake"]),
        (
            "AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column `a` is not there.",
            "",
            ["tidemark explain JOB", "contract", "(TM145)"],
        ),
        ("ClientError: An error occurred (AccessDenied) when", "", ["the job's role"]),
        ("EndpointConnectionError: Could not connect", "", ["AWS_ENDPOINT_URL_<SERVICE>"]),
        (f"x.RuntimeIOException: Failed to open file: {OF_ICEBERG}-m0.avro", "", [RESTORE]),
        (f"FileNotFoundException: No such file or directory: {OF_ICEBERG}-m0.avro", "", [RESTORE]),
        (
            "java.io.FileNotFoundException: No such file or directory: s3://b/t/data/"
            "00000-0-606415c5-0f6c-4b50-b077-92084a1bff07-0-00001.parquet",
            "",
            [RESTORE],
        ),
        ("x: No such file or directory: s3://b/t/part-0.parquet", "", ["write to another path"]),
    ],
)
def test_known_causes_come_with_what_to_do(cause, log, parts):
    line = with_remedy(Failure(cause, "h.py, line 3"), log, PLACES, None)

    assert "(h.py, line 3)" in line
    assert "\n" not in line
    for part in parts:
        assert part in line


@pytest.mark.parametrize(
    ("cause", "glue_version", "requirement"),
    [
        ("ModuleNotFoundError: No module named 'seaborn'", "5.1", "seaborn==0.13.2"),
        ("ModuleNotFoundError: No module named 'yaml'", "6.0", "PyYAML==6.0.3"),
        ("ImportError: PyArrow >= 4.0.0 must be installed; however, it", "5.0", "pyarrow==17.0.0"),
        (
            "PySparkImportError: [PACKAGE_NOT_INSTALLED] Pandas >= 2.2.0 must be installed",
            "6.0",
            "pandas==2.3.3",
        ),
    ],
)
def test_a_library_that_aws_has_installed_is_not_asked_for_there(cause, glue_version, requirement):
    line = with_remedy(Failure(cause, ""), "", replace(PLACES, glue_version=glue_version), None)

    assert f"--python /venv/bin/python install {requirement}`" in line
    assert "--additional-python-modules" not in line


@pytest.mark.parametrize("glue_version", ["5.1", ""], ids=["not of 5.1", "a shell job"])
def test_a_library_that_aws_lacks_is_to_be_named_there(glue_version):
    failure = Failure("ModuleNotFoundError: No module named 'yaml'", "")

    line = with_remedy(failure, "", replace(PLACES, glue_version=glue_version), None)

    assert "--additional-python-modules" in line


def test_other_causes_come_alone():
    failure = Failure("ValueError: bad row", "h.py, line 3")
    # The script caught what the log tells of.
    log = "java.lang.OutOfMemoryError: Java heap space"

    assert with_remedy(failure, log, PLACES, None) == "ValueError: bad row (h.py, line 3)"


def test_full_disk_is_named_where_a_job_met_it():
    failure = Failure("OSError: [Errno 28] No space left on device", "h.py, line 3")

    line = with_remedy(failure, "", PLACES, "the disk of /home is full: 0 bytes of 1 MB are free")

    assert line.endswith(
        "the disk of /home is full: 0 bytes of 1 MB are free: make room, then run again (TM141)"
    )


@pytest.mark.parametrize(
    "cause",
    [
        "URLError: <urlopen error [Errno 111] x>; caused by ConnectionRefusedError: x",
        "MaxRetryError: HTTPConnectionPool(host='h', port=1); caused by ConnectionRefusedError: x",
        "OperationalError: Can't connect to 'h'; caused by ConnectionRefusedError: x",
        "ConnectionError: Error 111. Connection refused.; caused by ConnectionRefusedError: x",
    ],
)
def test_a_server_that_refuses_is_no_jvm_that_is_gone(cause):
    assert first_cause(Failure(cause, "h.py, line 1"), "").cause == cause


STACK = (
    "WARN x\nCurrent thread 0x00007f (most recent call first):\n"
    '  File "/lib/python3.11/socket.py", line 718 in readinto\n'
    '  File "/etl/load.py", line 12 in wait\n  File "/etl/load.py", line 40 in <module>\n'
)


@pytest.mark.parametrize(
    ("minutes", "log", "begin"),
    [
        (60, STACK, "Job run timed out after 60 minutes (load.py, line 12); "),
        (1, "", "Job run timed out after 1 minute; "),
        (1, 'File "/etl/load.py", line 3', "Job run timed out after 1 minute; "),
    ],
    ids=["in the script", "before it", "another line of the log"],
)
def test_a_run_that_took_too_long_names_limit_place_and_cure(minutes, log, begin):
    line = timed_out(minutes, "/etl/load.py", log)

    assert line.startswith(begin)
    assert "timeout_minutes" in line
