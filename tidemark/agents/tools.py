"""The tools of the MCP server, of `tools.json`: which command each is, and what it takes."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

TABLE: dict[str, Any] = json.loads(files("tidemark.agents").joinpath("tools.json").read_bytes())


@dataclass(frozen=True)
class Tool:
    """A command as a tool.

    Attributes:
        name: the name of the tool.
        looks: the words of the command that reads; for an act, of the one that shows its plan.
        takes: the names of the options and arguments that it may be given.
        kind: look, which reads what is recorded; trial, which runs scripts on copies; plan or act.
        acts: the words of the command that acts, with options that it always gets; else empty.
        shares: of a plan, names of what the command that shows it is given too.
        with_rows: names of what it takes only where rows may be shown: counts of rows that meet a
            condition tell what is in them.
        consequences: what follows from the act, in sentences.
    """

    name: str
    looks: str
    takes: str
    kind: str = "look"
    acts: str = ""
    shares: str = ""
    with_rows: str = ""
    consequences: tuple[str, ...] = ()

    @property
    def declares(self) -> list[str]:
        """The name of the command that declares what it takes, such as ``["run", "show"]``."""
        return [word for word in (self.acts or self.looks).split() if not word.startswith("--")]

    @property
    def runs_scripts(self) -> bool:
        """Whether scripts of the user run, which takes long, and write what they like."""
        return self.kind == "trial" or (self.kind == "act" and self.name != "rewind")

    @property
    def what_it_does(self) -> str:
        """What its kind of tool does, in a sentence that ends with a blank; empty for a look."""
        return str(TABLE["kinds"][self.kind]).format(name=self.name)


def instructions(stage: str | None, *, acts: bool, rows: bool) -> str:
    """Return what the server tells an agent: where it is, what is allowed, what is untrusted."""
    where = f"of the stage {stage} on AWS" if stage else "on this machine"
    text = "\n".join(TABLE["instructions"])
    return text.format(where=where, acts=TABLE["acts"][acts], rows=TABLE["rows"][rows])


def refusal(name: str, tools: Collection[str]) -> str:
    """Return why a server with these tools has none of this name.

    Example:
        >>> refusal("run", ["status", "plan_run"])
        "no tool 'run' without --allow-actions; allowed: status, plan_run"
    """
    option = " without --allow-actions" if f"plan_{name}" in tools else ""
    return f"no tool {name!r}{option}; allowed: {', '.join(tools)}"


def tools_for(*, acts: bool, rows: bool) -> Iterator[Tool]:
    """Yield the tools of a server: plans of all acts, and acts only if they are allowed.

    Example:
        >>> [tool.name for tool in tools_for(acts=True, rows=False) if tool.kind == "act"]
        ['run', 'submit', 'resume', 'rewind']
    """
    for tool in (Tool(**entry) for entry in TABLE["tools"]):
        if tool.kind != "act":
            yield replace(tool, takes=f"{tool.takes} {tool.with_rows if rows else ''}")
            continue
        yield replace(tool, name=f"plan_{tool.name}", kind="plan")
        if acts:
            yield tool
