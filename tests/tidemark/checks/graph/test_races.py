"""Jobs that use the same data at the same time are found, and no others: on plain data."""

from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tidemark.checks.graph.graphs import after, graph, start
from tests.tidemark.checks.graph.test_random_graph import VALID, started
from tests.tries import tries
from tidemark.checks.graph.model import CRAWLER, Graph, GraphJob, Timer
from tidemark.checks.graph.rules import problems

RACES = {"two-writers", "reads-own-output", "temp-overlaps", "reads-without-waiting"}
RACES |= {"state-as-data"}


def with_data(good, **data):
    """Return a graph whose jobs use data: job name to what it reads, writes and keeps."""
    return replace(good, jobs=tuple(replace(j, **data.get(j.name, {})) for j in good.jobs))


def found(bad):
    return [(p.rule, p.at, p.is_error) for p in problems(bad) if p.rule in RACES]


SIDE_BY_SIDE = graph(start("a", "b"))
IN_ORDER = graph(start("a"), after("b", "a"))
BRANCHES = graph(start("a"), after("b", "a"), after("c", "a", state="FAILED"), jobs="abc")


def read(*uris):
    return {"reads": uris}


def write(*uris):
    return {"writes": uris}


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("s3://lake/x/", "s3://lake/x/"),
        ("s3://lake/x/", "s3://lake/x/y/"),
        ("s3://lake/x/y/", "s3://lake/x/"),
        ("s3://lake/x", "s3a://lake/x/"),
    ],
)
def test_two_jobs_that_write_one_folder_or_a_part_of_it_race(mine, theirs):
    bad = with_data(SIDE_BY_SIDE, a=write(mine), b=write(theirs))

    assert found(bad) == [("two-writers", "s/b", True)]


AT_SIX, AT_SEVEN = "cron(0 6 * * ? *)", "cron(0 7 * * ? *)"


def of_two_workflows(mine, theirs, **data):
    """Return a graph of two workflows of one job each, started by two schedules."""
    starts = (start("a"), start("b", name="other", workflow="weather"))
    starts = [replace(one, kind="ON_DEMAND", schedule=None, is_active=False) for one in starts]
    timers = (Timer("s/t1", "flights", *mine), Timer("s/t2", "weather", *theirs))
    workflows = {"flights": "s/flights", "weather": "s/weather"}
    return with_data(replace(graph(*starts), timers=timers, workflows=workflows), **data)


@pytest.mark.parametrize(
    ("mine", "theirs", "reader", "expected"),
    [
        ((AT_SIX,), (AT_SIX,), {}, [("reads-without-waiting", "s/b", False)]),
        (
            ("cron(0 7 * * ? *)", "Europe/Berlin"),
            ("cron(0 8 * * ? *)", "Europe/Helsinki"),
            {},
            [("reads-without-waiting", "s/b", False)],
        ),
        ((AT_SIX,), (AT_SEVEN,), {}, []),
        ((AT_SIX,), (AT_SIX,), {"has_bookmark": True}, []),
        (("rate(1 day)",), ("not known",), {}, []),
    ],
)
def test_a_job_that_reads_when_a_schedule_starts_its_writer_in_another_workflow_is_told(
    mine, theirs, reader, expected
):
    good = of_two_workflows(
        mine, theirs, a=write("s3://lake/x/"), b={**read("s3://lake/x/"), **reader}
    )

    assert found(good) == expected


@pytest.mark.parametrize(
    ("uri", "is_wrong"),
    [
        ("s3://lake/ck/", True),
        ("s3://lake/ck/offsets/", True),
        ("s3://lake/", True),
        ("s3://lake/ckx/", False),
    ],
)
def test_the_checkpoint_of_a_streaming_job_is_not_data(uri, is_wrong):
    kept = {"writes": ("s3://lake/ck/", "s3://lake/out/"), "states": ("s3://lake/ck/",)}
    crawler = GraphJob("s/c", f"{CRAWLER}c", reads=(uri,), crawled=("db.*",))
    bad = replace(
        with_data(graph(start("b", "c"), jobs="ab"), a=kept, b=read(uri)), crawlers=(crawler,)
    )

    told = {at for rule, at, _ in found(bad) if rule == "state-as-data"}
    assert told == ({"s/b", "s/c"} if is_wrong else set())


@pytest.mark.parametrize("other", ["s3://lake/xy/", "s3://lake/y/", "s3://other/x/"])
def test_folders_that_only_begin_alike_are_two(other):
    assert found(with_data(SIDE_BY_SIDE, a=write("s3://lake/x/"), b=write(other))) == []


@pytest.mark.parametrize("good", [IN_ORDER, BRANCHES], ids=["in order", "never in one run"])
def test_jobs_that_cannot_run_together_may_write_one_folder(good):
    data = {name: write("s3://lake/x/") for name in ("ab" if good is IN_ORDER else "bc")}

    assert found(with_data(good, **data)) == []


def test_a_job_that_waits_for_any_of_two_may_run_beside_the_other():
    either = graph(start("a", "b"), after("c", "a", "b", logical="ANY"), jobs="abc")

    assert found(with_data(either, b=write("s3://l/x/"), c=write("s3://l/x/"))) == [
        ("two-writers", "s/c", True)
    ]


def test_jobs_of_two_workflows_may_meet_and_so_may_jobs_that_nothing_starts():
    two = Graph(
        jobs=(GraphJob("s/a", "a", writes=("x/",)), GraphJob("s/b", "b", writes=("x/",))),
        triggers=(start("a", name="one", workflow="one"), start("b", name="two", workflow="two")),
        workflows={"one": "s/1", "two": "s/2"},
    )

    assert found(two) == [("two-writers", "s/b", True)]
    assert found(with_data(graph(start("a")), a=write("x/"), b=write("x/"))) == [
        ("two-writers", "s/b", True)
    ]


def test_a_job_that_reads_what_another_writes_has_to_wait_for_it():
    data = {"a": write("s3://lake/x/"), "b": read("s3://lake/x/y/")}

    assert found(with_data(SIDE_BY_SIDE, **data)) == [("reads-without-waiting", "s/b", True)]
    assert found(with_data(IN_ORDER, **data)) == []


def test_waiting_for_a_job_that_waits_is_waiting():
    chain = graph(start("a"), after("b", "a"), after("c", "b", state="FAILED"), jobs="abc")

    assert found(with_data(chain, a=write("x/"), c=read("x/"))) == []


def test_who_reads_before_the_other_writes_reads_the_last_run():
    assert found(with_data(IN_ORDER, a=read("x/"), b=write("x/"))) == []


def test_nobody_can_wait_for_a_job_of_another_pipeline():
    two = Graph(
        jobs=(GraphJob("s/a", "a", writes=("x/",)), GraphJob("s/b", "b", reads=("x/",))),
        triggers=(
            start("a", name="one", workflow="one"),
            replace(start("b", name="two", workflow="two"), schedule=AT_SEVEN),
        ),
        workflows={"one": "s/1", "two": "s/2"},
    )

    assert found(two) == []


@pytest.mark.parametrize(("reads", "writes"), [("x/", "x/"), ("x/", "x/y/"), ("x/y/", "x/")])
@pytest.mark.parametrize("has_bookmark", [True, False])
def test_a_job_that_reads_what_it_writes_is_found(reads, writes, has_bookmark):
    used = read(reads) | write(writes) | {"has_bookmark": has_bookmark}

    # Without a bookmark it may be meant: small files are made one.
    assert found(with_data(IN_ORDER, b=used)) == [("reads-own-output", "s/b", has_bookmark)]


def test_a_job_that_merges_into_what_it_writes_does_not_read_it_as_a_source():
    assert found(with_data(IN_ORDER, b=read("in/") | write("x/"))) == []


@pytest.mark.parametrize("kind", ["reads", "writes"])
@pytest.mark.parametrize("name", ["a", "b"])
def test_temporary_files_where_any_job_has_data_are_found(kind, name):
    jobs = [
        GraphJob("s/a", "a", kept={"temp": "t/x/"}),
        GraphJob("s/b", "b", kept={"temp": "t/y/"}),
    ]
    data = [replace(j, **{kind: ("t/x/part/",)}) if j.name == name else j for j in jobs]

    assert found(replace(IN_ORDER, jobs=tuple(data))) == [("temp-overlaps", "s/a", True)]


def test_jobs_may_share_a_folder_for_temporary_files():
    temp = {"kept": {"temp": "t/"}}

    assert found(with_data(SIDE_BY_SIDE, a=temp, b=temp)) == []


@pytest.mark.parametrize("parameter", ["temp", "spark_ui", "python_virtual_env_cache"])
def test_what_a_job_keeps_beside_its_data_has_a_folder_of_its_own(parameter):
    bad = with_data(IN_ORDER, a={"kept": {parameter: "t/"}}, b=write("t/x/"))

    (problem,) = (p for p in problems(bad) if p.rule == "temp-overlaps")

    assert (problem.at, problem.is_error) == ("s/a", True)
    assert f"{parameter}=" in problem.fix


@pytest.mark.parametrize(("runs", "writes"), [(2, ("x/",)), (1, ("x/",)), (2, ())])
def test_runs_of_one_job_race_if_there_may_be_several_and_it_writes(runs, writes):
    bad = with_data(IN_ORDER, b={"max_concurrent_runs": runs, "writes": writes})

    expected = [("two-writers", "s/b", True)] if runs > 1 and writes else []
    assert found(bad) == expected


def test_a_race_is_told_once_with_a_way_out_and_a_way_to_give_a_reason():
    bad = with_data(SIDE_BY_SIDE, a=read("x/") | write("x/y/"), b=read("x/") | write("x/"))

    (problem,) = (p for p in problems(bad) if p.rule == "two-writers")

    assert problem.text.startswith("the jobs 'a' and 'b' can write x/y/ and x/, one inside")
    assert "after=" in problem.fix
    assert 'job.acknowledge("two-writers", "...")' in problem.fix
    assert not [p for p in problems(bad) if p.rule == "reads-without-waiting"]


def meet(good, one, other):
    """Return whether a run can be in both jobs, found by trying all runs.

    It can if both start in it, each also while the other has not ended.
    """
    names = [job.name for job in good.jobs]
    states = ["SUCCEEDED", "FAILED", "TIMEOUT", "STOPPED"]
    used = {
        name: {c.state for t in good.triggers for c in t.conditions if c.name == name} or states[:1]
        for name in names
    }
    for run in product(*(used[name] for name in names)):
        ends = dict(zip(names, run, strict=True))
        if other in started(good, ends | {one: None}) and one in started(
            good, ends | {other: None}
        ):
            return True
    return False


@settings(max_examples=tries(60), deadline=None)
@given(VALID, st.data())
def test_a_race_is_found_if_and_only_if_two_uses_can_meet(good, data):
    uses = st.dictionaries(
        st.sampled_from([job.name for job in good.jobs]),
        st.sampled_from(["reads", "writes"]),
        max_size=4,
    )
    kinds = data.draw(uses)
    jobs = [replace(j, **{kinds[j.name]: ("x/",)}) if j.name in kinds else j for j in good.jobs]
    expected = {
        frozenset(pair)
        for pair in combinations(kinds, 2)
        if "writes" in (kinds[pair[0]], kinds[pair[1]]) and meet(good, *pair)
    }

    bad = [p for p in problems(replace(good, jobs=tuple(jobs))) if p.rule in RACES]

    named = {frozenset(name for name in kinds if f"'{name}'" in p.text) for p in bad}
    assert named == expected
    assert len(bad) == len(expected)


def test_many_jobs_on_many_folders_are_compared_in_time():
    names = [f"j{n}" for n in range(2_000)]
    jobs = [
        GraphJob(f"s/{n}", n, reads=(f"l/{n}/in/", "l/shared/"), writes=(f"l/{n}/out/",))
        for n in names
    ]
    workflows = {f"w{n}": f"s/w{n}" for n in range(0, 2_000, 40)}
    triggers = [
        start(*names[n : n + 40], name=f"start{n}", workflow=f"w{n}") for n in range(0, 2_000, 40)
    ]

    assert found(Graph(tuple(jobs), tuple(triggers), workflows)) == []
