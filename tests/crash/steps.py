"""Counts the steps of a job process by name, logs them, and dies by SIGKILL at the one in CRASH_AT.

Every step reached, such as ``before UpdateItem #1``, is a line of the file CRASH_LOG.
"""

import os
import signal
import threading
from collections import Counter

seen = Counter()
lock = threading.Lock()


def step(name):
    """Log a step, and die if it is the one."""
    with lock:
        seen[name] += 1
        label = f"{name} #{seen[name]}"
        with open(os.environ["CRASH_LOG"], "a", encoding="utf-8") as log:  # noqa: PTH123
            log.write(f"{label}\n")
            log.flush()
        if label == os.environ["CRASH_AT"]:
            os.kill(os.getpid(), signal.SIGKILL)


def around(owner, attribute, name):
    """Make a step of the beginning and of the end of a function."""
    original = getattr(owner, attribute)

    def wrapped(*args, **kwargs):
        step(f"before {name}")
        result = original(*args, **kwargs)
        step(f"after {name}")
        return result

    setattr(owner, attribute, wrapped)
