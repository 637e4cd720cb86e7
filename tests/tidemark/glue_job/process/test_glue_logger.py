"""A script's logger: log4j's words, and Python's logging left alone."""

from __future__ import annotations

import subprocess
import sys

from tests.waiting import BOUND_S

SCRIPT = """
import logging, warnings
warnings.simplefilter("error")
from tidemark.glue_job.process.jvm_objects import glue_logger
logger = glue_logger()
assert logger is glue_logger()
logger.info("read %d%%", 5)
logger.info("100 %")
logger.warn("slow")
logger.error("broken")
logging.basicConfig(format="own %(message)s")
logging.info("not said")
logging.warning("said")
"""


def test_the_logger_writes_to_stderr_and_leaves_python_s_logging():
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=BOUND_S
    )

    *logged, own = run.stderr.splitlines()
    assert [line.split(" ", 2)[2] for line in logged] == [
        "INFO GlueLogger: read 5%",
        "INFO GlueLogger: 100 %",
        "WARNING GlueLogger: slow",
        "ERROR GlueLogger: broken",
    ]
    assert (own, run.stdout) == ("own said", "")
