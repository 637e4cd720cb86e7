"""The MCP server: it lists the tools, and answers a call by the command that its tool is."""

import inspect
import os
import signal
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import anyio
import click
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from tidemark.agents import arguments
from tidemark.agents.answers import answer_text
from tidemark.agents.calls import Allowed, Calls
from tidemark.agents.tools import Tool, instructions, refusal, tools_for
from tidemark.errors import TidemarkError, UsageError

MAX_LOOKS = 4  # commands at once that only look


def make_server(main: click.Group, allowed: Allowed) -> Server[Any]:
    """Return the server of what is allowed; ``main`` is the group of all commands."""
    # Of a stage, the person who starts the server says which app it is of.
    leaves_out = {"app", "context"} if allowed.stage else set[str]()
    tools, schemas = dict[str, Tool](), dict[str, dict[str, Any]]()
    for tool in tools_for(acts=allowed.acts, rows=allowed.rows):
        command = arguments.command_of(main, tool.declares)
        if allowed.stage is None or "deployed" in arguments.parameters_of(command):
            tools[tool.name] = tool
            schemas[tool.name] = arguments.schema_of(tool, command, leaves_out)
    calls = Calls(main, allowed)
    looks, alone = anyio.Semaphore(MAX_LOOKS), anyio.Lock()

    async def list_tools(*_: Any) -> types.ListToolsResult:
        listed = [_listed(main, tool, schemas[name]) for name, tool in tools.items()]
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        context: ServerRequestContext[Any], asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        async def tell(seconds: float, done: str) -> None:
            far = done if asked.name == "prove" and done else "working"  # no script prints there
            text = f"{asked.name}: {far}, {seconds:.0f} s"
            await context.session.report_progress(seconds, None, text)

        given = arguments.whole(asked.arguments or {})
        try:
            if asked.name not in tools:
                raise UsageError(refusal(asked.name, tools))
            tool = tools[asked.name]
            arguments.check(schemas[asked.name], given)
            arguments.check_arguments(tool, given)
            turn = alone if tool.runs_scripts else looks
            await _tell_of_waiting(context, tool, turn)
            async with turn:
                text, is_error = await calls.answer(tool, given, tell)
        except (TidemarkError, OSError) as error:  # of files that arguments name, or the folder
            text, is_error = answer_text({"tool": asked.name, "error": str(error)}, None), True
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)

    return Server(
        "tidemark",
        version=version("tidemark-glue"),
        instructions=instructions(allowed.stage, acts=allowed.acts, rows=allowed.rows),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _tell_of_waiting(
    context: ServerRequestContext[Any], tool: Tool, turn: anyio.Lock | anyio.Semaphore
) -> None:
    if isinstance(turn, anyio.Lock) and turn.locked():
        text = f"{tool.name}: waits until the scripts of another call have ended"
        await context.session.report_progress(0, None, text)


def _listed(main: click.Group, tool: Tool, schema: Mapping[str, Any]) -> types.Tool:
    told = inspect.cleandoc(arguments.command_of(main, tool.declares).help or "")
    return types.Tool(
        name=tool.name,
        description="\n".join((f"{tool.what_it_does}{told}", *tool.consequences)),
        input_schema=dict(schema),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.kind in ("look", "plan"),
            destructive_hint=tool.kind == "act",
            open_world_hint=tool.runs_scripts,
        ),
    )


def serve(main: click.Group, allowed: Allowed) -> None:
    """Serve a client on stdin and stdout until it leaves; what runs for it ends then."""
    server = make_server(main, allowed)

    async def run() -> None:
        async with stdio_server() as (reads, writes), anyio.create_task_group() as tasks:
            serving = anyio.CancelScope()
            tasks.start_soon(_cancel_by_signal, serving)
            with serving:
                await server.run(reads, writes, server.create_initialization_options())
            if serving.cancel_called:
                os._exit(128 + signal.SIGTERM)  # a thread of the SDK waits for a line of stdin
            tasks.cancel_scope.cancel()

    try:
        anyio.run(run)
    except* BrokenPipeError:
        os._exit(0)  # the client was killed: Python would write what is left at its end


async def _cancel_by_signal(serving: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as received:
        async for _ in received:
            serving.cancel()
