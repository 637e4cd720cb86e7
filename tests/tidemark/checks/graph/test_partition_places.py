"""Partitions, registered or projected, that hold data of others: on templates."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tries import tries
from tidemark.checks.graph.nested_tables import nested_tables
from tidemark.checks.graph.template import read_graph

DAY = {"projection.day.type": "date", "projection.day.format": "yyyy-MM-dd"}
ENUM = {"projection.country.type": "enum", "projection.country.values": "de,fr"}
INJECTED = {"projection.country.type": "injected"}
NUMBER = {"projection.n.type": "integer"}


def table(name, uri, **parameters):
    given = {"Name": name, "StorageDescriptor": {"Location": uri}, "Parameters": parameters}
    return {
        "Type": "AWS::Glue::Table",
        "Properties": {"DatabaseName": "sales", "TableInput": given},
    }


def projected(name, uri, template, keys):
    given = {"projection.enabled": "true", "storage.location.template": template, **keys}
    return table(name, uri, **given)


def partition(of, uri, value="1"):
    given = {"Values": [value], "StorageDescriptor": {"Location": uri}}
    properties = {"DatabaseName": "sales", "TableName": of, "PartitionInput": given}
    return {"Type": "AWS::Glue::Partition", "Properties": properties}


def writes(*data):
    metadata = {"Tidemark": {"writes": [{"uri": uri, "table": name} for uri, name in data]}}
    return {"Type": "AWS::Glue::Job", "Properties": {}, "Metadata": metadata}


def problems(*resources):
    templates = {f"s{n}": {"Resources": {"R": one}} for n, one in enumerate(resources)}
    return list(nested_tables(read_graph(templates)))


def found(*resources):
    return [(problem.at, problem.is_error) for problem in problems(*resources)]


ORDERS, REJECTED = table("orders", "s3://lake/orders/"), table("rejected", "s3://lake/rejected/")


@pytest.mark.parametrize(
    "uri", ["s3://lake/orders/old/", "s3://lake/orders/day=1", "s3a://lake/orders/x/y/"]
)
def test_a_partition_in_the_folder_of_another_table_is_found(uri):
    assert found(ORDERS, REJECTED, partition("rejected", uri)) == [("s2/R", True)]


@pytest.mark.parametrize(
    "uri", ["s3://lake/rejected/day=1/", "s3://lake/rejected/", "s3://lake/old/", "s3://o/orders/x"]
)
def test_a_partition_in_its_own_folder_or_beside_all_is_right(uri):
    assert found(ORDERS, REJECTED, partition("rejected", uri)) == []


@pytest.mark.parametrize(
    ("form", "folder", "is_found"),
    [
        ("yyyy-M-d", "2024-10-12", True),
        ("yyyy-M-d", "2024-1-2", True),
        ("yyyy-M-d", "archive", False),
        ("y-D", "2024-366", True),
        ("yyyy-MMM", "2024-Jan", True),
        ("MMMM", "September", True),
        ("EEEE", "Wednesday", True),
        ("MMMM", "2024-01", False),
        ("yyyy", "archive", False),
    ],
)
def test_numbers_and_names_in_dates_have_the_lengths_that_athena_writes(form, folder, is_found):
    keys = {"projection.day.type": "date", "projection.day.format": form}
    days = projected("days", "s3://lake/days/", "s3://lake/raw/${day}/", keys)

    expected = [("s1/R", False)] if is_found else []
    assert found(days, table("old", f"s3://lake/raw/{folder}/x/")) == expected


def test_a_partition_around_the_folder_of_another_table_is_found_at_that_table():
    around = partition("rejected", "s3://lake/2020/")

    assert found(REJECTED, around, table("old", "s3://lake/2020/old/")) == [("s2/R", True)]


@pytest.mark.parametrize(
    ("one", "other", "is_bad"),
    [
        ("s3://lake/orders/day=1/", "s3://lake/orders/day=1/hour=2/", True),
        ("s3://lake/orders/day=1/", "s3a://lake/orders/day=1", True),
        ("s3://lake/orders/", "s3://lake/orders/day=1/", True),
        ("s3://lake/orders/day=1/", "s3://lake/orders/day=2/", False),
        ("s3://lake/orders/day=1/", "s3://lake/orders/day=12/", False),
    ],
)
def test_two_partitions_of_a_table_with_one_anothers_objects_are_found(one, other, is_bad):
    parts = [partition("orders", one), partition("orders", other, "2")]

    assert len(found(ORDERS, *parts)) == is_bad
    assert len(found(ORDERS, *reversed(parts))) == is_bad


def test_tables_that_share_folders_and_partitions_are_right():
    same = table("also", "s3://lake/orders/")
    parts = [partition(name, "s3://lake/orders/day=1/") for name in ("orders", "also")]
    union = partition("all", "s3://lake/orders/")

    assert found(ORDERS, same, *parts) == []
    assert found(ORDERS, table("all", "s3://lake/all/"), union) == []


def test_a_partition_that_both_tables_have_is_right():
    other = table("few", "s3://lake/few/")
    parts = [partition(name, "s3://lake/orders/day=1/") for name in ("orders", "few")]

    assert found(ORDERS, other, *parts) == []


@pytest.mark.parametrize(
    ("template", "keys", "expected"),
    [
        ("s3://lake/orders/${day}/", DAY, [True]),
        ("s3://lake/orders/old/${day}", DAY, [True]),
        ("s3://lake/${country}/", INJECTED, []),  # one folder with both: the same data
        ("s3://lake/${country}/x/", INJECTED, [False]),
        ("s3://lake/${country}/x/", ENUM, []),
        ("s3://lake/${country}/x/", {**ENUM, "projection.country.values": "fr,orders"}, [True]),
        ("s3://lake/or${country}/x/", {**ENUM, "projection.country.values": "fr,ders"}, [True]),
        ("s3://lake/${n}/x/", NUMBER, []),
        ("s3://lake/${day}/x/", DAY, []),
        ("s3://lake/mine/${day}/", DAY, []),
        ("s3://${country}/${country}/x/", INJECTED, [False]),
    ],
)
def test_projected_partitions_in_the_folder_of_another_table_are_found(template, keys, expected):
    mine = projected("mine", "s3://lake/mine/", template, keys)

    assert found(ORDERS, mine) == [("s1/R", is_error) for is_error in expected]


def test_a_table_inside_of_a_projected_partition_is_found():
    mine = projected("mine", "s3://lake/mine/", "s3://lake/all/${country}/", ENUM)

    assert found(mine, table("t", "s3://lake/all/fr/t/")) == [("s1/R", True)]
    assert found(mine, table("t", "s3://lake/all/uk/t/")) == []


def test_a_template_counts_only_where_projection_is_on():
    mine = projected("mine", "s3://lake/mine/", "s3://lake/orders/${day}/", DAY)
    mine["Properties"]["TableInput"]["Parameters"]["projection.enabled"] = "false"

    assert found(ORDERS, mine) == []


def test_a_template_of_references_is_read():
    bucket = {"Fn::Join": ["", ["s3://", {"Ref": "Lake"}, "/mine/${day}/"]]}
    mine = projected("mine", "s3://lake/mine/", bucket, DAY)
    inner = table("t", {"Fn::Join": ["", ["s3://", {"Ref": "Lake"}, "/mine/2026-01-01/t/"]]})
    stack = {"s": {"Resources": {"A": mine, "B": inner}}}

    assert [one.at for one in nested_tables(read_graph(stack))] == ["s/B"]


def test_projections_of_two_tables_are_compared():
    one = projected("one", "s3://lake/one/", "s3://lake/${country}/", INJECTED)
    beside = projected("b", "s3://lake/b/", "s3://lake/x-${country}/returns/", ENUM)
    inside = projected("b", "s3://lake/b/", "s3://lake/${country}/returns/", INJECTED)

    assert found(one, inside) == [("s1/R", False)]
    assert found(one, beside) == [("s1/R", False)]
    assert found({**one, "Type": "x"}, beside) == []


def test_jobs_that_fill_one_folder_through_two_tables_are_found():
    uri = "s3://lake/both/"
    both, one, other = (
        writes((uri, "d.a"), (uri, "d.b")),
        writes((uri, "d.a")),
        writes((uri, "d.b")),
    )

    assert found(both) == [("s0/R", True)]
    assert found(one, other) == [("s1/R", True)]
    assert found(one, one) == []
    assert found(one, table("b", uri)) == []


FOLDERS = st.lists(st.sampled_from(["a", "b", "day=1"]), min_size=1, max_size=3).map("/".join)
TABLES = st.dictionaries(
    st.sampled_from(["one", "two", "three"]),
    st.tuples(FOLDERS, st.lists(FOLDERS, max_size=2)),
    min_size=1,
)


@given(TABLES)
@settings(max_examples=tries(150), deadline=None)
def test_where_nothing_is_found_no_table_reads_what_is_of_another(tables):
    """Each object is read once by a table, and by another one only where both have its folder."""
    resources = [table(name, f"s3://lake/{place}/") for name, (place, _) in tables.items()]
    for name, (_, parts) in tables.items():
        resources += [partition(name, f"s3://lake/{part}/") for part in parts]
    is_found = bool(found(*resources))
    folders = {name: {place, *parts} for name, (place, parts) in tables.items()}

    def is_in(folder, whole):
        return f"{folder}/".startswith(f"{whole}/")

    twice = any(
        is_in(one, other) or is_in(other, one)
        for _, parts in tables.values()
        for one, other in combinations(parts, 2)
    )
    mixed = any(
        is_in(folder, whole) and not any(is_in(folder, home) for home in theirs & own)
        for name, own in folders.items()
        for other, theirs in folders.items()
        for folder in own
        for whole in theirs
        if name != other
    )
    assert is_found == (twice or mixed)
