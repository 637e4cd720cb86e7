"""Answers a call of a tool by the command that it is, and compares plans before something acts."""

import getpass
import hashlib
import hmac
import json
import re
import secrets
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from tidemark.agents.answers import answer_text
from tidemark.agents.arguments import DIGEST, REASON, START, command_of, parameters_of, words_of
from tidemark.agents.child import Printed, Tell, run_command
from tidemark.agents.tools import Tool
from tidemark.agents.withheld import lines_without_rows, messages_without_rows, without_rows

DRY_RUN = "--dry-run"
USAGE = 2  # the exit code of a command that was used wrongly, as with a script that is none
AGE = re.compile(r'"age_seconds": [-+.e\d]+')  # moves with the clock, and changes no plan
WITHHELD = "{} of {} lines: the server was started without --allow-rows"
CHANGED = (
    "nothing was done: the digest is of another plan, or of one that was acted by; the plan below "
    "is of now and of these arguments: show it to the user, and give its digest if it is still "
    "wanted"
)


@dataclass(frozen=True)
class Allowed:
    """What the person who starts a server allows.

    Attributes:
        stage: the stage that tools look at; None for this machine.
        app: of a stage, the folder of the cloud assembly, as --app has it.
        context: of a stage, as --context has it.
        acts: whether tools may act.
        rows: whether answers may have rows, messages of errors and what scripts print.
        folder: where commands run; files outside of it are not taken.
    """

    stage: str | None = None
    app: Path | None = None
    context: tuple[str, ...] = ()
    acts: bool = False
    rows: bool = False
    folder: Path = field(default_factory=Path.cwd)


class Calls:
    """Runs the commands of tools."""

    def __init__(self, main: click.Group, allowed: Allowed) -> None:
        """Take the group of all commands, and what is allowed."""
        self._main = main
        self._allowed = allowed
        self._keys = dict[str, bytes]()  # by digests of plans that were shown: each for one act

    async def answer(self, tool: Tool, given: Mapping[str, Any], tell: Tell) -> tuple[str, bool]:
        """Return the answer to a call, and whether it is an error.

        Raises:
            TidemarkError: what is given is not allowed, or too much is printed.
        """
        if tool.kind in ("plan", "act"):
            # `lint` takes several scripts, and `submit` one.
            shared = {**given, "scripts": [given["script"]]} if "script" in given else given
            words = self._words(tool.looks, tool.shares.split(), shared)
            printed = await run_command(words, self._allowed.folder, tell)
            plan = self._plan(tool, given, printed)
            key = self._keys.get(given.get(DIGEST, ""))
            if not plan or key is None or _digest(plan, key) != given[DIGEST]:
                error = {} if tool.kind == "plan" else {"error": CHANGED}
                return self._told(tool, given, printed, {**error, **self._shown(tool, plan)})
            del self._keys[given[DIGEST]]
        words = self._words(tool.acts or tool.looks, tool.takes.split(), given)
        printed = await run_command(words, self._allowed.folder, tell)
        return self._told(tool, given, printed, {})

    def _words(self, command: str, takes: Collection[str], given: Mapping[str, Any]) -> list[str]:
        allowed, words = self._allowed, command.split()
        declared = command_of(self._main, [word for word in words if not word.startswith("--")])
        words.append("--format=json")
        if "--yes" in words and "actor" in parameters_of(declared):
            words.append(f"--actor={getpass.getuser()}, by tidemark mcp")
        if allowed.stage is not None:
            words.append(f"--deployed={allowed.stage}")
            words += [f"--app={allowed.app}"] if allowed.app else []
            words += [f"--context={item}" for item in allowed.context]
        return [*words, *words_of(declared, given, takes, allowed.folder)]

    def _plan(self, tool: Tool, given: Mapping[str, Any], printed: Printed) -> str:
        """Return all that a plan depends on; nothing of a dry run or a script that failed."""
        has_failed = DRY_RUN in tool.looks and not _read(tool, printed)[1]
        if has_failed or (tool.looks == "lint" and printed.code == USAGE):
            return ""
        wanted = {k: value for k, value in given.items() if k not in (DIGEST, REASON, START)}
        script = self._allowed.folder / str(given.get("script", ""))
        code = hashlib.sha256(script.read_bytes()).hexdigest() if script.is_file() else ""
        return json.dumps([tool.acts, wanted, code, AGE.sub("", printed.output)], sort_keys=True)

    def _shown(self, tool: Tool, plan: str) -> dict[str, Any]:
        """Return what follows, and a new digest of the plan."""
        if not plan:
            return {}
        if not tool.acts:
            return {"consequences": tool.consequences}
        key = secrets.token_bytes()
        digest = _digest(plan, key)
        self._keys[digest] = key
        return {"consequences": tool.consequences, "digest": digest}

    def _told(
        self, tool: Tool, given: Mapping[str, Any], printed: Printed, facts: Mapping[str, Any]
    ) -> tuple[str, bool]:
        """Return what a command has printed, without rows if they are not allowed."""
        (document, is_answer), lines = _read(tool, printed), printed.lines
        command = f"tidemark {shlex.join(printed.words)}"
        ours = {"tool": tool.name, "command": command, "exit_code": printed.code, **facts}
        if not self._allowed.rows and printed.words[0] != "lint":  # which reads no data
            if tool.name == "logs" and is_answer:
                kept = lines_without_rows(document)
                ours["withheld"] = WITHHELD.format(len(document) - len(kept), len(document))
                document = kept
            document = without_rows(document)
            lines = messages_without_rows(
                lines, scripts_print=tool.runs_scripts, is_answer=is_answer
            )
        untrusted = {"answer": document, **({"messages": lines} if lines else {})}
        text = answer_text(ours, untrusted, given.get(START), at_end=tool.name == "logs")
        is_shown = "consequences" in facts or (is_answer and tool.kind != "plan")
        return text, "error" in facts or not is_shown


def _digest(plan: str, key: bytes) -> str:
    return hmac.new(key, plan.encode(), "sha256").hexdigest()[:32]


def _read(tool: Tool, printed: Printed) -> tuple[Any, bool]:
    """Return what a command has printed as plain JSON values, and whether it has printed any."""
    try:
        if tool.name == "logs":
            return [json.loads(line) for line in printed.output.splitlines()], printed.code == 0
        return json.loads(printed.output), True
    except ValueError:
        return None, False
