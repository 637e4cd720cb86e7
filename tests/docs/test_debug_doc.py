"""docs/debug.md: an editor attaches to a job script as the page says."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.pages import Page
from tests.waiting import wait_until

PAGE = Page("docs/debug.md")
LISTEN, LAUNCH = PAGE.blocks["listen"], json.loads(PAGE.blocks["launch"])
REST = "\ntotal = 0\nfor number in range(3):\n    total += number\nprint('total', total)\n"
STOP_AT = "total += number"


class Editor:
    """A client of the Debug Adapter Protocol, as an editor is."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), timeout=30)
        self._file = self._socket.makefile("rb")
        self._number = 0

    def ask(self, command: str, **arguments: Any) -> None:
        self._number += 1
        message = {"seq": self._number, "type": "request", "command": command}
        body = json.dumps({**message, "arguments": arguments}).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def messages(self) -> Iterator[dict[str, Any]]:
        while header := self._file.readline():
            self._file.readline()
            yield json.loads(self._file.read(int(header.partition(b":")[2])))


def stopped_at(editor: Editor, script: Path, line: int) -> list[tuple[int, str]]:
    """Attach, stop at a line of a script, and go on; return the lines and files of the stops."""
    source, stops = {"path": str(script)}, list[tuple[int, str]]()
    editor.ask("initialize", adapterID="python", pathFormat="path")
    for message in editor.messages():
        match message.get("event") or message["command"]:
            case "initialize":
                editor.ask("attach", justMyCode=True)
            case "initialized":
                editor.ask("setBreakpoints", source=source, breakpoints=[{"line": line}])
                editor.ask("configurationDone")
            case "stopped":
                thread = message["body"]["threadId"]
                editor.ask("stackTrace", threadId=thread)
            case "stackTrace":
                frame = message["body"]["stackFrames"][0]
                stops.append((frame["line"], frame["source"]["path"]))
                editor.ask("setBreakpoints", source=source, breakpoints=[])
                editor.ask("continue", threadId=thread)
            case "terminated":
                break
    return stops


@pytest.mark.nightly
def test_an_editor_stops_at_a_breakpoint_of_the_script(tmp_path: Path) -> None:
    (configuration,) = LAUNCH["configurations"]
    assert (configuration["request"], configuration["justMyCode"]) == ("attach", True)
    script = tmp_path / "orders.py"
    script.write_text(LISTEN + REST, encoding="utf-8")
    line = script.read_text().splitlines().index(f"    {STOP_AT}") + 1
    command = [sys.executable, "-m", "tidemark", "submit", str(script)]
    submitted = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    editors: list[Editor] = []

    def attached() -> bool:
        with suppress(OSError):
            editors.append(Editor(**configuration["connect"]))
        return bool(editors)

    wait_until(attached)
    with closing(editors[0]) as editor:
        stops = stopped_at(editor, script, line)
    printed, _ = submitted.communicate(timeout=60)

    assert stops == [(line, str(script))]
    assert (submitted.returncode, "total 3" in printed) == (0, True)
