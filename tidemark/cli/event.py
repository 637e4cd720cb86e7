"""The command about events: `event put`."""

import json
from functools import partial
from pathlib import Path

import click

from tidemark.cli.code_on_disk import deploy_what_changed
from tidemark.cli.where import Where
from tidemark.errors import UsageError
from tidemark.glue_service.served import deploy, find_port, put_event
from tidemark.local_state.home import Home


def put(
    source: str, detail_type: str, detail: str, resources: tuple[str, ...], as_deployed: bool
) -> None:
    try:
        text = Path(detail[1:]).read_text(encoding="utf-8") if detail.startswith("@") else detail
    except UnicodeDecodeError as error:
        raise UsageError(f"{detail[1:]} is not UTF-8: {error}; save it as UTF-8") from error
    entry = {"Source": source, "DetailType": detail_type, "Detail": _object(text)}
    home = Home.from_environment()
    port = find_port(home)
    if port is None:
        raise UsageError(
            f"no port serves {home.root}, so the event would start nothing; run `tidemark serve "
            "--port 4566 --app cdk.out` in another terminal"
        )
    where = Where(None, as_deployed=as_deployed)
    may_deploy = None if port.is_of_command else partial(deploy, port)
    deploy_what_changed(where, "workflow", None, home, may_deploy)
    event_id, rules = put_event(port, {**entry, "Resources": list(resources)})
    click.echo(f"{event_id} matches {', '.join(rules) or 'no rule'}")


def _object(text: str) -> str:
    try:
        if isinstance(json.loads(text), dict):
            return text
        why = "it is another value of JSON"
    except ValueError as error:
        why = str(error)
    raise UsageError(f"--detail must be a JSON object, or @FILE with one: {why}")
