"""The fixtures that read like Glue; each imports its needs when a test asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tidemark.testing.aws import Account, AwsGlueJob
    from tidemark.testing.bookmark import BookmarkOfJob
    from tidemark.testing.catalog import Catalog
    from tidemark.testing.clock import GlueClock
    from tidemark.testing.glue_job import GlueJob
    from tidemark.testing.kit import GlueTest, Kit
    from tidemark.testing.lake import Lake
    from tidemark.testing.pipeline import Pipeline
    from tidemark.testing.watermark_table import WatermarkTable

LOCAL_ONLY = {"bookmark", "catalog", "glue_clock", "pipeline", "watermarks"}  # not with --aws


@pytest.fixture(scope="session")
def spark_settings() -> Mapping[str, str]:
    """Return Spark properties for the session in addition to those of a job run; override it."""
    return {}


@pytest.fixture(scope="session")
def glue_kit(
    tmp_path_factory: pytest.TempPathFactory, spark_settings: Mapping[str, str]
) -> Iterator[Kit]:
    """Return what all tests of this process share: a home, Spark, a pool of JVMs."""
    from tidemark.testing.kit import Kit

    kit = Kit(tmp_path_factory.mktemp("glue"), spark_settings)
    yield kit
    kit.close()


@pytest.fixture
def glue_test(request: pytest.FixtureRequest, glue_kit: Kit) -> Iterator[GlueTest]:
    """Return the state of this test: an empty lake and state, its job runs."""
    from tidemark.testing.marker import settings_of
    from tidemark.testing.state_of_test import state_of_test

    settings = settings_of(request.node.iter_markers("glue"))
    with state_of_test(request, glue_kit, settings) as test:
        yield test


@pytest.fixture
def aws_account(request: pytest.FixtureRequest) -> Iterator[Account | None]:
    """Return the AWS side of this test; None without ``--aws``."""
    if not request.config.getoption("--aws"):
        yield None
        return
    from tidemark.errors import UsageError
    from tidemark.testing import aws

    for name in LOCAL_ONLY & set(request.fixturenames):
        aws.refused(name)
    try:
        account = aws.account()
    except UsageError as error:
        pytest.fail(f"error: {error}", pytrace=False)
    yield account
    account.close()


@pytest.fixture
def lake(glue_test: GlueTest, aws_account: Account | None) -> Lake:
    """Return the buckets of this test, which are empty."""
    if aws_account is None:
        return glue_test.lake
    from tidemark.testing.aws import AwsLake

    return AwsLake(aws_account, glue_test.home, glue_test.now_ms, glue_test.spark)


@pytest.fixture
def glue_job(glue_test: GlueTest, lake: Lake, aws_account: Account | None) -> GlueJob | AwsGlueJob:
    """Return a function that runs a script as a Glue job."""
    from tidemark.testing.glue_job import GlueJob

    here = GlueJob(glue_test, lake)
    if aws_account is not None:
        from tidemark.testing.aws import AwsGlueJob

        return AwsGlueJob(aws_account, here.file_of, glue_test.version)
    return here


@pytest.fixture
def bookmark(glue_test: GlueTest) -> Callable[[Any], BookmarkOfJob]:
    """Return a function that returns the bookmark of a job, by its name, its script or a run."""
    from tidemark.testing.bookmark import bookmark_of

    return partial(bookmark_of, glue_test)


@pytest.fixture
def catalog(glue_test: GlueTest, lake: Lake) -> Catalog:
    """Return the Data Catalog of this test, which has no table."""
    from tidemark.testing.catalog import Catalog

    return Catalog(glue_test, lake)


@pytest.fixture
def watermarks(glue_test: GlueTest, monkeypatch: pytest.MonkeyPatch) -> Iterator[WatermarkTable]:
    """Return the table of watermarks of this test, which boto3 finds through the environment."""
    from tidemark.glue_service.commands import region
    from tidemark.testing.empty_dynamodb import let_boto3_find
    from tidemark.testing.watermark_table import WatermarkTable
    from watermarks import WatermarkAdmin

    endpoint = glue_test.dynamodb()
    let_boto3_find(monkeypatch, endpoint, region())
    admin = WatermarkAdmin()
    yield WatermarkTable(endpoint, admin)
    admin.dynamodb_client.close()


@pytest.fixture
def glue_clock(glue_test: GlueTest, monkeypatch: pytest.MonkeyPatch) -> GlueClock:
    """Return the clock of Glue in this test, with the machine's time until it is set."""
    from tidemark.testing.clock import GlueClock

    return GlueClock(monkeypatch)


@pytest.fixture(scope="session")
def pipeline_context() -> Mapping[str, str]:
    """Return the context of the app's synthesis, as ``cdk synth -c`` takes it."""
    return {"stage": "dev"}


@pytest.fixture
def pipeline(
    request: pytest.FixtureRequest,
    glue_test: GlueTest,
    pipeline_context: Mapping[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Pipeline:
    """Return the synthesized app of the project, deployed into the lake of this test."""
    from tidemark.testing.pipeline import Pipeline, synthesized

    base = tmp_path_factory.getbasetemp()
    return Pipeline(glue_test, synthesized(request.config.rootpath, base, pipeline_context))
