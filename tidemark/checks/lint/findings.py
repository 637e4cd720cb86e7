"""The rules of the linter by their stable ids, and one finding of a rule."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from tidemark.checks.script.script_names import ScriptPlace

Severity = Literal["error", "warning", "note"]

# What to do about a finding of each rule; docs/lint.md describes each one.
REMEDIES = {
    "init-missing": (
        "call job.init(args['JOB_NAME'], args) before the first source is opened; without it every "
        "source is read in full"
    ),
    "init-not-on-every-path": "call job.init(args['JOB_NAME'], args) once, first and unconditional",
    "init-without-args": (
        "pass what getResolvedOptions returned: job.init(args['JOB_NAME'], args)"
    ),
    "commit-missing": "make job.commit() the last statement of the job",
    "commit-not-on-every-path": (
        "call job.commit() without a condition, or let each end commit or fail (tidemark prove)"
    ),
    "commit-in-finally": "move job.commit() after the block, as the last statement of the job",
    "commit-after-error": (
        "raise the exception again, or keep it and raise before job.commit(), so that the run "
        "fails and the next one reads the same again"
    ),
    "ctx-missing": "give it its own transformation_ctx, a literal that never changes",
    "ctx-not-literal": "write the transformation_ctx as a literal",
    "ctx-duplicate": "give each operator its own transformation_ctx",
    "dataframe-reader": (
        "read with create_dynamic_frame or create_data_frame and a transformation_ctx, or set "
        "--job-bookmark-option to job-bookmark-disable"
    ),
    "argument-not-passed": (
        "pass it in the job's arguments, or ask for it only if '--name' is in sys.argv"
    ),
    "argument-not-read": "read it with getResolvedOptions, or pass it no longer",
    "argument-abbreviated": "use the same full name on both sides",
    "argument-ambiguous": "rename the argument, or ask for it by its full name in the same call",
    "argument-reserved": "leave it out of the list: getResolvedOptions always returns it",
    "argument-not-requested": "add it to the list given to getResolvedOptions",
    "script-not-in-assembly": (
        "lint the file itself: tidemark lint SCRIPT.py, or define the job with Code.from_asset"
    ),
    "glue-version-missing": "name the version: GlueVersion 5.1, or 6.0 once it is compared",
    "retry-appends": (
        "write with write_window, append_window, merge_window or upsert_jdbc, or overwrite "
        "partitions: docs/automatic-upgrades.md"
    ),
    "overwrites-its-source": (
        "write to another folder, keep what is read with localCheckpoint(), or overwrite only the "
        "partitions that are written (partitionOverwriteMode dynamic); purge after the write"
    ),
    "iceberg-no-catalog": (
        "declare the table, Dataset(..., table=IcebergTable(...)), or set spark.sql.catalog.NAME "
        "and its parts in --conf: docs/iceberg.md"
    ),
    "iceberg-no-format": "give the job --datalake-formats iceberg, or the jar in --extra-jars",
    "iceberg-no-warehouse": (
        "set spark.sql.catalog.NAME.warehouse in --conf, or create the table with LOCATION"
    ),
    "iceberg-bookmark": (
        "leave the transformation_ctx out, or read from snapshot to snapshot: "
        "docs/watermarks-iceberg.md"
    ),
    "extensions-too-late": "set it in --conf of the job, or in the SparkConf of the SparkContext",
    "not-run-locally": "it runs on AWS; docs/reference/awsglue-coverage.md lists what runs here",
    "ignore-invalid": "write # tidemark: ignore[rule-id] and the reason",
}


@dataclass(frozen=True)
class Finding:
    """One finding: an error loses data or fails the run, a warning alone does neither.

    A note fails nothing: it is about this machine, or about what only a run can judge.
    """

    rule: str
    severity: Severity
    place: ScriptPlace
    text: str
    file: str = ""
    job: str | None = None

    @property
    def remedy(self) -> str:
        """Return what to do about it."""
        return REMEDIES[self.rule]

    def as_json(self) -> dict[str, Any]:
        """Return the finding as plain JSON values."""
        place = asdict(self.place)
        names = ("rule", "severity", "file", "text", "remedy", "job")
        return {**{name: getattr(self, name) for name in names}, **place}


def error(rule: str, place: ScriptPlace, text: str) -> Finding:
    """Return a finding that loses data, or fails the run."""
    return Finding(rule, "error", place, text)


def warning(rule: str, place: ScriptPlace, text: str) -> Finding:
    """Return a finding that alone does no harm."""
    return Finding(rule, "warning", place, text)


def note(rule: str, place: ScriptPlace, text: str) -> Finding:
    """Return a finding that fails nothing."""
    return Finding(rule, "note", place, text)
