"""The assembly that a command works on: a given one, that of the CDK, or the app synthesized."""

import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tidemark.cli.progress import step
from tidemark.errors import UsageError
from tidemark.model.assembly.synthesis import synthesize


def assembly_folder(
    console: Console, app: Path | None, context: Sequence[str], output: Path | None = None
) -> Path:
    """Return the given assembly, or synthesize the app in the current folder.

    Without ``--app`` it is that of ``CDK_APP``, if this names a folder: what ``cdk deploy`` sends
    next to the command, whatever the context says.
    Source: https://docs.aws.amazon.com/cdk/v2/guide/ref-cli-cmd.html
    """
    if app is not None:
        if context:
            raise UsageError(
                f"--context {context[0]!r} would change nothing, for --app names an assembly that "
                "is synthesized already; leave one of the two out"
            )
        return app
    if (of_the_cdk := os.environ.get("CDK_APP")) and Path(of_the_cdk).is_dir():
        without = ", whatever --context says" if context else ""
        console.print(f"CDK_APP names the assembly {of_the_cdk}: it is used as it is{without}")
        return Path(of_the_cdk)
    wrong = [item for item in context if "=" not in item]
    if wrong:
        raise UsageError(f"--context {wrong[0]!r} is not KEY=VALUE, such as stage=prod")
    with step(console, "Synthesizing the CDK app"):
        return synthesize(Path.cwd(), dict(item.split("=", 1) for item in context), output)
