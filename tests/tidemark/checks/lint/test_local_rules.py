"""What a script uses and this machine does not run is noted by line, and fails nothing."""

import ast
from pathlib import Path

from tidemark.checks.lint.linter import lint_file
from tidemark.checks.lint.local_rules import local_findings

SCRIPT = """
from awsglue.context import GlueContext
from awsglueml.transforms import *
import awsglue.devutils as tools
import mysql.connector as mysql
context = GlueContext()
KIND = "kafka"
frames = context.create_dynamic_frame
FindMatches.apply(frame=1)
tools.GlueJobUtils(context)
context.start_transaction(True)
mysql.connect().start_transaction()
frames.from_options(connection_type=KIND, connection_options={})
frames.from_options("s3", {"paths": ["s3://a/"]}, "grokLog")
context.write_dynamic_frame.from_options(frame=1, connection_type="opensearch")
context.write_dynamic_frame.from_options(1, "s3", {}, "PARQUET")
context.getSink(path="s3://a/", **{"connection_type": "x"})
context.create_dynamic_frame_from_options(connection_type=kind(), connection_options={})
"""


def test_uses_are_noted_by_line_and_what_is_not_known_is_left_alone():
    found = [(one.place.line, one.severity, one.text) for one in local_findings(ast.parse(SCRIPT))]

    assert [(line, text.split(";")[0]) for line, _, text in found] == [
        (9, "FindMatches does not run locally yet"),
        (10, "GlueJobUtils does not run locally yet"),
        (11, "GlueContext.start_transaction does not run locally yet"),
        (13, "the connection type 'kafka' is not read locally"),
        (14, "the format 'grokLog' is not read locally"),
        (15, "the connection type 'opensearch' is not written locally"),
    ]
    assert {severity for _, severity, _ in found} == {"note"}


def test_a_note_is_acknowledged_as_any_finding(tmp_path: Path):
    script = tmp_path / "job.py"
    script.write_text(
        "from awsglue.context import GlueContext\n"
        "gc = GlueContext()\n"
        "gc.start_transaction(1)  # tidemark: ignore[not-run-locally] on AWS only\n"
        "gc.cancel_transaction(1)\n"
    )

    notes = [one for one in lint_file(script, None).findings if one.severity == "note"]

    assert [(one.rule, one.place.line, one.file) for one in notes] == [
        ("not-run-locally", 4, str(script))
    ]
