"""What every job run needs, also those whose Java is only a name."""

import pytest

from tidemark.local_glue.machine.java import find_java_home
from tidemark.local_glue.runs.lake_fs.jar import lake_jar


@pytest.fixture(scope="session", autouse=True)
def made_lake_jar() -> None:
    """Make the jar of the lake's file system, if it is not there yet."""
    lake_jar(find_java_home())
