"""SSM of several homes in one process: each has its own parameters."""

from __future__ import annotations

import json
from pathlib import Path

from tidemark.emulated.services import EmulatedServices

JSON = "application/x-amz-json-1.1"


def ask(services: EmulatedServices, operation: str, body: dict[str, object]) -> tuple[int, str]:
    headers = {"x-amz-target": f"AmazonSSM.{operation}", "content-type": JSON}
    reply = services.answer("ssm", "/", headers, json.dumps(body).encode())
    return reply.status, json.loads(reply.body).get("Parameter", {}).get("Value", "")


def test_homes_of_one_process_share_no_parameter(tmp_path: Path) -> None:
    homes = [EmulatedServices(tmp_path / name) for name in ("one", "two")]
    for number, home in enumerate(homes):
        (tmp_path / ("one", "two")[number]).mkdir()
        put = {"Name": "/last", "Value": str(number), "Type": "String"}
        assert ask(home, "PutParameter", put)[0] == 200

    for _ in range(2):
        found = [ask(home, "GetParameter", {"Name": "/last"}) for home in homes]

        assert found == [(200, "0"), (200, "1")]


def test_a_home_that_has_none_finds_none_of_another_home(tmp_path: Path) -> None:
    one, two = EmulatedServices(tmp_path / "one"), EmulatedServices(tmp_path / "two")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    ask(one, "PutParameter", {"Name": "/last", "Value": "7", "Type": "String"})

    assert ask(two, "GetParameter", {"Name": "/last"})[0] == 400
