"""What an app keeps, read out of its cloud assembly."""

from __future__ import annotations

import pytest

from tidemark.checks.state.manifest import JobState, Manifest, StatefulResource, read_manifest
from tidemark.checks.state.read_app import read_app_folder
from tidemark.checks.state.script_sources import ScriptSource
from tidemark.errors import UsageError

ENABLE = {"job__bookmark__option": "job-bookmark-enable"}
KEYS = {
    "KeySchema": [
        {"AttributeName": "jobName", "KeyType": "HASH"},
        {"AttributeName": "runId", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "jobName", "AttributeType": "S"},
        {"AttributeName": "runId", "AttributeType": "S"},
    ],
}
RETAIN = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "RetainExceptOnCreate"}


def test_job_is_read_with_the_places_that_its_arguments_name(write_app, job_resource):
    job = job_resource("ingest", source_path="s3://landing/in/", **ENABLE)

    app = read_app_folder(write_app({"app": {"Ingest": job}}))

    source = ScriptSource("landed", "s3", ("s3://landing/in/",))
    assert app.jobs == {
        "ingest": JobState("app/Ingest", "job-bookmark-enable", sources=(source,)),
    }


def test_what_triggers_pass_alike_counts_over_the_defaults_of_the_job(write_app, job_resource):
    def trigger(**passed):
        actions = [{"JobName": "ingest", "Arguments": passed}]
        properties = {"Type": "ON_DEMAND", "Actions": actions}
        return {"Type": "AWS::Glue::Trigger", "Properties": properties}

    job = job_resource("ingest", source_path="s3://landing/in/", **ENABLE)
    to_other = trigger(**{"--source_path": "s3://landing/other/"})
    places = [
        read_app_folder(
            write_app({"app": {"Ingest": job, **dict(zip("ST", triggers, strict=False))}})
        )
        .jobs["ingest"]
        .sources[0]
        .places
        for triggers in ([to_other], [to_other, to_other], [to_other, trigger()])
    ]

    assert places == [("s3://landing/other/",)] * 2 + [("s3://landing/in/",)]


def test_names_are_the_same_for_every_stage(write_app, job_resource):
    apps = []
    for stage in ("dev", "prod"):
        bucket = {"Type": "AWS::S3::Bucket", **RETAIN, "Properties": {}}
        export = {"Value": {"Ref": "Landing"}, "Export": {"Name": f"{stage}-landing"}}
        path = {"Fn::Join": ["", ["s3://", {"Fn::ImportValue": f"{stage}-landing"}, "/dev/"]]}
        job = job_resource("ingest", source_path=path, watermark_table="marks", **ENABLE)
        stacks = {f"my-{stage}-storage": {"Landing": bucket}, f"my-{stage}": {"Ingest": job}}
        outputs = {f"my-{stage}-storage": {"Out": export}}
        apps.append(read_app_folder(write_app(stacks, None, outputs), ["dev", "prod"]))

    assert apps[0] == apps[1]
    job = apps[0].jobs["ingest"]
    assert (job.resource, job.watermark_table) == ("my-{stage}/Ingest", "marks")
    # A stage is part of names, not of folders.
    assert job.sources[0].places == ("s3://my-{stage}-storage-landing/dev/",)
    assert list(apps[0].resources) == ["my-{stage}-storage/Landing"]


def test_stage_is_a_word_of_a_name_not_a_part_of_one(write_app, job_resource):
    folder = write_app({"devices-dev": {"Job": job_resource("a")}})

    assert read_app_folder(folder, ["dev"]).jobs["a"].resource == "devices-{stage}/Job"


def test_tables_buckets_and_keys_are_read_with_what_replaces_them(write_app):
    table = {"Type": "AWS::DynamoDB::Table", **RETAIN, "Properties": {"TableName": "t", **KEYS}}
    bucket = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain", "Properties": {}}
    key = {"Type": "AWS::KMS::Key", **RETAIN, "Properties": {}}
    topic = {"Type": "AWS::SNS::Topic", "Properties": {}}

    app = read_app_folder(write_app({"s": {"T": table, "B": bucket, "K": key, "N": topic}}))

    assert app.resources == {
        "s/T": StatefulResource("AWS::DynamoDB::Table", "t", ("jobName S HASH", "runId S RANGE")),
        "s/B": StatefulResource("AWS::S3::Bucket", is_retained=False),
        "s/K": StatefulResource("AWS::KMS::Key"),
    }


def test_tables_of_the_catalog_are_kept_where_it_holds_more_than_the_template(write_app):
    def table(name, **parameters):
        keys = [{"Name": "day", "Type": "date"}]
        given = {"Name": name, "PartitionKeys": keys, "Parameters": parameters}
        return {
            "Type": "AWS::Glue::Table",
            **RETAIN,
            "Properties": {"DatabaseName": {"Ref": "Sales"}, "TableInput": given},
        }

    iceberg, plain = table("events"), table("plain")
    for one in (iceberg, plain):
        del one["Properties"]["TableInput"]["PartitionKeys"]
    snapshots = {"IcebergInput": {"MetadataOperation": "CREATE"}}
    iceberg["Properties"]["OpenTableFormatInput"] = snapshots
    database = {"Type": "AWS::Glue::Database", "Properties": {"DatabaseInput": {"Name": "sales"}}}

    app = read_app_folder(
        write_app(
            {
                "s": {
                    "Sales": database,
                    "Registered": table("orders"),
                    "Projected": table("clicks", **{"projection.enabled": "true"}),
                    "Iceberg": iceberg,
                    "Plain": plain,
                }
            }
        )
    )

    assert app.resources == {
        "s/Sales": StatefulResource("AWS::Glue::Database", "sales", is_retained=False),
        "s/Registered": StatefulResource("AWS::Glue::Table", "sales.orders", ("day date",)),
        "s/Iceberg": StatefulResource("AWS::Glue::Table", "sales.events"),
    }


def test_a_table_of_iceberg_is_state_of_the_jobs_that_write_it(write_app, job_resource):
    uri = {"Fn::Join": ["", ["s3://lake-dev-", {"Ref": "AWS::AccountId"}, "/orders/"]]}
    job = job_resource("merge")
    written = {"uri": uri, "table": "sales_dev.orders", "format": "iceberg", "made": True}
    job["Metadata"] = {"Tidemark": {"writes": [written, {"uri": "s3://lake/plain/"}]}}

    app = read_app_folder(write_app({"app": {"Job": job}}), ["dev"])

    assert app.resources == {
        "iceberg/sales_{stage}.orders": StatefulResource(
            "Iceberg table", "sales_{stage}.orders", ("s3://lake-{stage}-000000000000/orders/",)
        )
    }
    assert Manifest.parse(app.render(), "m") == app


def test_the_columns_of_a_contract_are_state_of_the_jobs_that_write_the_data(
    write_app, job_resource
):
    fields = {"id": "bigint", "at": "struct<day:date,hour:int>"}
    job = job_resource("merge")
    modes = {"columns": "freeze", "types": "freeze", "missing": "freeze"}
    held = {"uri": "s3://lake-dev/orders/", "schema": {"fields": fields, **modes}}
    open_ = {"uri": "s3://lake-dev/open/", "schema": {"fields": {}, **modes}}
    job["Metadata"] = {"Tidemark": {"writes": [held, open_], "reads": [held | {"uri": "s3://r/"}]}}

    app = read_app_folder(write_app({"app": {"Job": job}}), ["dev"])

    assert app.resources == {
        "contract/s3://lake-{stage}/orders/": StatefulResource(
            "Schema contract", "", ("id bigint", "at struct<day:date,hour:int>")
        )
    }
    assert Manifest.parse(app.render(), "m") == app


def test_job_with_watermarks_is_read_with_its_cursors(write_app, job_resource):
    script = 'marks.windows(job_id=job, run_id=run, cursor=args["cursor"], high=high)'
    job = job_resource("a", watermark_table="marks", cursor="updated_at")

    app = read_app_folder(write_app({"app": {"Job": job}}, {"script.py": script}))

    assert app.jobs["a"].cursors == ("updated_at",)
    assert Manifest.parse(app.render(), "m") == app


def test_the_checkpoint_of_a_streaming_job_is_read_and_of_no_other(write_app, job_resource):
    job = job_resource("a", checkpoint="s3://lake/state/")
    clicks = job_resource("b", checkpoint="s3://lake/state/")
    clicks["Properties"]["Command"]["Name"] = "gluestreaming"

    app = read_app_folder(write_app({"app": {"Job": job, "Clicks": clicks}}))

    assert [state.checkpoint for state in app.jobs.values()] == ["", "s3://lake/state/"]
    assert Manifest.parse(app.render(), "m") == app


def test_job_without_a_bookmark_has_no_bookmarked_sources(write_app, job_resource):
    app = read_app_folder(write_app({"app": {"Job": job_resource("a")}}))

    assert app.jobs["a"] == JobState("app/Job", "job-bookmark-disable", sources=())


def test_arguments_that_cannot_be_overridden_win(write_app, job_resource):
    job = job_resource("a", job__bookmark__option="job-bookmark-disable")
    job["Properties"]["NonOverridableArguments"] = {"--job-bookmark-option": "job-bookmark-pause"}

    app = read_app_folder(write_app({"app": {"Job": job}}))

    assert app.jobs["a"].bookmark == "job-bookmark-pause"


def test_script_that_is_not_part_of_the_app_is_unknown(write_app, job_resource):
    app = read_app_folder(write_app({"app": {"Job": job_resource("a", "other.py", **ENABLE)}}))

    assert app.jobs["a"].sources is None
    assert Manifest.parse(app.render(), "m") == app


def test_two_jobs_of_one_name_are_refused(write_app, job_resource):
    with pytest.raises(UsageError, match="two jobs named 'a'"):
        read_app_folder(write_app({"app": {"One": job_resource("a"), "Two": job_resource("a")}}))


def test_what_no_cdk_wrote_is_refused(write_app):
    with pytest.raises(UsageError, match=r"could not be deployed \(KeyError: 'Type'\)"):
        read_app_folder(write_app({"app": {"Job": {}}}))


def test_manifest_comes_back_from_its_file_and_says_nothing_of_this_machine(
    write_app, job_resource, tmp_path
):
    job = job_resource("ingest", source_path="s3://landing/in/", **ENABLE)
    app = read_app_folder(write_app({"app": {"Ingest": job}}))

    text = app.render()

    assert Manifest.parse(text, "m") == app
    assert str(tmp_path) not in text
    assert "000000000000" not in text


def test_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "state-manifest.json"
    path.write_bytes(b"\xff")

    with pytest.raises(UsageError, match=r"cannot read .*; restore the file"):
        read_manifest(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not a state manifest"),
        ("[]", "is not a state manifest"),
        (
            "<<<<<<< HEAD",
            "after a merge that of the branch you merge into, and run `tidemark state write`",
        ),
        ('{"version": 1, "jobs": {"a": 1, "a": 2}}', "the key 'a' occurs 2 times in one object"),
        ('{"version": 1}', "is not a state manifest"),
        ('{"version": 7}', "has version 7, this Tidemark knows 1"),
    ],
)
def test_file_that_is_no_manifest_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        Manifest.parse(text, "state-manifest.json")


def test_stages_are_known_by_the_tags_of_the_constructs(write_app, job_resource):
    apps = []
    for stage in ("one", "two"):
        job = job_resource("ingest", source_path=f"s3://acme-{stage}-raw/in/", **ENABLE)
        job["Properties"]["Tags"] = {"tidemark:stage": stage}
        table = {"Type": "AWS::DynamoDB::Table", **RETAIN, "Properties": KEYS}
        apps.append(read_app_folder(write_app({f"acme-{stage}": {"Job": job, "Marks": table}})))

    assert apps[0] == apps[1]
    assert list(apps[0].resources) == ["acme-{stage}/Marks"]


def test_what_only_aws_knows_is_no_reason_not_to_look(write_app, job_resource):
    path = {"Fn::Join": ["", ["s3://", {"Fn::ImportValue": "theirs"}, "/in/"]]}
    folder = write_app({"app": {"Job": job_resource("ingest", source_path=path, **ENABLE)}})

    (source,) = read_app_folder(folder).jobs["ingest"].sources

    assert source.places == ("s3://{import theirs}/in/",)
