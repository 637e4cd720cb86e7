"""Parts of small jobs, and what a job of the catalogue is.

Each reads four files, one for each day, of three rows each, and writes `s3://lake/out/`. The days
of the rows go up with the times of the files; ids are unique; `customer` is the same in each file.
"""

from __future__ import annotations

from dataclasses import dataclass, field

BOOKMARK = ("--job-bookmark-option", "job-bookmark-enable")
HEAD = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from pyspark.sql import functions as F

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue = GlueContext(SparkContext.getOrCreate())
spark = glue.spark_session
job = Job(glue)
job.init(args["JOB_NAME"], args)
OUT, SCHEMA = "s3://lake/out/", "id INT, day STRING, customer STRING, amount DOUBLE"
"""
NEW = (
    HEAD
    + """
rows = glue.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://lake/in/"]}, "json", transformation_ctx="rows"
).toDF()
"""
)
ALL = (
    HEAD
    + """
rows = spark.read.schema(SCHEMA).json("s3://lake/in/")
"""
)
WINDOWS = (
    HEAD
    + """
from watermarks import Watermarks, newest, rows_of, write_window

rows = spark.read.schema(SCHEMA).json("s3://lake/in/")
marks = Watermarks()
of_run = {"run_id": args["JOB_RUN_ID"], "cursor": "id"}
"""
)
COMMIT = """
job.commit()
"""
WHERE_ANY = """
if rows.columns:
    """


@dataclass(frozen=True)
class Case:
    """A job and its verdicts.

    Attributes:
        name: of the case.
        script: the program.
        verdicts: the worst verdict of each kind of experiment.
        arguments: of the run.
        ignore: what is not compared.
    """

    name: str
    script: str
    verdicts: dict[str, str]
    arguments: tuple[str, ...] = field(default=BOOKMARK)
    ignore: tuple[str, ...] = ()


def case(
    name: str,
    script: str,
    verdicts: str,
    arguments: tuple[str, ...] = BOOKMARK,
    error: str = "",
    ignore: tuple[str, ...] = (),
) -> Case:
    """Return a case; its verdicts are those of the kinds, in their order.

    They are given by their first letters: e, l, d, c, f, a, and - for not tried. A file that
    arrives while the run writes is `equal`, unless an eighth letter says otherwise; a ninth one is
    for a file that arrives between two listings.
    """
    kinds = ("crash", "again", "parts", "order", "twice", "replaced", "rewind")
    words = {
        "e": "equal",
        "l": "lost",
        "d": "doubled",
        "c": "changed",
        "f": "fails",
        "a": "accepted",
        "-": "not tried",
    }
    of_kinds, arriving = verdicts[: len(kinds)], verdicts[len(kinds) :] or "e"
    expected = {kind: words[one] for kind, one in zip(kinds, of_kinds, strict=True)}
    others = zip(("meanwhile", "reading"), arriving, strict=False)
    expected |= {kind: words[one] for kind, one in others}
    if error:  # else it depends on which tasks were done when one failed
        expected["error"] = error
    return Case(name, script, expected, arguments, ignore)
