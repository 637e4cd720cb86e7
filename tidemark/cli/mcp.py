"""`tidemark mcp`: commands as tools of an agent, by the Model Context Protocol."""

import sys
from contextlib import redirect_stdout

from tidemark.cli.main import main
from tidemark.cli.terminal import behind
from tidemark.cli.where import Where
from tidemark.extras import require


def mcp(where: Where, allow_actions: bool, allow_rows: bool) -> None:
    require("mcp")
    from tidemark.agents.calls import Allowed
    from tidemark.agents.server import serve

    allowed = Allowed(where.stage, where.app, where.context, allow_actions, allow_rows)
    with redirect_stdout(behind(sys.stdout)):
        serve(main, allowed)
