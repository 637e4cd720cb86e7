"""Lints one script, or each job's script of an assembly with the arguments of the job."""

import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.checks.lint.app import AppJob, read_jobs
from tidemark.checks.lint.argument_rules import JobStart, argument_findings, own_argument_findings
from tidemark.checks.lint.bookmark_rules import bookmark_findings
from tidemark.checks.lint.findings import Finding, error, note, warning
from tidemark.checks.lint.iceberg_rules import (
    IcebergJob,
    extension_findings,
    iceberg_findings,
    reads_of_iceberg,
)
from tidemark.checks.lint.ignores import ignores_of, without_ignored
from tidemark.checks.lint.local_rules import local_findings
from tidemark.checks.lint.script import read_script
from tidemark.checks.script.appends import possible_appends_in
from tidemark.checks.script.overwrites import deleted_sources, read_targets
from tidemark.checks.script.script_names import ScriptPlace
from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import Assembly, FileAsset
from tidemark.model.assembly.definitions import DISABLE, ENABLE, SPARK, STREAMING, bookmark_option
from tidemark.model.assembly.glue_versions import AUTO, UNNAMED_GLUE_VERSION
from tidemark.model.programs import program_of

NOT_SOURCES = {"cdk.out", "node_modules", "site-packages"}


@dataclass(frozen=True)
class Linted:
    """The findings in one script, as one job runs it if a job is known."""

    file: str
    job: str | None
    findings: tuple[Finding, ...]


def lint_source(
    text: str,
    file: str,
    option: str | None,
    starts: tuple[JobStart, ...] = (),
    *,
    is_local: bool = True,
    of_job: Iterable[Finding] = (),
    without_ctx: frozenset[ScriptPlace] = frozenset(),
) -> Linted:
    """Return the findings in a script, by line, with those of its job.

    The calls at `without_ctx` need no transformation_ctx.
    """
    try:
        facts = read_script(text, file)
        arguments = starts[0].arguments if starts else {}
        findings = [*own_argument_findings(facts), *extension_findings(program_of(text)), *of_job]
        findings += overwrite_findings(text, arguments)
        if option in (None, ENABLE):
            without_ctx |= read_targets(text, arguments)
            findings += (
                finding
                for finding in bookmark_findings(facts, is_promised=option is not None)
                if not (finding.rule.startswith("ctx-") and finding.place in without_ctx)
            )
        if starts:
            findings += argument_findings(facts, starts)
        if is_local:
            findings += local_findings(program_of(text))
    except RecursionError as error:
        raise UsageError(f"{file} is nested too deeply to be linted; split it") from error
    kept = without_ignored(findings, ignores_of(text))
    by_line = sorted(kept, key=lambda finding: (finding.place.line, finding.rule))
    return Linted(file, None, tuple(replace(finding, file=file) for finding in by_line))


def lint_file(file: Path, option: str | None) -> Linted:
    """Return the findings in a script that no template is known of."""
    return lint_source(_read(file), str(file), option)


def local_notes(file: Path) -> tuple[Finding, ...]:
    """Return the used names that do not run on this machine; empty if it is not Python."""
    try:
        text = _read(file)
        kept = without_ignored(local_findings(program_of(text)), ignores_of(text))
    except (UsageError, SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(replace(finding, file=str(file)) for finding in kept if finding.severity == "note")


def lint_jobs(assembly: Assembly, project: Path) -> list[Linted]:
    """Return the findings in the script of each job, as its template starts it."""
    assets = {asset.key: asset for asset in assembly.assets if not asset.is_zipped}
    return [_lint_job(job, assets, project) for job in read_jobs(assembly)]


def _lint_job(one: AppJob, assets: Mapping[str, FileAsset], project: Path) -> Linted:
    job = one.job
    location = job.script_location
    of_job = [*version_findings(job.command, one.stated_version)]
    asset = assets.get(location.removeprefix("s3://").partition("/")[2])
    if asset is None:
        text = f"the script of the job is {location}, which the assembly does not hold"
        missing = warning("script-not-in-assembly", ScriptPlace(1, 1), text)
        linted = Linted(location, None, (missing, *of_job))
    else:
        options = {bookmark_option(start.arguments) for start in one.starts}
        option = ENABLE if ENABLE in options and one.has_bookmarks else DISABLE
        text = _read(asset.source)
        file = _original(asset.source, text, project, job.name)
        of_job += retry_findings(text, one.stated_version, job.max_retries)
        iceberg = IcebergJob(one.starts[0].arguments, one.iceberg_tables)
        if job.command in (SPARK, STREAMING):
            of_job += iceberg_findings(text, iceberg, has_bookmarks=option == ENABLE)
        linted = lint_source(
            text,
            file,
            option,
            one.starts,
            is_local=job.command != STREAMING,  # none of these runs here
            of_job=of_job,
            without_ctx=reads_of_iceberg(text, iceberg),
        )
    findings = (replace(finding, file=linted.file, job=job.name) for finding in linted.findings)
    return Linted(linted.file, job.name, tuple(findings))


def scripts_of(path: Path) -> list[Path]:
    """Return the Python files of a folder and of those in it; a file as it is.

    Raises:
        UsageError: the folder has none.
    """
    if not path.is_dir():
        return [path]
    if not (scripts := list(_sources(path))):
        raise UsageError(f"{path} has no file *.py; name the folder of the scripts")
    return scripts


def _original(source: Path, text: str, project: Path, job: str) -> str:
    """Return the file of the project that an asset is a copy of, else the asset."""
    size = source.stat().st_size
    alike = (file for file in _sources(project) if file.stat().st_size == size)
    same = [file for file in alike if _read(file) == text]
    # Files of one content are one asset: take the file that is named like the job.
    if len(same) > 1:
        name = _words(job)
        ends = [file for file in same if name[-len(_words(file.stem)) :] == _words(file.stem)]
        longest = max((len(_words(file.stem)) for file in ends), default=0)
        same = [file for file in ends if len(_words(file.stem)) == longest]
    return str(same[0].relative_to(project)) if len(same) == 1 else str(source)


def _words(name: str) -> list[str]:
    return name.lower().replace("_", "-").split("-")


def _sources(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in NOT_SOURCES or path.is_symlink():
            continue
        if path.is_dir() and not (path / "manifest.json").exists():
            yield from _sources(path)
        elif path.suffix == ".py":
            yield path


def _read(file: Path) -> str:
    try:
        with tokenize.open(file) as script:  # by its coding line, as Python reads it
            return script.read()
    except (OSError, SyntaxError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"cannot read the script {file}: {reason}; name scripts in UTF-8, or their folder"
        ) from error


def version_findings(command: str, stated: str | None) -> Iterator[Finding]:
    """Yield whether a Spark job names no version of Glue, so that AWS chooses.

    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateJob.html
    """
    if stated is None and command in (SPARK, STREAMING):
        text = (
            f"the job names no GlueVersion: this job runs on Spark 4 (Glue {UNNAMED_GLUE_VERSION}) "
            "from now on"
        )
        yield warning("glue-version-missing", ScriptPlace(1, 1), text)


def retry_findings(script: str, stated: str | None, max_retries: int) -> Iterator[Finding]:
    """Yield the writes that add rows, of a job whose failed runs are tried again.

    Source: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-managing-auto-upgrade.html
    """
    if max_retries < 1:
        return
    why = "after a failed upgrade" if stated == AUTO else f"(MaxRetries is {max_retries})"
    for append in possible_appends_in(script):
        if append.is_certain:
            text = f"{append.name} adds rows: a retry {why} can add its rows twice"
            yield warning("retry-appends", append.place, text)
        else:
            text = f"only a run knows whether {append.name} adds rows, which a retry {why} repeats"
            yield note("retry-appends", append.place, text)


def overwrite_findings(script: str, arguments: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the calls that delete data which the script reads later, when it writes."""
    for deleted in deleted_sources(script, arguments):
        is_purge = deleted.write_line != deleted.place.line
        when = f"and line {deleted.write_line} has yet to write it" if is_purge else "first"
        text = (
            f"it deletes {deleted.data} {when}, which line {deleted.read_line} reads: Spark reads "
            "rows when it writes them"
        )
        yield error("overwrites-its-source", deleted.place, text)
