"""Changes of an app that lose state."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tidemark.checks.state.changes import DISABLE, ENABLE, PAUSE, TABLE
from tidemark.checks.state.losses import LossKind, losses_of
from tidemark.checks.state.manifest import CONTRACT, JobState, Manifest, StatefulResource
from tidemark.checks.state.plan import entry_document, parse_plan
from tidemark.checks.state.review import changes, check_writable, review
from tidemark.checks.state.script_sources import ScriptSource
from tidemark.errors import TidemarkError


def source(ctx, *places, keys=()):
    return ScriptSource(ctx, "s3", places or (f"s3://{ctx}/",), keys)


def job(*ctxs, bookmark=ENABLE, table="", resource="app/Job"):
    sources = tuple(ctx if isinstance(ctx, ScriptSource) else source(ctx) for ctx in ctxs)
    return JobState(resource, bookmark, table, sources)


def windows(*cursors):
    return replace(job(table="t", bookmark=DISABLE), cursors=cursors)


def stream(checkpoint):
    return replace(job(bookmark=DISABLE), checkpoint=checkpoint)


def kinds(old, app):
    found = losses_of(Manifest(old), Manifest(app))
    return [(loss.kind, loss.subject, loss.ctx) for loss in found]


def reviewed(old, app, *entries):
    return review(Manifest(old), Manifest(app), parse_plan(list(entries), "plan"))


A, AB = job("a"), job("a", "b")


@pytest.mark.parametrize(
    ("old", "app", "found"),
    [
        (A, None, [(LossKind.BOOKMARK_GONE, "")]),
        (job(table="t", bookmark=DISABLE), None, [(LossKind.WATERMARK_GONE, "")]),
        (job("a", table="t"), None, [(LossKind.WATERMARK_GONE, ""), (LossKind.BOOKMARK_GONE, "")]),
        (job(bookmark=DISABLE), None, []),
        (A, replace(A, bookmark=DISABLE), [(LossKind.BOOKMARK_DISABLED, "")]),
        (A, replace(A, bookmark=PAUSE), []),
        (replace(A, bookmark=PAUSE), job(bookmark=DISABLE), [(LossKind.BOOKMARK_DISABLED, "")]),
        (A, replace(A, resource="other/Job"), [(LossKind.JOB_REPLACED, "")]),
        (job(table="t", bookmark=DISABLE), job(table="t", bookmark=DISABLE, resource="x"), []),
        (AB, A, [(LossKind.CTX_GONE, "b")]),
        (A, job("b"), [(LossKind.CTX_GONE, "a")]),
        (A, replace(A, sources=None), [(LossKind.CTX_GONE, "a")]),
        (A, job(source("a", "s3://x/")), [(LossKind.SOURCE_MOVED, "a")]),
        (A, job(source("a", "s3://a/", "s3://x/")), [(LossKind.SOURCE_MOVED, "a")]),
        (job(source("a", "s3://a/", "s3://x/")), A, []),
        (A, job(source("a", keys=("id",))), [(LossKind.SOURCE_MOVED, "a")]),
        (job(table="t"), job(), [(LossKind.WATERMARK_GONE, "")]),
        (job(table="t"), job(table="u"), [(LossKind.WATERMARK_MOVED, "")]),
        (windows("id"), windows("id", "rev"), []),
        (windows("id"), windows("rev"), [(LossKind.CURSOR_GONE, "id")]),
        (windows("id"), windows(), [(LossKind.CURSOR_GONE, "id")]),
        (windows(), windows("id"), []),
        (stream("s3://a/"), stream("s3://a/"), []),
        (stream("s3://a/"), stream("s3://b/"), [(LossKind.CHECKPOINT_GONE, "")]),
        (stream("s3://a/"), stream(""), [(LossKind.CHECKPOINT_GONE, "")]),
        (stream("s3://a/"), None, [(LossKind.CHECKPOINT_GONE, "")]),
        (stream(""), stream("s3://a/"), []),
    ],
)
def test_every_way_to_lose_state_of_a_job_is_found(old, app, found):
    now = {} if app is None else {"ingest": app}

    assert kinds({"ingest": old}, now) == [(kind, "ingest", ctx) for kind, ctx in found]


def test_a_checkpoint_goes_with_a_job_that_is_renamed():
    old, now = {"ingest": stream("s3://a/")}, {"load": stream("s3://a/")}

    assert kinds(old, now) == []


def test_a_checkpoint_that_is_left_is_acknowledged_by_reread_or_discard():
    old = {"clicks": stream("s3://a/")}
    reread = {"reread": {"job": "clicks", "reason": "r"}}
    discard = {"discard": {"job": "clicks", "reason": "r"}}

    assert reviewed(old, {"clicks": stream("s3://b/")}, reread).is_safe
    assert reviewed(old, {}, discard).is_safe
    assert not reviewed(old, {"clicks": stream("s3://b/")}).is_safe


def test_loss_says_what_is_lost_and_what_to_do():
    (loss,) = losses_of(Manifest({"old": job("a")}), Manifest({"new": job("a")}))

    assert loss.kind is LossKind.BOOKMARK_GONE
    assert "AWS deletes the bookmark with the job" in loss.lost
    assert (
        '{"rename_job": {"from": "old", "to": "new", "bookmark_on_aws": "reread"}}' in loss.remedy
    )


def test_new_job_with_the_same_sources_is_suggested_among_several():
    app = {"x": job("c"), "y": job("a"), "z": job(table="t")}

    (loss,) = losses_of(Manifest({"old": job("a")}), Manifest(app))

    assert '"to": "y"' in loss.remedy


def test_no_job_is_suggested_that_was_there_before():
    old = {"old": job("a"), "other": job("a")}

    (loss,) = losses_of(Manifest(old), Manifest({"other": job("a")}))

    assert '"to": "NEW-NAME"' in loss.remedy


def test_new_ctx_with_the_same_place_is_suggested():
    old, app = job(source("a", "s3://x/")), job(source("b", "s3://y/"), source("c", "s3://x/"))

    (loss,) = losses_of(Manifest({"j": old}), Manifest({"j": app}))

    assert '"from": "a", "to": "c"' in loss.remedy


@pytest.mark.parametrize(
    ("now", "kind"),
    [
        (None, LossKind.RESOURCE_GONE),
        (StatefulResource(TABLE, "u", ("k S HASH",)), LossKind.RESOURCE_REPLACED),
        (StatefulResource(TABLE, "t", ("k N HASH",)), LossKind.RESOURCE_REPLACED),
        (StatefulResource("AWS::S3::Bucket", "t", ("k S HASH",)), LossKind.RESOURCE_REPLACED),
        (StatefulResource(TABLE, "t", ("k S HASH",), False), LossKind.RESOURCE_NOT_RETAINED),
    ],
)
def test_table_that_is_replaced_or_not_kept_is_found(now, kind):
    old = Manifest(resources={"s/T": StatefulResource(TABLE, "t", ("k S HASH",))})
    app = Manifest(resources={"s/T": now} if now else {})

    (loss,) = losses_of(old, app)

    assert (loss.kind, loss.subject) == (kind, "s/T")
    plan = parse_plan([entry_document("discard", resource="s/T", reason="x")], "plan")
    assert review(old, app, plan).is_safe


def test_a_table_of_the_catalog_with_other_partition_keys_is_not_taken_for_a_new_one():
    def tables(keys):
        return Manifest(resources={"s/T": StatefulResource("AWS::Glue::Table", "db.t", keys)})

    (loss,) = losses_of(tables(("day date",)), tables(("day date", "hour int")))

    assert (loss.kind, loss.subject) == (LossKind.RESOURCE_REPLACED, "s/T")
    assert "new, empty" not in loss.lost
    assert "other keys" in loss.lost


def test_rename_covers_the_watermark_and_what_aws_cannot_do_has_to_be_said():
    old, app = {"a": job("x", table="t")}, {"b": job("x", table="t")}

    silent = reviewed(old, app, entry_document("rename_job", from_="a", to="b"))
    said = entry_document("rename_job", from_="a", to="b", bookmark_on_aws="reread")

    assert [loss.kind for loss in silent.unacknowledged] == [LossKind.BOOKMARK_RENAMED]
    assert [loss.kind for loss, _ in silent.acknowledged] == [LossKind.WATERMARK_RENAMED]
    assert reviewed(old, app, said).is_safe


def test_rename_of_a_job_shows_what_else_was_changed():
    rename = entry_document("rename_job", from_="a", to="b", bookmark_on_aws="reread")

    found = reviewed({"a": job("x", table="t")}, {"b": job("y", table="u")}, rename)

    assert [(f.kind, f.subject, f.ctx) for f in found.unacknowledged] == [
        (LossKind.WATERMARK_MOVED, "b", ""),
        (LossKind.CTX_GONE, "b", "x"),
    ]


def test_renames_of_job_and_ctx_go_together():
    found = reviewed(
        {"a": job(source("x", "s3://p/"))},
        {"b": job(source("y", "s3://p/"))},
        entry_document("rename_job", from_="a", to="b", bookmark_on_aws="reread"),
        entry_document("rename_ctx", job="b", from_="x", to="y", bookmark_on_aws="reread"),
    )

    assert found.is_safe


def test_rename_of_a_ctx_does_not_hide_another_place():
    found = reviewed(
        {"j": job(source("x", "s3://p/"))},
        {"j": job(source("y", "s3://q/"))},
        entry_document("rename_ctx", job="j", from_="x", to="y", bookmark_on_aws="reread"),
    )

    assert [(f.kind, f.ctx) for f in found.unacknowledged] == [(LossKind.SOURCE_MOVED, "y")]


def test_ctx_that_takes_the_name_of_a_renamed_one_is_refused():
    # Carried out twice, the second rename would take away what the first has made.
    found = reviewed(
        {"j": job("x", "y")},
        {"j": job("y", "z")},
        entry_document("rename_ctx", job="j", from_="y", to="z", bookmark_on_aws="reread"),
        entry_document("rename_ctx", job="j", from_="x", to="y", bookmark_on_aws="reread"),
    )

    ((entry, why),) = found.unused
    assert entry.document["rename_ctx"]["from"] == "y"
    assert "job 'j' has the ctx 'y' still" in why


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (entry_document("discard", job="j", reason="x"), "nothing that it speaks of"),
        (entry_document("discard", job="j", ctx="a", reason="x"), "nothing that it speaks of"),
        (entry_document("reread", job="nobody", reason="x"), "nothing that it speaks of"),
        (entry_document("rename_job", from_="j", to="k"), "the app has a job 'j'"),
        (entry_document("rename_job", from_="x", to="j"), "the manifest has no job 'x'"),
        (entry_document("rename_job", from_="gone", to="x"), "the app has no job 'x'"),
        (entry_document("rename_job", from_="gone", to="j"), "the manifest has a job 'j' already"),
    ],
)
def test_entry_that_covers_nothing_is_an_error(entry, why):
    old = {"j": job("a"), "gone": job(bookmark=DISABLE)}

    found = reviewed(old, {"j": job("a")}, entry)

    ((_, told),) = found.unused
    assert why in told
    assert not found.is_safe
    with pytest.raises(TidemarkError, match="entries that cover nothing: 1"):
        check_writable(found)


def test_entry_covers_only_what_it_names():
    entry = entry_document("discard", job="j", ctx="a", reason="x")

    found = reviewed({"j": job("a", "b"), "k": job("a")}, {"j": job(), "k": job()}, entry)

    assert [(f.subject, f.ctx) for f in found.unacknowledged] == [("j", "b"), ("k", "a")]


def test_state_that_nobody_gave_up_is_never_dropped_from_the_manifest():
    with pytest.raises(TidemarkError, match="losses that no one acknowledged: 1"):
        check_writable(reviewed({"j": job("a")}, {}))


def test_recorded_entry_stays_until_it_is_carried_out_everywhere():
    rename = entry_document("rename_job", from_="a", to="b")
    old, app = (
        Manifest({"a": job(table="t", bookmark=DISABLE)}),
        Manifest({"b": job(table="t", bookmark=DISABLE)}),
    )
    plan = parse_plan([rename], "plan")

    written = review(old, app, plan).written

    assert written.carry_over == (rename,)
    assert review(written, app, plan).is_safe
    assert review(written, app, plan).is_current
    without = review(written, app, ())
    assert without.is_safe
    assert changes(without.recorded, without.written) == [
        "state-carry-over.json: 0 entries, and the manifest has 1"
    ]


def test_recorded_entry_covers_no_later_loss():
    give_up = entry_document("discard", job="a", reason="x")
    plan = parse_plan([give_up], "plan")
    written = review(Manifest({"a": job("x")}), Manifest(), plan).written

    again = review(replace(written, jobs={"a": job("x")}), Manifest(), plan)

    assert [loss.kind for loss in again.unacknowledged] == [LossKind.BOOKMARK_GONE]


def test_recorded_rename_is_an_error_once_a_job_has_the_old_name_again():
    plan = parse_plan([entry_document("rename_job", from_="a", to="b")], "plan")
    app = Manifest({"b": job(table="t", bookmark=DISABLE)})
    written = review(Manifest({"a": app.jobs["b"]}), app, plan).written

    found = review(written, Manifest({**app.jobs, "a": job()}), plan)

    assert "whose state would be taken away" in found.unused[0][1]


def test_changes_are_told_by_name():
    old = Manifest({"a": job("x"), "b": job()}, {"s/B": StatefulResource("AWS::S3::Bucket")})
    new = Manifest({"a": job("x", "y"), "c": job()})

    assert changes(old, new) == [
        "job a: changed",
        "job b: gone",
        "job c: added",
        "resource s/B: gone",
    ]


def test_a_table_of_iceberg_in_another_folder_is_left_behind():
    was, now = (
        Manifest(
            {}, {"iceberg/sales.orders": StatefulResource("Iceberg table", "sales.orders", (u,))}
        )
        for u in ("s3://lake/orders/", "s3://lake/others/")
    )

    (moved,) = losses_of(was, now)
    (gone,) = losses_of(was, Manifest({}))

    assert moved.kind is LossKind.RESOURCE_REPLACED
    assert moved.lost == (
        "its folder was s3://lake/orders/ and is s3://lake/others/: the table stays in its folder, "
        "where its jobs may no longer read and write"
    )
    assert gone.lost == (
        "the Iceberg table is no longer part of the app: it stays, but nothing uses it"
    )


def contract(*columns):
    return Manifest(resources={"contract/s3://lake/out/": StatefulResource(CONTRACT, "", columns)})


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (("id int", "amount decimal(10,2)"), ""),
        (("amount decimal(12,2)", "id bigint", "tip double"), ""),
        (("id int",), "amount was decimal(10,2) and is gone"),
        (("id string", "amount decimal(10,2)"), "id was int and is string"),
        (("id int", "amount decimal(10,3)"), "amount was decimal(10,2) and is decimal(10,3)"),
    ],
)
def test_columns_of_a_contract_may_be_added_and_get_wider_types(columns, told):
    losses = losses_of(contract("id int", "amount decimal(10,2)"), contract(*columns))

    assert [(loss.kind, loss.lost.partition(":")[0]) for loss in losses] == (
        [(LossKind.COLUMNS_CHANGED, told)] if told else []
    )


def test_a_contract_that_goes_promises_nothing_and_one_that_breaks_its_promise_is_acknowledged():
    was, now = contract("id int"), contract("id string")
    discard = entry_document("discard", resource="contract/s3://lake/out/", reason="written anew")

    assert losses_of(was, Manifest()) == []
    assert review(was, now, parse_plan([discard], "plan")).is_safe
    assert not review(was, now, ()).is_safe
