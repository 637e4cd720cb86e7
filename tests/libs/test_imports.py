"""The library works from the zip that Glue puts on the path, and imports nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.sampled import at_night
from tidemark.local_state.sparks.make import find_python

LIBS = Path(__file__).parents[2] / "libs"
SITE = Path(pytest.__file__).parents[1]
REGION = "eu-west-2"
PROBE = """
import json, sys
before = set(sys.modules)
import watermarks
new = set(sys.modules) - before
imported = sorted({name.partition(".")[0] for name in new if not name.startswith("_")})
client = watermarks.Watermarks("glue-watermarks")
print(json.dumps([watermarks.__file__, imported, "boto3" in sys.modules, "pyspark" in sys.modules]))
"""
RUN = """
import sys
from datetime import UTC, datetime
import boto3
from watermarks import Watermarks

endpoint, region, table, job = sys.argv[1:]
client = boto3.Session("test", "test", region_name=region).client("dynamodb", endpoint_url=endpoint)
high = datetime(2013, 1, 1, tzinfo=UTC)
for window in Watermarks(table, client).windows(job, run_id="jr_1", cursor="at", high=high):
    assert window.high == high
client.close()
"""
ALLOWED = set(sys.stdlib_module_names) | {"watermarks", "botocore"}


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "libs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for source in sorted(LIBS.rglob("*.py")):
            archive.write(source, source.relative_to(LIBS))
    return path


@pytest.fixture(params=["python3.11", *at_night("python3.13")], ids=["Glue 5.1", "Glue 6.0"])
def python(request):
    """Return an interpreter of the version that Glue has."""
    if request.param == f"python{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    major, minor = map(int, request.param.removeprefix("python").split("."))
    found = find_python((major, minor), shutil.which("uv") or "uv")
    if found == Path(sys.executable):
        pytest.skip(f"there is no {request.param} on this machine")
    return str(found)


def test_library_works_from_a_zip_and_imports_only_botocore(library, python):
    environment = {**os.environ, "PYTHONPATH": f"{library}:{SITE}", "AWS_DEFAULT_REGION": REGION}
    command = [python, "-W", "error", "-c", PROBE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    file, imported, has_boto3, has_pyspark = json.loads(done.stdout)

    assert file.startswith(str(library))
    assert set(imported) <= ALLOWED
    assert has_boto3  # only once a client was needed
    assert not has_pyspark


def test_window_is_opened_and_committed_on_every_python_of_glue(
    library, python, endpoint_url, table_name, watermarks, job
):
    environment = {**os.environ, "PYTHONPATH": f"{library}:{SITE}"}
    command = [python, "-W", "error", "-c", RUN, endpoint_url, REGION, table_name, job]

    subprocess.run(command, env=environment, check=True)

    assert watermarks.latest(job).watermarks == {"at": datetime(2013, 1, 1, tzinfo=UTC)}


def test_every_directory_of_the_library_is_a_package():
    folders = {source.parent for source in LIBS.glob("*/**/*.py")}

    assert folders
    assert all((folder / "__init__.py").exists() for folder in folders)


def test_everything_public_is_documented():
    import watermarks

    assert all(getattr(watermarks, name).__doc__ for name in watermarks.__all__)
