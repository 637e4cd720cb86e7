"""A local Glue on a free port, and boto3 clients that talk to it as to AWS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.tidemark.glue_job.conftest import made_lake_jar as made_lake_jar
from tests.tidemark.glue_service.aws_port import AwsPort, aws_port
from tests.tidemark.glue_service.job_run_calls import JobRunCalls
from tests.waiting import wait_until
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home


class Port(JobRunCalls):
    """A served home: clients, and short ways to define and to wait."""

    def __init__(self, home: Home, url: str, engine: Engine) -> None:
        self.home = home
        self.url = url
        self.engine = engine
        self.glue: Any = self.client("glue")
        self.logs: Any = self.client("logs")

    def client(self, service: str, **config: Any) -> Any:
        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name="us-east-1",
            **access_key(self.home).arguments,
            config=Config(retries={"total_max_attempts": 1}, **config),
        )

    def script(self, name: str, text: str) -> str:
        folder = self.home.lake / "scripts"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        return f"s3://scripts/{name}.py"

    def job(self, name: str, text: str = "", **members: Any) -> str:
        """Define a Python shell job, which needs no JVM."""
        command = {
            "Name": "pythonshell",
            "PythonVersion": "3.9",
            "ScriptLocation": self.script(name.replace("/", "-")[:100], text),
        }
        self.glue.create_job(Name=name, Role="anyone", Command=command, **members)
        return name

    def printed(self, run_id: str) -> str:
        return (self.home.runs / run_id / "stdout.log").read_text(encoding="utf-8")

    def settle(self) -> None:
        """Wait until nothing runs and nothing follows."""
        wait_until(lambda: not self.engine.ask(lambda glue: glue.store.unfinished_job_runs()))

    def says(self, text: str) -> str:
        """Return what an error says here; on AWS it may say it in other words."""
        return text

    def arn(self, resource: str) -> str:
        return f"arn:aws:glue:us-east-1:000000000000:{resource}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """With --aws, tests that are marked `on_aws` run here and on a real account."""
    if metafunc.definition.get_closest_marker("on_aws") and metafunc.config.getoption("--aws"):
        places = ["here", pytest.param("aws", marks=pytest.mark.aws)]
        metafunc.parametrize("port", places, indirect=True, scope="module")


@pytest.fixture(scope="module")
def port(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Port | AwsPort]:
    """One served home, or account, for the tests of a file; each uses names of its own."""
    if getattr(request, "param", "here") == "aws":
        with closing(aws_port()) as account:
            yield account
        return
    home = Home.open(tmp_path_factory.mktemp("port") / "home")
    with serving(home) as (url, engine):
        yield Port(home, url, engine)


@pytest.fixture
def serve(tmp_path: Path) -> Callable[[], Any]:
    """Return what serves a home of the test's own, as often as it is called."""

    def served(**options: Any) -> Any:
        return serving(Home.open(tmp_path / "home"), **options)

    return served
