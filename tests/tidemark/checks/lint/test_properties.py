"""Scripts put together from right pieces have no finding; without one piece, exactly its own."""

import textwrap
import time
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.checks.lint.linter import lint_source

IMPORTS = """\
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
"""
CONTEXT = """\
args = getResolvedOptions(sys.argv, ["JOB_NAME", "target"])
gc = GlueContext(SparkContext.getOrCreate())
job = Job(gc)
"""
READS = (
    'gc.create_dynamic_frame.from_catalog("db", "t"{ctx})',
    'gc.create_dynamic_frame_from_catalog(database="db", table_name="t"{ctx})',
    'gc.create_dynamic_frame.from_options("s3", {{"paths": ["s3://a/"]}}, "json"{ctx})',
    'gc.create_data_frame.from_options(connection_type="s3", format="csv"{ctx})',
    'gc.getSource("s3", format="json"{ctx})',
    'read("t"{ctx})',
)
READ = """\
def read(table, transformation_ctx=""):
    return gc.create_dynamic_frame.from_catalog(
        database="db", table_name=table, transformation_ctx=transformation_ctx
    )
"""
WORK = (
    "{frame}.toDF().write.mode('append').parquet(args['target'])",
    "gc.write_dynamic_frame.from_options(frame={frame}, connection_type='s3')",
    "if {frame}.count():\n    {frame}.toDF().write.parquet(args['target'])",
    "for part in range(3):\n    {frame}.toDF().write.parquet(args['target'])",
    "try:\n    {frame}.toDF().write.parquet(args['target'])\nexcept Exception:\n    raise",
    "with open('log') as log:\n    {frame}.toDF().write.parquet(args['target'])",
    "if not {frame}:\n    sys.exit('nothing')",
    "if not {frame}:\n    job.commit()\n    sys.exit()",
    "frames = [{frame} for _ in range(2)]",
)
FRAMES = ("{body}", "def main():\n{inner}\n\n\nmain()", "class Main:\n    def run(self):\n{method}")
ENDS = ("", "", "\nMain().run()")


@dataclass(frozen=True)
class Pieces:
    """What a script is made of."""

    sources: tuple[int, ...]
    work: tuple[tuple[int, int], ...]
    frame: int
    has_init: bool = True
    has_commit: bool = True
    without_ctx: int | None = None

    def text(self) -> str:
        """Return the script."""
        lines = ['job.init(args["JOB_NAME"], args)'] if self.has_init else []
        for number, kind in enumerate(self.sources):
            ctx = f', transformation_ctx="source{number}"'
            ctx = "" if number == self.without_ctx else ctx
            lines.append(f"frame{number} = {READS[kind].format(ctx=ctx)}")
        for kind, source in self.work:
            lines.append(WORK[kind].format(frame=f"frame{source % len(self.sources)}"))
        lines += ["job.commit()"] if self.has_commit else []
        body = "\n".join(lines)
        if not self.has_commit:
            body = body.replace("job.commit()", "pass")
        framed = FRAMES[self.frame].format(
            body=body, inner=textwrap.indent(body, " " * 4), method=textwrap.indent(body, " " * 8)
        )
        return f"{IMPORTS}{READ}{CONTEXT}{framed}{ENDS[self.frame]}\n"

    def rules(self) -> list[str]:
        """Return the rules of what is found, if bookmarks are enabled."""
        linted = lint_source(self.text(), "job.py", "job-bookmark-enable")
        return [finding.rule for finding in linted.findings]


scripts = st.builds(
    Pieces,
    sources=st.lists(st.integers(0, len(READS) - 1), min_size=1, max_size=4).map(tuple),
    work=st.lists(
        st.tuples(st.integers(0, len(WORK) - 1), st.integers(0, 3)), min_size=1, max_size=4
    ).map(tuple),
    frame=st.integers(0, len(FRAMES) - 1),
)


@given(scripts)
def test_a_script_of_right_pieces_has_no_finding(pieces: Pieces):
    assert pieces.rules() == []


@given(scripts)
def test_without_init_exactly_that_is_found(pieces: Pieces):
    assert replace(pieces, has_init=False).rules() == ["init-missing"]


@given(scripts)
def test_without_commit_exactly_that_is_found(pieces: Pieces):
    assert replace(pieces, has_commit=False).rules() == ["commit-missing"]


@given(scripts, st.integers(0, 3))
def test_without_a_ctx_exactly_that_is_found(pieces: Pieces, source: int):
    assert replace(pieces, without_ctx=source % len(pieces.sources)).rules() == ["ctx-missing"]


@pytest.mark.parametrize("read", [READS[0], READS[5]], ids=["itself", "a function"])
def test_a_script_of_many_sources_and_ends_is_read_in_no_time(read):
    pieces = [
        f"f{number} = {read.format(ctx=f', transformation_ctx={number!r}')}\nif not f{number}:\n"
        "    return"
        for number in range(80)
    ]
    body = textwrap.indent("\n".join(pieces), "    ")
    begin = f"{IMPORTS}{CONTEXT}{READ}job.init(args['JOB_NAME'], args)\ndef main():\n"
    text = f"{begin}{body}\nmain()\njob.commit()\n"
    started = time.process_time()

    lint_source(text, "job.py", None)

    assert time.process_time() - started < 5  # it was minutes
