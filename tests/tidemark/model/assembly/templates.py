"""What tests of template share."""

from __future__ import annotations

from tidemark.model.assembly.cloud_assembly import Assembly, Stack
from tidemark.model.assembly.template import read_deployment

SCRIPT = {"Name": "glueetl", "ScriptLocation": "s3://b/job.py"}

JOB = {"Type": "AWS::Glue::Job", "Properties": {"Name": "ingest", "Command": SCRIPT}}


def read(*stacks):
    assembly = Assembly(tuple(Stack(name, template) for name, template in stacks), ())
    return read_deployment(assembly, "eu-west-2")


def read_resources(**resources):
    return read(("app", {"Resources": {"Job": JOB, **resources}}))
