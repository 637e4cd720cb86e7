"""Calls tools of AWS's MCP server by its protocol: pairs of name and arguments in, answers out."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SERVER = "awslabs.aws-dataprocessing-mcp-server"
WORDS = ["--allow-write", "--allow-sensitive-data-access"]


async def main() -> None:
    """Call them one after the other; print for each whether it is an error, and its texts."""
    server = StdioServerParameters(command=SERVER, args=WORDS, env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        answers = []
        for name, arguments in json.load(sys.stdin):
            answer = await session.call_tool(name, arguments)
            dumped = answer.model_dump(mode="json", by_alias=True)
            texts = [part.get("text") for part in dumped["content"]]
            answers.append([dumped.get("isError"), texts])
    json.dump(answers, sys.stdout)


asyncio.run(main())
