"""Random graphs, on plain data: what cannot start is found, and nothing else."""

import time
from dataclasses import replace
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tests.tidemark.checks.graph.graphs import after, found, graph, start
from tidemark.checks.graph.rules import problems


@st.composite
def graphs(draw):
    """Return a valid graph: every job starts first or waits for some jobs before it."""
    size = draw(st.integers(1, 6))
    names = [f"j{n}" for n in range(size)]
    first, triggers = [], []
    for number, name in enumerate(names):
        watched = draw(st.lists(st.sampled_from(names[:number]), unique=True)) if number else []
        if not watched:
            first.append(name)
            continue
        state = draw(st.sampled_from(["SUCCEEDED", "FAILED", "TIMEOUT", "STOPPED"]))
        logical = draw(st.sampled_from(["AND", "ANY"]))
        triggers.append(after(name, *watched, state=state, logical=logical))
    return graph(start(*first), *draw(st.permutations(triggers)), jobs=names)


def started(good, ends):
    """Return the jobs that start, given how each ends once it has started."""
    running = set()
    while (
        new := {
            name
            for trigger in good.triggers
            if not trigger.conditions
            or (any if trigger.logical == "ANY" else all)(
                c.name in running and ends[c.name] == c.state for c in trigger.conditions
            )
            for name in trigger.starts
        }
        - running
    ):
        running |= new
    return running


def can_start(good):
    """Return the jobs that start in some run, found by trying all runs."""
    names = [job.name for job in good.jobs]
    states = {
        name: {c.state for t in good.triggers for c in t.conditions if c.name == name} or {"FAILED"}
        for name in names
    }
    runs = product(*(states[name] for name in names))
    return {name for run in runs for name in started(good, dict(zip(names, run, strict=True)))}


VALID = graphs().filter(lambda good: len(can_start(good)) == len(good.jobs))


@given(VALID)
def test_no_valid_graph_has_a_problem(good):
    assert problems(good) == []


@given(graphs())
def test_a_job_that_no_run_can_start_is_always_found_and_no_other_is(good):
    never = {job.name for job in good.jobs} - can_start(good)

    bad = problems(good)

    assert {problem.rule for problem in bad} == ({"unreachable-job"} if never else set())
    assert {problem.at.removeprefix("s/").removesuffix("-trigger") for problem in bad} <= never


def test_a_job_behind_two_branches_of_one_job_is_found():
    failed = after("b", "a", state="FAILED")
    bad = graph(start("a"), failed, after("c", "a", "b"), jobs="abc")

    (problem,) = problems(bad)

    assert (problem.rule, problem.at) == ("unreachable-job", "s/c-trigger")
    assert problem.text == (
        "the job 'c' can never start: no run can end with a SUCCEEDED and b SUCCEEDED"
    )


def test_a_wide_graph_of_alternatives_is_proved_in_time():
    names = [f"j{n}" for n in range(40)]
    waits = [after(names[n], *names[max(0, n - 5) : n], logical="ANY") for n in range(1, 40)]
    begin = time.monotonic()

    assert problems(graph(start(names[0]), *waits, jobs=names)) == []

    assert time.monotonic() - begin < 5


@given(VALID.filter(lambda g: len(g.triggers) > 1), st.data())
def test_a_wait_for_a_later_job_of_the_same_chain_is_always_a_cycle(good, data):
    trigger = data.draw(st.sampled_from([t for t in good.triggers if t.conditions]))
    watched = data.draw(st.sampled_from(trigger.conditions)).name
    back = after(watched, trigger.starts[0])
    starts = {name for t in good.triggers if not t.conditions for name in t.starts}
    triggers = [t for t in good.triggers if t.starts != (watched,)]
    if watched in starts:
        triggers = [
            t if t.conditions else replace(t, starts=tuple(n for n in t.starts if n != watched))
            for t in triggers
        ]
    bad = replace(good, triggers=(*triggers, back))

    assert "cycle" in [problem.rule for problem in problems(bad)]


@given(VALID, st.data())
def test_an_inactive_trigger_never_goes_unnoticed(good, data):
    chosen = data.draw(st.sampled_from(good.triggers))
    bad = tuple(replace(t, is_active=False) if t is chosen else t for t in good.triggers)

    assert found(replace(good, triggers=bad)) == [("inactive-trigger", chosen.at)]
