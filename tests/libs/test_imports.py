"""The library works from the zip that Glue puts on the path, and imports nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

LIBS = Path(__file__).parents[2] / "libs"
SITE = Path(pytest.__file__).parents[1]
PROBE = """
import json, sys
before = set(sys.modules)
import watermarks
new = set(sys.modules) - before
imported = sorted({name.partition(".")[0] for name in new if not name.startswith("_")})
client = watermarks.Watermarks("glue-watermarks")
print(json.dumps([watermarks.__file__, imported, "boto3" in sys.modules, "pyspark" in sys.modules]))
"""
ALLOWED = set(sys.stdlib_module_names) | {"watermarks", "botocore"}


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "libs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for source in sorted(LIBS.rglob("*.py")):
            archive.write(source, source.relative_to(LIBS))
    return path


def test_library_works_from_a_zip_and_imports_only_botocore(library):
    environment = {"PYTHONPATH": f"{library}:{SITE}", "AWS_DEFAULT_REGION": "eu-west-2"}
    command = [sys.executable, "-W", "error", "-c", PROBE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    file, imported, has_boto3, has_pyspark = json.loads(done.stdout)

    assert file.startswith(str(library))
    assert set(imported) <= ALLOWED
    assert has_boto3  # only once a client was needed
    assert not has_pyspark


def test_every_directory_of_the_library_is_a_package():
    folders = {source.parent for source in LIBS.glob("*/**/*.py")}

    assert folders
    assert all((folder / "__init__.py").exists() for folder in folders)


def test_everything_public_is_documented():
    import watermarks

    assert all(getattr(watermarks, name).__doc__ for name in watermarks.__all__)
