"""Answers of Glue's API as its model in botocore allows them, for tests over all of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import botocore.session
from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape
from hypothesis import strategies as st

MODEL = botocore.session.get_session().get_service_model("glue")
TEXTS = st.one_of(
    st.sampled_from(["orders", "s3://bucket-of-mine/orders/", "s3://bucket-of-mine/x.json", "-1"]),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12),
)
ARGUMENTS = {
    "--job-bookmark-option": ["job-bookmark-enable", "job-bookmark-pause", "on"],
    "--auto-upgrade-metadata-kms-key-arn": [
        "arn:aws:kms:eu-west-1:111122223333:key/1234abcd",
        "arn:aws:kms:eu-west-1:111122223333:alias/mine",
    ],
    "--job-language": ["python", "scala"],
    "--TempDir": ["s3://bucket-of-mine/temp/", "s3://bucket-of-mine", "here"],
    "--enable-auto-scaling": ["true", "false"],
    "--additional-python-modules": ["pyarrow==21.0.0", "pyarrow", "a==1,a==2"],
    "--watermark_table": ["glue-watermarks"],
    "--enable-metrics": ["", "true"],
    "--conf": ["spark.sql.ansi.enabled=false"],
    "--extra-jars": ["s3://code/a.jar", "s3://code/a.zip", "s3://code/a.jar,s3://code/a.jar"],
    "--extra-py-files": ["s3://code/a.py,s3://code/b.whl", "s3://code/a.tar"],
    "--source_path": ["s3://bucket-of-mine/in/", "s3://bucket-of-mine/in", "s3://bucket-of-mine"],
    "--target_path": ["s3://bucket-of-mine/out/", "s3://other-bucket/out/a.parquet"],
    "--data": ["s3://bucket-of-mine/in/"],
    "--limit": ["5", "-5", "--5", ""],
    "--password": ["hunter2"],
    "--my-name": ["x"],
    "plain": ["x"],
    "library-set": ["analytics", "none", "all"],
}
LOCATIONS = {"sales.orders": "s3://bucket-of-mine/orders/", "sales.odd": "s3://bucket-of-mine"}
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "GlueVersion": st.sampled_from(["0.9", "2.0", "4.0", "5.0", "5.1", "6.0", "auto"]),
    "WorkerType": st.sampled_from(["Standard", "G.1X", "G.2X", "G.025X", "R.8X", "Z.2X"]),
    "NumberOfWorkers": st.integers(1, 400),
    "Timeout": st.integers(0, 20_000),
    "MaintenanceWindow": st.sampled_from(["Sun:3", "Sat:23", "Sun:24", "noon"]),
    "MaxRetries": st.integers(0, 10),
    "MaxCapacity": st.sampled_from([0.0625, 1.0, 2.0, 10.0]),
    "AllocatedCapacity": st.integers(0, 100),
    "MaxConcurrentRuns": st.integers(1, 3),
    "PythonVersion": st.sampled_from(["2", "3", "3.9"]),
    **dict.fromkeys(
        ("DefaultArguments", "NonOverridableArguments"),
        st.fixed_dictionaries(
            {}, optional={name: st.sampled_from(values) for name, values in ARGUMENTS.items()}
        ),
    ),
    "DatabaseName": st.sampled_from(["sales", "sales", "sales", "Sales", "sales.x"]),
    "TablePrefix": st.sampled_from(["", "raw_", "Raw_", "raw-"]),
    "Tables": st.lists(st.sampled_from(["orders", "odd", "absent"]), min_size=1, max_size=2),
    "Exclusions": st.lists(st.sampled_from(["**.tmp", ""]), max_size=2),
    "Paths": st.lists(st.sampled_from(["s3://bucket-of-mine/in/", "s3://a"]), max_size=2),
    "DeltaTables": st.lists(st.sampled_from(["s3://bucket-of-mine/d/", "s3://a"]), max_size=2),
    "MaximumTraversalDepth": st.integers(0, 30),
    "scanRate": st.sampled_from([0.05, 0.5, 1.5]),
    "SampleSize": st.integers(0, 300),
    "Schedule": st.sampled_from(["cron(0 6 * * ? *)", "cron(0/1 * * * ? *)", "every day"]),
}


def answers(name: str, **fixed: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Return resources of a shape, such as `Job`, in which any fields are set."""
    shape = MODEL.shape_for(name)
    assert isinstance(shape, StructureShape)
    return _structure(shape, fixed, depth=0)


def crawlers() -> st.SearchStrategy[dict[str, Any]]:
    """Return crawlers, most of which read and write something that there can be."""
    paths = ["s3://bucket-of-mine/in/", "s3://bucket-of-mine/in", "s3://bucket-of-mine", "s3://a"]
    some = [
        st.tuples(st.just("S3Targets"), st.sampled_from(paths).flatmap(_target("S3Target"))),
        st.tuples(st.just("JdbcTargets"), answers("JdbcTarget", Path="shop/%")),
        st.tuples(st.just("CatalogTargets"), answers("CatalogTarget")),
        st.tuples(st.just("MongoDBTargets"), answers("MongoDBTarget")),
        st.tuples(st.just("DynamoDBTargets"), answers("DynamoDBTarget", Path="orders")),
        st.tuples(st.just("DeltaTargets"), answers("DeltaTarget")),
        st.tuples(st.just("HudiTargets"), answers("HudiTarget")),
        st.tuples(st.just("IcebergTargets"), answers("IcebergTarget")),
    ]
    found = st.lists(st.one_of(some), max_size=3).map(
        lambda pairs: {kind: [one for of, one in pairs if of == kind] for kind, _ in pairs}
    )
    databases = st.sampled_from(["sales", "sales", "raw_2", "Sales"])
    return st.tuples(found, databases).flatmap(
        lambda pair: answers("Crawler", Name="raw", Targets=pair[0], DatabaseName=pair[1])
    )


def _target(shape: str) -> Callable[[str], st.SearchStrategy[dict[str, Any]]]:
    return lambda path: answers(shape, Path=path)


def _structure(
    shape: StructureShape, fixed: dict[str, Any], depth: int
) -> st.SearchStrategy[dict[str, Any]]:
    required = {key: st.just(value) for key, value in fixed.items()}
    optional = {
        key: FIELDS[key] if key in FIELDS else _value(member, depth + 1)
        for key, member in shape.members.items()
        if key not in fixed
    }
    return st.fixed_dictionaries(required, optional=optional)


def _value(shape: Shape, depth: int) -> st.SearchStrategy[Any]:
    if depth > 4:
        return st.just("deep")
    if isinstance(shape, StructureShape):
        return _structure(shape, {}, depth)
    if isinstance(shape, ListShape):
        return st.lists(_value(shape.member, depth + 1), max_size=2)
    if isinstance(shape, MapShape):
        return st.dictionaries(TEXTS, _value(shape.value, depth + 1), max_size=2)
    if isinstance(shape, StringShape):
        return st.sampled_from(shape.enum) if shape.enum else TEXTS
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "boolean": st.booleans(),
        "timestamp": st.just(datetime(2026, 1, 1, tzinfo=UTC)),
        "double": st.floats(0, 10),
    }
    return kinds.get(shape.type_name, st.integers(0, 100))
