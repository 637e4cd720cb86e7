"""What is changed of PySpark: that it stops soon."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import statistics, sys, time
from tidemark.glue_job.process.after_import import ACCUMULATORS, AfterImport, stop_accumulators_soon

if sys.argv[1] == "changed":
    sys.meta_path.insert(0, AfterImport(ACCUMULATORS, stop_accumulators_soon))
import pyspark
from pyspark.accumulators import _start_update_server

seconds = []
for _ in range(5):
    # Since Spark 4, the second one is whether it is a socket of Unix.
    given = ["token", False][: 1 if pyspark.__version__.startswith("3.") else 2]
    server = _start_update_server(*given)
    time.sleep(0.01)
    begin = time.monotonic()
    server.shutdown()
    seconds.append(time.monotonic() - begin)
print(statistics.median(seconds))
"""


def seconds_of(how):
    command = [sys.executable, "-c", SCRIPT, how]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_the_server_of_accumulators_is_shut_down_in_a_fraction_of_the_time():
    assert seconds_of("changed") < seconds_of("as it comes") / 2
