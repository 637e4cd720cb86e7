"""Sessions of a served home, by a client of AWS."""

from __future__ import annotations

from typing import Any

import pytest

from tests.waiting import wait_until

ROLE = "arn:aws:iam::000000000000:role/anyone"
ENDED = ("AVAILABLE", "CANCELLED", "ERROR")


class Sessions:
    """Short ways to call a port's operations on sessions."""

    def __init__(self, glue: Any) -> None:
        self.glue = glue

    def create(self, name: str, **members: Any) -> str:
        """Create a session, and wait until it is ready."""
        request = {"GlueVersion": "5.1", "Command": {"Name": "glueetl", "PythonVersion": "3"}}
        self.glue.create_session(Id=name, Role=ROLE, **{**request, **members})
        assert self.becomes(name, "READY", "FAILED")["Status"] == "READY"
        return name

    def becomes(self, name: str, *states: str) -> dict[str, Any]:
        """Return a session, as soon as it is in one of some states."""

        def look() -> dict[str, Any] | None:
            session: dict[str, Any] = self.glue.get_session(Id=name)["Session"]
            return session if session["Status"] in states else None

        return wait_until(look)

    def send(self, name: str, code: str) -> int:
        """Run code, and do not wait; return the number of the statement."""
        return int(self.glue.run_statement(SessionId=name, Code=code)["Id"])

    def statement(self, name: str, number: int) -> dict[str, Any]:
        """Return a statement as it is."""
        member: dict[str, Any] = self.glue.get_statement(SessionId=name, Id=number)["Statement"]
        return member

    def ended(self, name: str, number: int) -> dict[str, Any]:
        """Return a statement, as soon as it has ended."""

        def look() -> dict[str, Any] | None:
            statement = self.statement(name, number)
            return statement if statement["State"] in ENDED else None

        return wait_until(look)

    def run(self, name: str, code: str) -> dict[str, Any]:
        """Run code; return its output."""
        output: dict[str, Any] = self.ended(name, self.send(name, code))["Output"]
        return output

    def text(self, name: str, code: str) -> str:
        """Run code that works; return what it shows."""
        output = self.run(name, code)
        assert output["Status"] == "ok", output
        return str(output["Data"]["TextPlain"])

    def is_running(self, name: str, number: int) -> bool:
        """Return whether a statement runs."""
        return bool(self.statement(name, number)["State"] == "RUNNING")


@pytest.fixture(scope="module")
def sessions(port: Any) -> Sessions:
    return Sessions(port.glue)


@pytest.fixture(scope="module")
def session(sessions: Sessions) -> str:
    """A session for the tests of a file, each with names of its own."""
    return sessions.create("shared", DefaultArguments={"--of": "tests"})
