"""Out of memory is called so in every form in which Spark, the kernel and Python report it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.glue_job.process.failures import (
    Failure,
    RemedyPlaces,
    cause_in_message,
    with_remedy,
    without_result,
)

PLACES = RemedyPlaces(Path("/home/lake"), "/venv/bin/python")
MEMORY = "spark.driver.memory"
HEAP_LOG = "WARN x\njava.lang.OutOfMemoryError: Java heap space\n\tat A.b\n"
# What the script meets when the JVM, or the Spark in it, has ended.
ENDS = [
    "org.apache.spark.SparkException: Job 0 cancelled because SparkContext was shut down",
    "SparkException: Job 12 cancelled because SparkContext was shut down ",
    "Py4JNetworkError: Answer from Java side is empty",
    "Py4JNetworkError: Error while sending or receiving",
    "Py4JError: An error occurred while calling o38.sc",
    "Py4JError: An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext",
    "ConnectionRefusedError: [Errno 111] Connection refused",
    "ConnectionResetError: [Errno 104] Connection reset by peer",
    "PySparkRuntimeError: [JAVA_GATEWAY_EXITED] Java gateway process exited before",
    "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",
    "java.lang.IllegalStateException: SparkContext has been shutdown",
    "IllegalStateException: Shutdown in progress",
]
# What the JVM writes, and a word of the remedy.
LOGS = [
    ("java.lang.OutOfMemoryError: Java heap space", MEMORY),
    ("java.lang.OutOfMemoryError: GC overhead limit exceeded", MEMORY),
    ("java.lang.OutOfMemoryError: unable to create native thread: possibly out of", "threads"),
    ("java.lang.OutOfMemoryError: unable to create new native thread", "ulimit"),
    ("java.lang.OutOfMemoryError: Metaspace", "MaxMetaspaceSize"),
    ("java.lang.OutOfMemoryError: Compressed class space", "--extra-jars"),
    ("java.lang.OutOfMemoryError: Direct buffer memory", "MaxDirectMemorySize"),
    ("java.lang.OutOfMemoryError: Cannot reserve 20 bytes of direct buffer memory (x)", MEMORY),
    ("java.lang.OutOfMemoryError: Requested array size exceeds VM limit", "repartition"),
    ("org.apache.spark.memory.SparkOutOfMemoryError: [UNABLE_TO_ACQUIRE_MEMORY] Unable", MEMORY),
    (
        "OpenJDK: There is insufficient memory for the Java Runtime Environment to continue.",
        "fewer",
    ),
    ("# Native memory allocation (mmap) failed to map 123 bytes", "fewer"),
    ("Could not reserve enough space for 4194304KB object heap", MEMORY),
]
# What comes to the script itself.
CAUSES = [
    ("java.lang.OutOfMemoryError: Java heap space", MEMORY),
    ("OutOfMemoryError: GC overhead limit exceeded", MEMORY),
    ("[STREAM_FAILED] Query [id = x] terminated with exception: Java heap space", MEMORY),
    ("SparkException: Total size of serialized results of 1 tasks (1.2 GiB) is bigger than "
     "spark.driver.maxResultSize (1024.0 MiB)", "maxResultSize=4g"),
    ("SparkException: Kryo serialization failed: Buffer overflow. Available: 0", "buffer.max=512m"),
    ("com.esotericsoftware.kryo.KryoException: Buffer overflow. Available: 0", "buffer.max=512m"),
    ("Cannot broadcast the table that is larger than 8.0 GiB", "leave out broadcast"),
    ("SparkException: Not enough memory to build and broadcast the table", "leave out broadcast"),
    ("[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes of memory, got 0.", MEMORY),
    ("SparkIllegalArgumentException: [INVALID_DRIVER_MEMORY] System memory 1 must be", "600m"),
    ("MemoryError", "in Python"),
    ("MemoryError: cannot allocate", "in Python"),
    ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7 TiB", "in Python"),
    ("pyarrow.lib.ArrowMemoryError: malloc of size 64 failed", "in Python"),
    ("OSError: [Errno 12] Cannot allocate memory", "in Python"),
    ("SparkException: Python worker exited unexpectedly (crashed)", "lack of memory"),
]  # fmt: skip

# What Py4J raises for an error of the JVM, which may have no room left for a stack.
PY4J_TEXTS = [
    "{call}\n: {error}\n",
    "{call}\n: {error}\n\tat java.base/java.util.Arrays.copyOf(Arrays.java:3537)\n",
    "{call}\n: org.apache.spark.SparkException: Exception thrown in awaitResult: \n"
    "\tat org.apache.spark.util.SparkThreadUtils$.awaitResult(S.scala:56)\nCaused by: {error}\n",
    "{call}\n: java.util.concurrent.ExecutionException: {error}\nCaused by: {error}\n",
]


@pytest.mark.parametrize("text", PY4J_TEXTS)
@pytest.mark.parametrize("method", ["collectToPython", "getResult", "showString"])
def test_an_error_of_the_jvm_is_named_with_and_without_its_stack(text, method):
    error = "java.lang.OutOfMemoryError: Java heap space"
    raised = text.format(call=f"An error occurred while calling o59.{method}.", error=error)

    line = with_remedy(
        Failure(cause_in_message("Py4JJavaError", raised), "h.py, line 3"), "", PLACES, None
    )

    assert line.startswith(f"{error} (h.py, line 3); ")
    assert f"--conf {MEMORY}=4g" in line
    assert "the default is 1g" in line


def test_a_call_of_which_the_jvm_could_tell_nothing_is_named_by_its_log():
    cause = cause_in_message("Py4JJavaError", "An error occurred while calling o59.collect.\n")

    assert MEMORY in with_remedy(Failure(cause, ""), HEAP_LOG, PLACES, None)


@pytest.mark.parametrize("cause", ENDS)
@pytest.mark.parametrize(("line", "remedy"), LOGS)
def test_of_a_jvm_that_ended_the_first_cause_is_named(cause, line, remedy):
    text = with_remedy(Failure(cause, "h.py, line 3"), f"INFO x\n{line}\n\tat A.b\n", PLACES, None)

    assert line.removeprefix("OpenJDK: ").removeprefix("# ") in text
    assert "(h.py, line 3)" in text
    assert remedy in text.partition("(h.py, line 3)")[2]
    assert "Errno 111" not in text
    assert "shut down" not in text


@pytest.mark.parametrize(("cause", "remedy"), CAUSES)
def test_what_comes_to_the_script_has_its_remedy(cause, remedy):
    text = with_remedy(Failure(cause, "h.py, line 3"), "", PLACES, None)

    assert text.startswith(f"{cause} (h.py, line 3); ")
    assert remedy in text.partition("(h.py, line 3)")[2]


def test_a_spark_that_the_script_has_stopped_is_not_out_of_memory():
    cause = "IllegalStateException: Cannot call methods on a stopped SparkContext."

    assert with_remedy(Failure(cause, ""), "", PLACES, None) == cause


def test_a_failure_of_the_script_keeps_its_cause_beside_a_caught_lack_of_memory():
    text = with_remedy(Failure("ValueError: bad row", ""), HEAP_LOG, PLACES, None)

    assert text == "ValueError: bad row"


@pytest.mark.parametrize("code", [-9, 137])
def test_a_killed_process_names_memory_as_what_happened_or_as_what_may_have(code):
    assert "out of memory: the kernel killed a process" in without_result(code, None, kills=1)
    assert "`dmesg`" in without_result(code, None, kills=0)


@pytest.mark.parametrize("code", [1, 7, -15])
def test_another_end_of_the_process_says_nothing_of_memory(code):
    assert "memory" not in without_result(code, None, kills=1)


def test_a_jvm_or_worker_that_the_kernel_has_killed_says_so():
    gone = Failure("Py4JError: An error occurred while calling o38.sc", "")
    worker = Failure("SparkException: Python worker exited unexpectedly (crashed)", "")

    for failure in (gone, worker):
        assert "the kernel killed a process" in with_remedy(failure, "", PLACES, None, kills=1)
