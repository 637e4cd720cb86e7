"""Disks of their own, which fill up without harm."""

import shutil
import subprocess


def can_mount() -> bool:
    """Return whether a test may mount a small disk; root in a container often may not."""
    test = ["unshare", "--mount", "true"]
    is_there = shutil.which("unshare") is not None
    return is_there and subprocess.run(test, capture_output=True).returncode == 0
