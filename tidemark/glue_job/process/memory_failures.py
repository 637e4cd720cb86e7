"""Recognizes that a job ran out of memory, in every form in which Spark and Python report it."""

import re
from pathlib import Path

VMSTAT = Path("/proc/vmstat")
# The JVM writes these when Python only learns that the JVM or its SparkContext is gone.
IN_LOG = re.compile(
    r"(?:java\.lang\.OutOfMemoryError|org\.apache\.spark\.memory\.SparkOutOfMemoryError)[^\n]*"
    r"|There is insufficient memory for the Java Runtime Environment to continue[^\n]*"
    r"|Native memory allocation \([a-z]+\) failed[^\n]*"
    r"|Could not reserve enough space for[^\n]*"
)
MORE_MEMORY = (
    "give the JVM more memory: --conf spark.driver.memory=4g in the default arguments of the job, "
    "or after `tidemark submit` (the default is 1g), with --executors spark.executor.memory=2g "
    "(512m); on AWS a larger worker type"
)
HEAP = (
    f"out of memory: {MORE_MEMORY}. Or keep less in the driver: write a frame instead of "
    "collect() or toPandas(), and broadcast() small tables only"
)
KILLED = (
    "the kernel killed a process for lack of memory: run fewer jobs at once, or use "
    "a machine with more memory; on AWS a larger worker type"
)
PYTHON = (
    "out of memory: the script keeps more in Python than this machine has: let Spark do the work, "
    "or take the data part by part; on AWS a larger worker type"
)
# In this order: the special form before the general one.
REMEDIES = {
    r"OutOfMemoryError.*unable to create (new )?native thread": (
        "out of threads: the machine gives this process no more of them (`ulimit -u`, or the limit "
        "of its container); start fewer threads in the script, or run fewer jobs at once"
    ),
    r"OutOfMemoryError.*(Metaspace|Compressed class space)": (
        "out of memory for classes: leave out jars of --extra-jars that the job does not need, or "
        "raise a -XX:MaxMetaspaceSize that its spark.driver.extraJavaOptions have"
    ),
    r"OutOfMemoryError.*(Direct buffer memory|direct buffer)|OutOfDirectMemoryError": (
        "out of direct memory: the JVM takes at most as much as its heap, or as "
        "-XX:MaxDirectMemorySize in spark.driver.extraJavaOptions allows: raise that option, or "
        f"{MORE_MEMORY}"
    ),
    r"OutOfMemoryError.*(Requested array size|Required array|exceeds VM limit|UTF16 String size)": (
        "one value, row or partition is larger than 2 GB, and more memory does not help: split it, "
        "such as with repartition() or smaller groups"
    ),
    r"\bMap failed|OutOfMemoryError.*Swap space": f"out of memory of the machine: {KILLED}",
    r"maxResultSize": (
        "the result is larger than the driver takes: write the frame instead of collect() or "
        "toPandas(), or raise the limit: --conf spark.driver.maxResultSize=4g"
    ),
    r"[Kk]ryo.*Buffer overflow|Buffer overflow\. Available": (
        "one row or broadcast value is larger than the buffer that serializes it: --conf "
        "spark.kryoserializer.buffer.max=512m, at most 2047m"
    ),
    r"Cannot broadcast the table|Not enough memory to build and broadcast": (
        f"the broadcast table is too large: leave out broadcast(), and give --conf "
        f"spark.sql.autoBroadcastJoinThreshold=-1; or {MORE_MEMORY}"
    ),
    r"ExecutorLostFailure": (
        "executors were lost, mostly for lack of memory: --conf spark.executor.memory=2g gives "
        "each more (the default of --executors is 512m), on AWS a larger worker type; their logs "
        "are below `cluster` in the folder of the run"
    ),
    r"INVALID_EXECUTOR_MEMORY": (
        "give spark.executor.memory in --conf at least 450m, or leave it out: the default is 512m"
    ),
    r"INVALID_DRIVER_MEMORY": (
        "give spark.driver.memory in --conf at least 600m, or leave it out: the default is 1g"
    ),
    r"Initial heap size set to a larger value|Invalid maximum heap size|Could not reserve enough": (
        "the JVM cannot get the memory that spark.driver.memory asks for: ask for less than this "
        "machine has free"
    ),
    r"insufficient memory for the Java Runtime|Native memory allocation": (
        f"out of memory of the machine: {KILLED}"
    ),
    r"OutOfMemoryError|terminated with exception: (Java heap space|GC overhead limit)"
    r"|UNABLE_TO_ACQUIRE_MEMORY|Unable to acquire \d+ bytes of memory"
    r"|Cannot allocate a page with more than": HEAP,
    r"Python worker (exited|crashed|failed).*|^EOFError$": (
        "a process that ran Python functions for Spark died: mostly for lack of memory, else in "
        "native code. Keep less in the functions at once, such as with smaller partitions, or "
        "--conf spark.sql.execution.arrow.maxRecordsPerBatch=1000 for pandas functions"
    ),
    r"^(\w+\.)*_?(Array|Arrow)?MemoryError\b|Errno 12\b|Cannot allocate memory": PYTHON,
}


def memory_line(log: str) -> str | None:
    """Return the first line of a JVM's log that reports a lack of memory; None without."""
    match = IN_LOG.search(log)
    return match.group(0).strip() if match else None


def memory_remedy(cause: str) -> str:
    """Return the remedy for a cause that is a lack of memory; empty for another cause."""
    return next((text for form, text in REMEDIES.items() if re.search(form, cause)), "")


def oom_kills() -> int:
    """Return how many processes this machine has killed for lack of memory; 0 if unknown."""
    try:
        lines = VMSTAT.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):  # such as on macOS
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def gone_remedy(kills: int) -> str:
    """Return the remedy for a JVM that has ended without a word."""
    if kills > 0:
        return killed_remedy(kills)
    return (
        "it crashed, and then hs_err_pid*.log in the folder of the run says why, or it was killed: "
        "containers kill processes when they run out of memory, and the container's limit and "
        "`dmesg` of its host show it; give the container more, or on AWS take a larger worker type"
    )


def killed_remedy(kills: int) -> str:
    """Return the remedy for a process that was killed by SIGKILL."""
    if kills > 0:
        return f"out of memory: {KILLED}"
    return (
        "somebody or something outside the run killed it; containers kill processes this way "
        "when they run out of memory: the container's limit, and `dmesg` of its host, show it"
    )
