"""What every job run needs, also those whose Java is only a name."""

import pytest

from local_glue.java import find_java_home
from local_glue.lake_fs.jar import lake_jar


@pytest.fixture(scope="session", autouse=True)
def made_lake_jar() -> None:
    """Make the jar of the lake's file system, if it is not there yet."""
    lake_jar(find_java_home())
