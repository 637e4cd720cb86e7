"""The Glue that a command starts runs in: with the code on disk here, the deployed one on AWS."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidemark.cli.where import Where, assembly_of_stage, glue_of_stage

if TYPE_CHECKING:
    from tidemark.operate.clients import Glue


@contextmanager
def glue_to_start(where: Where, kind: str, name: str | None) -> Iterator["Glue"]:
    """Yield the Glue that a command is to start runs in, which have the code on disk.

    On AWS they have the code that is deployed; a warning says where that differs.
    """
    if where.stage is not None:
        from tidemark.cli.code_of_stage import say_code_of_stage

        assembly = assembly_of_stage(where)
        with glue_of_stage(where, assembly) as glue:
            say_code_of_stage(glue, assembly, [name] if kind == "job" and name else [])
            yield glue
        return
    from tidemark.cli.code_on_disk import deploy_what_changed
    from tidemark.cli.here import glue_here

    with glue_here(
        lambda home, deploy: deploy_what_changed(home, where, kind, name, deploy)
    ) as glue:
        yield glue
