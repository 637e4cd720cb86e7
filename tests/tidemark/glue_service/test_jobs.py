"""Glue's operations on jobs, by boto3."""

from __future__ import annotations

import pytest

COMMAND = {"Name": "glueetl", "ScriptLocation": "s3://scripts/a.py", "PythonVersion": "3"}


def create(port, name, **members):
    port.glue.create_job(Name=name, Role="anyone", Command=COMMAND, **members)
    return name


def test_a_job_is_returned_as_it_was_defined_with_the_defaults_of_glue(port):
    given = {
        "Description": "loads",
        "DefaultArguments": {"--a": "1"},
        "NonOverridableArguments": {"--b": "2"},
        "MaxRetries": 2,
        "Timeout": 7,
        "WorkerType": "G.2X",
        "NumberOfWorkers": 3,
        "ExecutionProperty": {"MaxConcurrentRuns": 4},
        "GlueVersion": "5.0",
    }
    create(port, "full", **given)
    create(port, "bare")

    full = port.glue.get_job(JobName="full")["Job"]
    bare = port.glue.get_job(JobName="bare")["Job"]

    assert given.items() <= full.items()
    assert (full["Name"], full["Role"], full["Command"]) == ("full", "anyone", COMMAND)
    assert full["MaxCapacity"] == 6.0
    assert full["CreatedOn"] == full["LastModifiedOn"]
    assert (bare["MaxRetries"], bare["Timeout"], bare["GlueVersion"]) == (0, 480, "6.0")
    assert (bare["MaxCapacity"], bare["ExecutionProperty"]) == (10.0, {"MaxConcurrentRuns": 1})


@pytest.mark.on_aws
@pytest.mark.rule("The API on a port", source="JOBS")
def test_an_update_is_the_whole_definition(port):
    create(port, "updated", Description="old", Tags={"k": "v"})
    update = {"Role": "other", "Command": COMMAND, "MaxRetries": 1}

    port.glue.update_job(JobName="updated", JobUpdate=update)

    job = port.glue.get_job(JobName="updated")["Job"]
    assert (job["Role"], job["MaxRetries"], "Description" in job) == ("other", 1, False)
    arn = port.arn("job/updated")
    assert port.glue.get_tags(ResourceArn=arn)["Tags"] == {"k": "v"}


@pytest.mark.on_aws
@pytest.mark.rule("The API on a port", source="JOBS")
def test_deleting_a_missing_job_changes_nothing(port):
    create(port, "short-lived")

    assert port.glue.delete_job(JobName="short-lived")["JobName"] == "short-lived"
    assert port.glue.delete_job(JobName="short-lived")["JobName"] == "short-lived"

    with pytest.raises(port.glue.exceptions.EntityNotFoundException):
        port.glue.get_job(JobName="short-lived")


def test_jobs_come_in_pages_by_name_and_names_by_tags(port):
    for number in range(5):
        create(port, f"paged-{number}", Tags={"page": str(number % 2)})

    pages = port.glue.get_paginator("get_jobs").paginate(PaginationConfig={"PageSize": 2})
    names = [[job["Name"] for job in page["Jobs"]] for page in pages]
    tagged = port.glue.list_jobs(Tags={"page": "1"})["JobNames"]
    several = port.glue.batch_get_jobs(JobNames=["paged-1", "nobody", "paged-0"])

    assert max(map(len, names)) == 2
    assert [n for page in names for n in page if n.startswith("paged")] == [
        f"paged-{number}" for number in range(5)
    ]
    assert tagged == ["paged-1", "paged-3"]
    assert [job["Name"] for job in several["Jobs"]] == ["paged-1", "paged-0"]
    assert several["JobsNotFound"] == ["nobody"]


def test_a_second_job_of_a_name_is_refused(port):
    create(port, "twice")

    with pytest.raises(port.glue.exceptions.AlreadyExistsException):
        create(port, "twice")


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"WorkerType": "G.3X"}, "G.1X"),
        ({"Timeout": 0}, "Timeout"),
        ({"MaxRetries": 11}, "MaxRetries is 11"),
        ({"Tags": {"aws:cloudformation:stack-name": "mine"}}, "reserved for AWS"),
        ({"Description": "d" * 2049}, "2048"),
        ({"Tags": {str(n): "" for n in range(51)}}, "50"),
    ],
)
def test_what_glue_refuses_is_refused(port, members, named):
    glue = port.client("glue", parameter_validation=False)

    with pytest.raises(glue.exceptions.InvalidInputException, match=named):
        glue.create_job(Name="wrong", Role="anyone", Command=COMMAND, **members)

    assert "wrong" not in port.glue.list_jobs()["JobNames"]
