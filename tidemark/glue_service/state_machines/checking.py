"""What is wrong with a definition: by the rules of AWS, of this machine, and of the interpreter."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

from tidemark.glue_service.http.services import OPERATIONS
from tidemark.glue_service.state_machines.definitions import (
    SCHEMA,
    Fault,
    faults_of,
    with_stand_ins,
)

INTERPRETER = "tidemark.glue_service.state_machines.interpreter"
PACKAGES = ("moto", "antlr4", "jsonpath_ng", "jsonata")


def check(definition: str, stand_ins: Mapping[str, str]) -> list[Fault]:
    """Return the faults of a definition; moto's parser says some, where it is installed."""
    faults = faults_of(definition, OPERATIONS, stand_ins)
    if faults or not all(find_spec(package) for package in PACKAGES):
        return faults
    try:
        import_module(INTERPRETER).program_of(with_stand_ins(definition, stand_ins))
    except ValueError as error:
        return [Fault(SCHEMA, str(error))]
    return []
