"""`breakpoint()` in a job's process, whose streams are files: on the terminal of its command."""

import os
import sys
import time
from pathlib import Path
from typing import Any

from tidemark.errors import UsageError

TERMINAL_VARIABLE = "TIDEMARK_TERMINAL"  # the terminal of a `tidemark submit`
SHOWN_S = 0.3  # until the command has shown what the script has printed so far


def install_debugger() -> None:
    """Let `breakpoint()` stop the script on the terminal of its command, or say where it stops."""
    terminal = os.environ.pop(TERMINAL_VARIABLE, "")

    def stop(*_: Any, **__: Any) -> None:
        if not terminal:
            raise UsageError(
                "breakpoint() stops where a terminal is: with `tidemark submit SCRIPT` on one, in "
                "a home that no `tidemark local up` serves, or in a test with the fixture glue_job"
            )
        import pdb

        print("breakpoint(): the debugger has the terminal; c continues", flush=True)  # noqa: T201
        time.sleep(SHOWN_S)
        keys = Path(terminal).open(encoding="utf-8")  # noqa: SIM115 (open until the script ends)
        screen = Path(terminal).open("w", encoding="utf-8")  # noqa: SIM115
        pdb.Pdb(stdin=keys, stdout=screen).set_trace(sys._getframe(1))

    sys.breakpointhook = stop
