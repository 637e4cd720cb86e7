"""`tidemark doctor`: what is missing on this machine, and which command cures it."""

import sys
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from tidemark.cli.checkup import findings, is_healthy
from tidemark.cli.progress import console_for_tables
from tidemark.cli.terminal import print_json

FAILURE = 1
MARKS = {"ok": ("✓", "green"), "note": ("!", "yellow"), "missing": ("✗", "bold red")}


def doctor(output: str) -> None:
    all_findings = list(findings(Path.cwd()))
    if output == "json":
        print_json([asdict(finding) for finding in all_findings])
    else:
        console = console_for_tables()
        for finding in all_findings:
            line = Text.assemble(MARKS[finding.state], f" {finding.name}: {finding.found}")
            console.print(line)
            if finding.cure:
                console.print(Text(f"    {finding.cure}"))
    if not is_healthy(all_findings):
        sys.exit(FAILURE)
