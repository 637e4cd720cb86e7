"""PySpark with Hadoop's S3A, unmodified, against the port's S3."""

from __future__ import annotations

import json
import sys

import pytest

from tests.clients.conftest import PROGRAMS, VENVS

pytestmark = pytest.mark.clients
JARS = VENVS / "s3a"


def program(client, *words, code=0, **variables):
    return client(
        "s3a",
        sys.executable,
        str(PROGRAMS / "spark_s3a.py"),
        *words,
        str(JARS),
        code=code,
        **variables,
    )


def test_spark_writes_reads_renames_and_deletes_by_s3a(client, port):
    port.home.create_bucket("s3a-files")

    found = json.loads(program(client, "s3a-files").stdout.splitlines()[-1])

    assert found == {
        "parquet": 666,
        "json": 1000,
        "csv": 10,
        "none": "PATH_NOT_FOUND",
        "class": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "big": 12 * 1024**2,
        "fourth": "4",
        "folder": True,
        "moved": 1000,
        "listed": ["a b", "big", "empty", "moved", "one file+x.txt"],
    }
    assert (port.home.lake / "s3a-files" / "big").stat().st_size == 12 * 1024**2


def test_another_key_is_refused(client, port):
    port.home.create_bucket("s3a-refused")

    done = program(client, "s3a-refused", code=1, AWS_SECRET_ACCESS_KEY="another")  # noqa: S106

    assert "403" in done.stderr  # S3A asks by HEAD, whose answer has no text
    assert list((port.home.lake / "s3a-refused").iterdir()) == []
