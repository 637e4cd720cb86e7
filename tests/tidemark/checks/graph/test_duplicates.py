"""Who reads data in which a repeated run leaves rows twice is found, and nobody else."""

import pytest

from tests.tidemark.checks.graph.graphs import after, graph, start
from tests.tidemark.checks.graph.synthesized import disable, new_pipeline, refusals, synthesized
from tests.tidemark.checks.graph.test_races import with_data
from tidemark.checks.graph.rules import problems

RAW, MART = "s3://lake/raw/orders/", "s3://lake/mart/orders/"
APPENDING = {"writes": (RAW,), "repeats": ((RAW, "read by key"),)}
APPEND = (
    "df.write.mode('append').parquet(args['raw'])  # tidemark: ignore[retry-appends] read by key\n"
    "df.write.mode('overwrite').parquet(args['mart'])\n"
)


def found(**data):
    chain = graph(start("a"), after("b", "a"), after("c", "b"), jobs="abc")
    every = problems(with_data(chain, **data))
    return [(p.at, p.is_error) for p in every if p.rule == "reads-duplicates"]


@pytest.mark.parametrize("uri", [RAW, "s3a://lake/raw/orders", "s3://lake/raw/", f"{RAW}day=1/"])
def test_a_job_that_reads_such_data_or_a_part_or_more_is_found(uri):
    assert found(a=APPENDING, b={"reads": (uri,)}) == [("s/b", True)]


def test_every_reader_is_found_and_the_writer_is_not():
    own = APPENDING | {"reads": (RAW,)}

    assert found(a=own, b={"reads": (RAW,)}, c={"reads": (RAW,)}) == [("s/b", True), ("s/c", True)]


def test_a_reader_of_its_table_is_found():
    filled = APPENDING | {"filled": (("lake.orders", RAW),)}

    assert found(a=filled, b={"tables": ("lake.orders",)}, c={"tables": ("lake.others",)}) == [
        ("s/b", True)
    ]


@pytest.mark.parametrize(
    "data",
    [
        {"a": APPENDING, "b": {"reads": ("s3://lake/raw/orders2/",)}},
        {
            "a": APPENDING | {"writes": (RAW, MART), "filled": (("lake.mart", MART),)},
            "b": {"reads": (MART,), "tables": ("lake.mart",)},
        },
        {"a": {"writes": (RAW,)}, "b": {"reads": (RAW,)}},
        {"a": APPENDING, "b": {"writes": (RAW,)}},
    ],
)
def test_other_data_and_other_writers_are_not_found(data):
    assert found(**data) == []


@pytest.mark.synth
def test_synthesis_refuses_a_reader_that_does_not_say_how_it_removes_them(cdk, project):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs.dataset import Dataset
    from tidemark.constructs.jobs.job_props import BookmarkOption

    (project / "ingest.py").write_text(f"import sys\n{APPEND}", encoding="utf-8")

    def chain():
        pipeline = new_pipeline(cdk, project)
        lake = s3.Bucket.from_bucket_name(pipeline, "Lake", "lake")
        raw, mart = Dataset(lake, "raw/"), Dataset(lake, "mart/")
        ingest = pipeline.add_job(
            "ingest",
            script="ingest.py",
            bookmark=BookmarkOption.ENABLE,
            writes=[raw, mart],
            arguments={"raw": raw, "mart": mart},
        )
        disable(pipeline, "look", after=[ingest], reads=[mart])
        return pipeline, disable(pipeline, "publish", after=[ingest], reads=[raw])

    pipeline, _ = chain()
    ((path, text, fix),) = refusals(pipeline)
    assert path == "stack/Orders/Publish/Resource"
    assert "'publish' reads s3://lake/raw/, where a repeated run of 'ingest'" in text
    assert "(read by key)" in text
    assert 'job.acknowledge("reads-duplicates"' in fix

    pipeline, publish = chain()
    publish.acknowledge("reads-duplicates", "keeps the newest row of each key")
    assert synthesized(pipeline)["Resources"]
