"""The command `lint`: what loses bookmarks or fails runs, found without running a script."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from tidemark.checks.lint.findings import Finding
from tidemark.checks.lint.linter import Linted, lint_file, lint_jobs, scripts_of
from tidemark.cli.error_lines import FAILURE, USAGE
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal, print_json
from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import read_assembly
from tidemark.model.messages import plural


def lint(
    scripts: tuple[Path, ...],
    bookmark: str | None,
    strict: bool,
    output: str,
    app: Path | None,
    context: tuple[str, ...],
) -> None:
    if scripts:
        if app is not None or context:
            raise UsageError("scripts are linted without an app: leave out --app and --context")
        linted, refused = lint_scripts(scripts, bookmark)
    elif bookmark is not None:
        raise UsageError("the template defines which jobs have bookmarks: leave out --bookmark")
    else:
        linted, refused = lint_app(assembly_folder(Terminal(stderr=True), app, context)), []
    if output == "json":
        print_json(lint_json(linted))
    elif linted or not refused:
        for line in lint_lines(linted):
            Terminal().print(line)
    for error in refused:
        click.echo(f"error: {error}", err=True)
    is_failure = count(linted, "error") or (strict and count(linted, "warning"))
    sys.exit(USAGE if refused else FAILURE if is_failure else 0)


STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def lint_scripts(
    scripts: Sequence[Path], bookmark: str | None
) -> tuple[list[Linted], list[UsageError]]:
    """Return the findings in scripts and folders without an app, and why others have none."""
    option = f"job-bookmark-{bookmark}" if bookmark else None
    linted: list[Linted] = []
    refused: list[UsageError] = []
    left = [*scripts][::-1]
    while left:
        try:
            first, *others = scripts_of(left.pop())
            left += others[::-1]
            linted.append(lint_file(first, option))
        except UsageError as error:
            refused.append(error)
    return linted, refused


def lint_app(assembly: Path) -> list[Linted]:
    """Return the findings in the scripts of all jobs of an assembly."""
    return lint_jobs(read_assembly(assembly), Path.cwd())


def findings_of(linted: Sequence[Linted]) -> list[Finding]:
    """Return all findings, in the order of the scripts."""
    return [finding for script in linted for finding in script.findings]


def count(linted: Sequence[Linted], severity: str) -> int:
    """Return how many findings have this severity."""
    return sum(finding.severity == severity for finding in findings_of(linted))


def lint_json(linted: Sequence[Linted]) -> dict[str, Any]:
    """Return what was linted and found as plain JSON values."""
    return {
        "linted": [{"file": script.file, "job": script.job} for script in linted],
        "errors": count(linted, "error"),
        "warnings": count(linted, "warning"),
        "notes": count(linted, "note"),
        "findings": [finding.as_json() for finding in findings_of(linted)],
    }


def lint_lines(linted: Sequence[Linted]) -> Iterator[Text]:
    """Yield what `tidemark lint` prints: two lines per finding, and the sum."""
    for finding in findings_of(linted):
        job = f" [{finding.job}]" if finding.job else ""
        yield Text.assemble(
            (f"{finding.file}:{finding.place.line}", "bold"),
            f"{job}: ",
            (finding.severity, STYLES[finding.severity]),
            f" {finding.id} {finding.rule}: {finding.text}",
        )
        yield Text(f"    {finding.remedy}", style="dim")
    errors, warnings = count(linted, "error"), count(linted, "warning")
    scripts, notes = len({script.file for script in linted}), count(linted, "note")
    counts = [plural(errors, "error"), plural(warnings, "warning")]
    counts += [plural(notes, "note")] if notes else []
    yield Text(f"{plural(scripts, 'script')}: {', '.join(counts)}")
