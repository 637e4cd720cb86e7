"""What every job run needs, also those whose Java is only a name."""

import pytest

from tidemark.glue_job.process.lake_fs.jar import lake_jar
from tidemark.local_state.machine.java import find_java_home


@pytest.fixture(scope="session", autouse=True)
def made_lake_jar() -> None:
    """Make the jar of the lake's file system, if it is not there yet."""
    lake_jar(find_java_home())
