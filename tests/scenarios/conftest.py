"""The story as each Glue tells it, once per test process."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import pytest

from tests.scenarios.aws_driver import AwsGlue
from tests.scenarios.local_driver import GlueState
from tests.scenarios.story import Observations, tell
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.local_state.home import Home


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory, jvms: Jvms) -> Observations:
    """Return what the local Glue shows, each run a process of its own on a JVM of the pool."""
    return tell(GlueState(Home.open(tmp_path_factory.mktemp("scenarios") / "home"), jvms))


@pytest.fixture(scope="session")
def aws() -> Iterator[Observations]:
    """Return what real Glue shows."""
    import boto3

    names = ("TIDEMARK_AWS_BUCKET", "TIDEMARK_AWS_ROLE")
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        pytest.fail(f"--aws needs {' and '.join(missing)} in the environment; see CONTRIBUTING.md")
    bucket, role = (os.environ[name] for name in names)
    name = f"tidemark-scenarios-{secrets.token_hex(4)}"
    driver = AwsGlue(boto3.client("glue"), boto3.client("s3"), bucket, role, name)
    try:
        yield tell(driver)
    finally:
        driver.close()
