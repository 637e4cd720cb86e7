"""An agent for tests: the SDK's own client, and a server that it starts as a real process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client


class Agent:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.progress: list[tuple[float, str]] = []
        self.text = ""

    async def ask(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Return the answer of a tool; fail if it is an error."""
        is_error, answer = await self._call(name, arguments)
        assert not is_error, answer
        return answer

    async def refused(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Return the answer of a tool, which is an error."""
        is_error, answer = await self._call(name, arguments)
        assert is_error, answer
        return answer

    async def _call(self, name: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
        async def note(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append((progress, message or ""))

        result = await self.client.call_tool(name, arguments, progress_callback=note)
        (content,) = result.content
        self.text = content.text
        return bool(result.is_error), json.loads(self.text)


@asynccontextmanager
async def an_agent(folder: Path, *flags: str) -> AsyncIterator[Agent]:
    """Start a server in a folder, and yield an agent that is connected with it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tidemark", "mcp", *flags],
        env=dict(os.environ),
        cwd=folder,
    )
    log = folder / "server.log"
    with log.open("w", encoding="utf-8") as said:
        async with Client(stdio_client(server, errlog=said)) as client:
            yield Agent(client)
    assert log.read_text(encoding="utf-8") == ""


def talk(
    story: Callable[[Agent], Awaitable[None]], folder: Path, *flags: str, bound_s: float = 120
) -> None:
    """Let an agent do what a story says."""

    async def tell() -> None:
        with anyio.fail_after(bound_s):
            async with an_agent(folder, *flags) as agent:
                await story(agent)

    anyio.run(tell)
