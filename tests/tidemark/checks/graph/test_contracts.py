"""Contracts of readers that refuse what writers let in, on plain data."""

from dataclasses import replace

import pytest

from tests.tidemark.checks.graph.graphs import after, graph, start
from tidemark.checks.graph.contracts import refusal
from tidemark.checks.graph.model import CRAWLER, DataContract, GraphJob
from tidemark.checks.graph.rules import RULES, problems

OUT = "s3://lake/out/"


def contract(columns="evolve", types="evolve", missing="null", rescued="_rescued_data", **fields):
    return DataContract(fields, columns, types, missing, rescued)


def frozen(**fields):
    return contract("freeze", "freeze", "freeze", **fields)


def rescuing(**fields):
    return contract("rescue", "rescue", **fields)


def own(reader):
    """Return the contract of a reader whose own rescued column has another name."""
    return replace(reader, rescued="_own")


@pytest.mark.parametrize(
    ("writer", "reader", "why"),
    [
        (contract(id="int"), frozen(id="int"), "adds new columns, which the reader freezes"),
        (contract("freeze", id="int"), frozen(id="int"), "makes types wider"),
        (rescuing(id="int"), own(frozen(id="int")), "writes the column _rescued_data, which"),
        (contract("discard", "rescue", id="int"), own(frozen(id="int")), "column _rescued_data"),
        (rescuing(id="int"), contract(id="int"), "adds the column _rescued_data, which the reader"),
        (rescuing(id="int"), rescuing(id="bigint"), "give it rescued="),
        (frozen(id="int", tip="int"), frozen(id="int"), "writes the column tip, which"),
        (frozen(id="int"), frozen(id="int", tip="int"), "does not promise the column tip"),
        (frozen(id="bigint"), frozen(id="int"), "writes the column id as bigint, and the reader"),
        (frozen(id="string"), contract(id="int", types="evolve"), "as string, and the reader"),
        (frozen(id="struct<a:int>"), frozen(id="struct<b:int>"), "id as struct<a:int>"),
    ],
)
def test_what_a_reader_refuses_is_told(writer, reader, why):
    assert why in refusal(reader, writer)


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        (rescuing(id="int"), rescuing(id="int")),  # one Dataset
        (contract(id="int"), contract(id="bigint")),
        (contract(), contract("freeze", "freeze")),  # the columns of the frame
        (rescuing(id="int"), own(frozen(id="int", _rescued_data="string"))),
        (rescuing(id="int"), own(contract("discard", "freeze", id="int"))),
        (frozen(id="int"), frozen(id="bigint")),
        (frozen(id="int"), frozen(id="double")),
        (frozen(id="decimal(10,2)"), frozen(id="decimal(12,2)")),
        (frozen(id="bigint"), contract("freeze", "evolve", id="int")),
        (frozen(id="string"), own(rescuing(id="int"))),
        (frozen(id="int", tip="int"), contract(id="int", types="rescue", rescued="_own")),
        (frozen(), frozen(id="int")),  # nobody knows the columns of the writer
        (contract("freeze", "discard_row", id="int"), frozen(id="int")),
    ],
)
def test_what_a_reader_accepts_is_no_problem(writer, reader):
    assert refusal(reader, writer) == ""


def of_two(reader, writer=None):
    """Return what is found in a graph of a job that writes, and one that reads."""
    made = graph(start("a"), after("b", "a"))
    writer = {"writes": (OUT,), "allows": ((OUT, contract(id="int")),), **(writer or {})}
    one, other = made.jobs
    jobs = (replace(one, **writer), replace(other, **reader))
    rules = {"contract-refuses", "quarantine-as-data"}
    return [(p.rule, p.at, p.text) for p in problems(replace(made, jobs=jobs)) if p.rule in rules]


@pytest.mark.parametrize("uri", [OUT, "s3://lake/", "s3a://lake/out/day=1/"])
def test_contracts_of_one_folder_or_a_part_of_it_are_compared(uri):
    ((rule, at, text),) = of_two({"reads": (uri,), "accepts": ((uri, frozen(id="int")),)})

    assert (rule, at) == ("contract-refuses", "s/b")
    assert text == (
        f"the job 'b' reads {uri} under a contract, and 'a' adds new columns, which the reader "
        "freezes"
    )
    assert RULES[rule].id == "TM444"


def test_contracts_of_other_folders_and_readers_without_one_are_left_alone():
    other = "s3://lake/outer/"

    assert of_two({"reads": (other,), "accepts": ((other, frozen(id="int")),)}) == []
    assert of_two({"reads": (OUT,)}) == []


@pytest.mark.parametrize(
    ("uri", "is_found"),
    [
        ("s3://lake/aside/", False),
        ("s3://lake/", True),
        ("s3://lake/aside/window=1/", True),
        (OUT, False),
    ],
)
def test_only_exactly_the_folder_of_a_quarantine_is_read(uri, is_found):
    aside = {"writes": (OUT, "s3://lake/aside/"), "quarantines": ("s3://lake/aside/",)}
    told = of_two({"reads": (uri,)}, aside)

    assert [(rule, at) for rule, at, _ in told] == [("quarantine-as-data", "s/b")] * is_found


def test_a_crawler_of_a_quarantine_and_data_is_found():
    made = graph(start("a"), jobs="a")
    (job,) = made.jobs
    job = replace(job, quarantines=("s3://lake/aside/",), writes=("s3://lake/aside/",))
    crawler = GraphJob("s/c", f"{CRAWLER}all", reads=("s3://lake/",))
    found = problems(replace(made, jobs=(job,), crawlers=(crawler,)))

    assert [p.text for p in found if p.rule == "quarantine-as-data"] == [
        "the crawler 'all' reads s3://lake/, and 'a' takes rows that do not fit to "
        "s3://lake/aside/, one inside the other"
    ]
