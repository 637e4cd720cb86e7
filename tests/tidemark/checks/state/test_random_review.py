"""Random changes of an app: every loss of state is found, and no other."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tidemark.checks.state.changes import DISABLE, ENABLE, PAUSE, TABLE
from tidemark.checks.state.losses import losses_of
from tidemark.checks.state.manifest import JobState, Manifest, StatefulResource
from tidemark.checks.state.plan import entry_document, parse_plan
from tidemark.checks.state.review import check_writable, review
from tidemark.checks.state.script_sources import ScriptSource

PLACES = st.sampled_from(["s3://p/", "s3://q/"])

SOURCES = st.builds(
    ScriptSource,
    st.sampled_from(["x", "y", "z"]),
    st.just("s3"),
    st.lists(PLACES, min_size=1, max_size=2, unique=True).map(lambda p: tuple(sorted(p))),
)

JOBS = st.builds(
    JobState,
    st.sampled_from(["app/One", "app/Two"]),
    st.sampled_from([ENABLE, PAUSE, DISABLE]),
    st.sampled_from(["", "t", "u"]),
    st.lists(SOURCES, max_size=3, unique_by=lambda s: s.transformation_ctx).map(
        lambda found: tuple(sorted(found))
    ),
    st.lists(st.sampled_from(["id", "rev"]), max_size=2, unique=True).map(tuple),
)

RESOURCES = st.builds(
    StatefulResource,
    st.just(TABLE),
    st.sampled_from(["", "t"]),
    st.sampled_from([(), ("k S HASH",)]),
    st.booleans(),
)

APPS = st.builds(
    Manifest,
    st.dictionaries(st.sampled_from(["a", "b", "c"]), JOBS, max_size=3),
    st.dictionaries(st.sampled_from(["s/T", "s/U"]), RESOURCES, max_size=2),
)


def kept(app):
    """Return every piece of state of an app as what has to stay the same for it to count."""
    facts = set()
    for name, state in app.jobs.items():
        if state.watermark_table:
            facts.add(("watermark", name, state.watermark_table))
            facts |= {("cursor", name, cursor) for cursor in state.cursors}
        if state.has_bookmark:
            facts.add(("bookmark", name, state.resource))
            for found in state.sources:
                facts.add(("ctx", name, found.transformation_ctx))
    for id_, resource in app.resources.items():
        facts.add(("resource", id_, replace(resource, is_retained=True)))
        if resource.is_retained:
            facts.add(("retained", id_))
    return facts


def moved(old, app):
    """Return the contexts that read a place which they did not read before."""
    return {
        ("moved", name, ctx)
        for name in old.jobs.keys() & app.jobs.keys()
        if old.jobs[name].has_bookmark and app.jobs[name].has_bookmark
        for ctx in set(old.jobs[name].ctxs) & set(app.jobs[name].ctxs)
        if app.jobs[name].places_of(ctx) - old.jobs[name].places_of(ctx)
    }


@given(old=APPS, app=APPS)
def test_a_change_is_reported_if_and_only_if_it_loses_state(old, app):
    lost = (kept(old) - kept(app)) | moved(old, app)

    found = losses_of(old, app)

    assert {loss.subject for loss in found} == {fact[1] for fact in lost}


@given(old=APPS, more=APPS)
def test_additions_are_never_reported(old, more):
    jobs = {
        name: replace(
            state,
            sources=state.sources
            + tuple(
                s
                for s in (more.jobs[name].sources if name in more.jobs else ())
                if s.transformation_ctx not in state.ctxs
            ),
        )
        for name, state in old.jobs.items()
    }
    app = Manifest({**more.jobs, **jobs}, {**more.resources, **old.resources})

    found = review(old, app, ())

    assert found.is_safe
    check_writable(found)


def decision(loss):
    """Return the entry that acknowledges a loss, as an operator writes it."""
    if "resource" in loss.kind.value:
        return entry_document("discard", resource=loss.subject, reason="r")
    ctx = {"ctx": loss.ctx} if loss.ctx else {}
    return entry_document("discard", job=loss.subject, **ctx, reason="r")


@given(old=APPS, app=APPS, data=st.data())
def test_each_loss_is_covered_by_its_own_decision_and_by_no_other(old, app, data):
    found = losses_of(old, app)
    entries = {str(entry): entry for entry in map(decision, found)}
    assume(entries)

    assert review(old, app, parse_plan(list(entries.values()), "plan")).is_safe
    left_out = data.draw(st.sampled_from(sorted(entries)))
    others = [entry for text, entry in entries.items() if text != left_out]
    less = review(old, app, parse_plan(others, "plan"))
    assert less.unacknowledged == tuple(f for f in found if str(decision(f)) == left_out)


@given(old=APPS, app=APPS)
def test_what_was_written_with_its_plan_is_up_to_date_and_loses_nothing(old, app):
    entries = {str(entry): entry for entry in map(decision, losses_of(old, app))}
    plan = parse_plan(list(entries.values()), "plan")

    written = Manifest.parse(review(old, app, plan).written.render(), "m")

    again = review(written, app, plan)
    assert again.is_safe
    assert again.is_current


@given(app=APPS, name=st.sampled_from(["a", "b", "c"]))
def test_a_rename_that_says_so_loses_nothing(app, name):
    assume(name in app.jobs)
    jobs = {("new" if key == name else key): state for key, state in app.jobs.items()}
    rename = entry_document("rename_job", from_=name, to="new", bookmark_on_aws="reread")

    assert review(app, replace(app, jobs=jobs), parse_plan([rename], "plan")).is_safe
    state = app.jobs[name]
    is_kept = state.has_bookmark or state.watermark_table
    assert review(app, replace(app, jobs=jobs), ()).is_safe == (not is_kept)
