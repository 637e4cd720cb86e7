"""What Glue refuses of jobs and of their runs."""

from __future__ import annotations

import pytest

from tidemark.glue_service.jobs import check_job, check_run
from tidemark.glue_service.protocol.models import find_faults, find_operation
from tidemark.glue_service.protocol.service_errors import InvalidInputError

SPARK, SHELL = {"Name": "glueetl"}, {"Name": "pythonshell", "PythonVersion": "3.9"}
STREAM, RAY = {"Name": "gluestreaming"}, {"Name": "glueray"}
OLD = {"Name": "glueetl", "PythonVersion": "3"}  # of a job of Glue 2.0
TWO = {"WorkerType": "G.1X", "NumberOfWorkers": 2}


def why_refused(check, *arguments):
    with pytest.raises(InvalidInputError) as caught:
        check(*arguments)
    return str(caught.value)


@pytest.mark.rule("The API on a port", source="JOBS, ADD, BOTO")
@pytest.mark.parametrize(
    ("command", "members", "named"),
    [
        ({"Name": "spark"}, {}, "Command.Name is 'spark'"),
        (SPARK, {"MaxRetries": 11}, "MaxRetries is 11; allowed: 0 to 10"),
        (SPARK, {"MaxRetries": -1}, "MaxRetries is -1"),
        (SPARK, {"ExecutionProperty": {"MaxConcurrentRuns": 0}}, "allowed: 1 or more"),
        (SPARK, {"GlueVersion": "7.0"}, "GlueVersion is '7.0'; allowed: 0.9"),
        (SPARK, {"Timeout": 10_081}, "Timeout is 10081 minutes; allowed: at most 10080"),
        (SPARK, {"WorkerType": "G.1X"}, "Please set both Worker Type and Number of Workers."),
        (SPARK, {**TWO, "NumberOfWorkers": 1}, "minimum allowed value of Number of Workers is 2."),
        (SPARK, {**TWO, "AllocatedCapacity": 2}, "Please do not set Allocated Capacity if"),
        (SPARK, {**TWO, "MaxCapacity": 2.0}, "Please do not set Max Capacity if"),
        (SPARK, {"MaxCapacity": 2.5}, "allowed for glueetl: 2 to 100, in whole DPUs"),
        (SPARK, {"AllocatedCapacity": 1}, "AllocatedCapacity is 1"),
        (SPARK, {"AllocatedCapacity": 2, "MaxCapacity": 2.0}, "set Max Capacity only"),
        (SHELL, {"MaxCapacity": 0.5}, "allowed for pythonshell: 0.0625 or 1"),
        (SHELL, TWO, "Worker Type is not supported for Job Command pythonshell"),
        (SHELL, {"ExecutionClass": "FLEX"}, "FLEX is for the command glueetl"),
        (STREAM, {"ExecutionClass": "FLEX", **TWO}, "FLEX is for the command glueetl"),
        (SPARK, {"ExecutionClass": "FLEX", "GlueVersion": "2.0"}, "needs GlueVersion 3.0"),
        (SPARK, {"ExecutionClass": "FLEX", "GlueVersion": "0.9"}, "needs GlueVersion 3.0"),
        (SPARK, {"GlueVersion": "4.0", "MaxCapacity": 10.0}, "from 2.0 on set Worker Type"),
        (STREAM, {"GlueVersion": "2.0", "AllocatedCapacity": 10}, "from 2.0 on set Worker Type"),
        (SPARK, {"GlueVersion": "auto", **TWO}, "MaxRetries is 0; GlueVersion auto needs 1"),
        (SPARK, {"GlueVersion": "Auto", "MaxRetries": 1}, "GlueVersion is 'Auto'; allowed: 0.9"),
        (SHELL, {"GlueVersion": "auto", "MaxRetries": 1}, "auto is for glueetl and gluestreaming"),
        (RAY, {"GlueVersion": "auto", "MaxRetries": 1}, "auto is for glueetl and gluestreaming"),
        (SPARK, {**TWO, "WorkerType": "G.025X"}, "G.025X is for gluestreaming; the job has"),
        (SPARK, {**TWO, "WorkerType": "Z.2X"}, "Z.2X is for glueray"),
        (RAY, TWO, "G.1X is for glueetl and gluestreaming; the job has glueray"),
        (STREAM, {**TWO, "WorkerType": "G.025X", "GlueVersion": "2.0"}, "needs GlueVersion 3.0"),
        (SPARK, {**TWO, "WorkerType": "G.4X", "GlueVersion": "2.0"}, "needs GlueVersion 3.0"),
        (SPARK, {**TWO, "WorkerType": "R.1X", "GlueVersion": "3.0"}, "needs GlueVersion 4.0"),
        (SPARK, {**TWO, "WorkerType": "G.3X"}, "WorkerType is 'G.3X'; allowed: Standard"),
    ],
)
def test_a_job_that_glue_refuses_is_refused(command, members, named):
    definition = {"Role": "anyone", "Command": command, **members}

    assert named in why_refused(check_job, definition)


@pytest.mark.parametrize(
    ("command", "members"),
    [
        ({}, {}),
        (SPARK, {"MaxRetries": 10, "GlueVersion": "auto", "Timeout": 10_080, **TWO}),
        (STREAM, {"MaxRetries": 1, "GlueVersion": "auto", **TWO, "WorkerType": "G.025X"}),
        (SPARK, {"GlueVersion": "2.0", "WorkerType": "Standard", "NumberOfWorkers": 1}),
        (SPARK, {"GlueVersion": "1.0", "MaxCapacity": 100.0}),
        (SHELL, {"MaxCapacity": 1.0}),
        (SHELL, {"MaxCapacity": 0.0625}),
        ({"Name": "gluestreaming"}, {"WorkerType": "G.025X", "NumberOfWorkers": 2}),
        ({"Name": "glueray"}, {"WorkerType": "Z.2X", "NumberOfWorkers": 1}),
    ],
)
def test_a_job_that_glue_takes_is_taken(command, members):
    check_job({"Role": "anyone", "Command": command, **members})


@pytest.mark.rule("The API on a port", source="RUNS, BOTO")
@pytest.mark.parametrize(
    ("command", "request_", "named"),
    [
        (SPARK, {"NumberOfWorkers": 1}, "To use Worker Type G.1X, minimum"),
        (SPARK, {**TWO, "MaxCapacity": 2.0}, "Please do not set Max Capacity if"),
        (SPARK, {"Timeout": 10_081}, "Timeout is 10081"),
        (SHELL, {"MaxCapacity": 3.0}, "allowed for pythonshell"),
        (SHELL, TWO, "Worker Type is not supported"),
        (SHELL, {"ExecutionClass": "FLEX"}, "FLEX"),
        (OLD, {"ExecutionClass": "FLEX"}, "needs GlueVersion 3.0"),
        (OLD, {"MaxCapacity": 2.0}, "from 2.0 on set Worker Type"),
        (OLD, {**TWO, "WorkerType": "G.4X"}, "needs GlueVersion 3.0"),
        (SPARK, {**TWO, "WorkerType": "G.025X"}, "is for gluestreaming"),
    ],
)
def test_a_run_that_glue_refuses_is_refused(command, request_, named):
    workers = TWO if command == SPARK else {}
    version = {"GlueVersion": "2.0"} if command == OLD else {}
    definition = {"Role": "anyone", "Command": command, **workers, **version}

    check_run(definition, {})
    assert named in why_refused(check_run, definition, request_)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetJob", {"JobName": "two\nlines"}),
        ("TagResource", {"ResourceArn": "arn:aws:glue:r", "TagsToAdd": {"k" * 129: ""}}),
        ("CreateWorkflow", {"Name": "a\x01"}),
    ],
)
def test_what_the_patterns_of_the_model_do_not_match_is_refused(operation, request_):
    assert find_faults(find_operation("glue", operation), request_)


def test_names_have_any_printable_characters():
    assert find_faults(find_operation("glue", "GetJob"), {"JobName": "täglich 日 😀 \t"}) == []
