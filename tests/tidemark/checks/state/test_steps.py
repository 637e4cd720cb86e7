"""In which order a plan is carried out, whatever was carried out before."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.checks.state.manifest import JobState, Manifest
from tidemark.checks.state.plan import entry_document, parse_plan
from tidemark.checks.state.script_sources import ScriptSource
from tidemark.checks.state.steps import Action, steps_of
from tidemark.local_state.bookmarks.carry_bookmarks import carry_bookmark, forget_ctx, rename_ctx
from tidemark.local_state.bookmarks.versions import commit_bookmark, latest_bookmark
from tidemark.local_state.store.database import Store

ENABLE = "job-bookmark-enable"


def rename_job(old, new):
    return entry_document("rename_job", from_=old, to=new, bookmark_on_aws="reread")


def ctx(job, old, new):
    return entry_document("rename_ctx", job=job, from_=old, to=new, bookmark_on_aws="reread")


def app(job, source):
    return Manifest({job: JobState("app/Job", ENABLE, sources=(source,))})


HISTORY = (
    rename_job("a", "b"),
    ctx("b", "x", "y"),
    rename_job("b", "c"),
    ctx("c", "y", "z"),
    entry_document("reread", job="c", ctx="z", reason="moved"),
)
NOW = app("c", ScriptSource("z", "s3", ("s3://new/",)))


def carry_out(store, plan, how_many=None):
    for step in steps_of(parse_plan(plan, "plan"), NOW, on_aws=False)[:how_many]:
        match step.action:
            case Action.CARRY_BOOKMARK:
                carry_bookmark(store, step.job, step.to_job)
            case Action.RENAME_CTX:
                rename_ctx(store, step.job, step.ctx, step.to_ctx, 2)
            case Action.FORGET_CTX:
                forget_ctx(store, step.job, step.ctx, step.places, step.keys, 2)


@pytest.mark.nightly
@settings(max_examples=40)
@given(plan=st.permutations(HISTORY), broken_off=st.integers(0, 5), data=st.data())
def test_a_plan_of_many_renames_ends_the_same_in_every_stage_and_after_every_kill(
    tmp_path_factory, plan, broken_off, data
):
    job, name = data.draw(st.sampled_from([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")]))
    place = data.draw(st.sampled_from(["s3://old/", "s3://new/"]))
    with Store(tmp_path_factory.mktemp("home") / "glue.sqlite") as store:
        states = {name: {"kind": "s3", "paths": [place]}, "other": {"kind": "s3"}}
        commit_bookmark(store, job, "jr_1", states, 0, 1)

        carry_out(store, plan, broken_off)
        carry_out(store, plan)
        once = latest_bookmark(store, "c")
        carry_out(store, plan)

        assert set(once.states) == ({"other"} if place == "s3://old/" else {"z", "other"})
        assert latest_bookmark(store, "c") == once


@pytest.mark.parametrize(
    ("keys", "is_forgotten"), [(("id",), True), (("updated_at",), False), ((), False)]
)
def test_position_of_other_bookmark_keys_is_forgotten(tmp_path, keys, is_forgotten):
    plan = [entry_document("reread", job="c", ctx="z", reason="other keys")]
    source = ScriptSource("z", "postgresql", ("orders",), keys)
    (step,) = steps_of(parse_plan(plan, "plan"), app("c", source), on_aws=False)
    state = {"kind": "jdbc", "table": "orders", "keys": ["updated_at"], "order": "asc"}
    with Store(tmp_path / "glue.sqlite") as store:
        commit_bookmark(store, "c", "jr_1", {"z": state}, 0, 1)

        forget_ctx(store, step.job, step.ctx, step.places, step.keys, 2)

        assert ("z" not in latest_bookmark(store, "c").states) is is_forgotten


@pytest.mark.parametrize(
    ("place", "action"),
    [
        ("s3://in/", Action.FORGET_CTX),
        ("s3://in/<day>/", Action.NOTHING),
        ("s3://in/{--day}/", Action.NOTHING),
        ("db.orders", Action.NOTHING),
    ],
)
def test_position_is_forgotten_only_where_its_place_is_known(place, action):
    # Otherwise the position that the job made at its new place would be forgotten too.
    plan = [entry_document("reread", job="c", ctx="z", reason="moved")]

    (step,) = steps_of(
        parse_plan(plan, "plan"), app("c", ScriptSource("z", "s3", (place,))), on_aws=False
    )

    assert step.action is action
