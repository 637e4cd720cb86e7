"""Names members of awsglue that a script uses and this machine does not run, by the coverage data.

On AWS it runs: these are notes, which fail nothing.
"""

import ast
from collections.abc import Iterator

from tidemark.checks.lint.findings import Finding, note
from tidemark.checks.script.chains import given
from tidemark.checks.script.script_names import READERS, Names, identifier, names_of, place_of
from tidemark.model.awsglue_api import connections
from tidemark.model.awsglue_api.not_yet import NOT_YET, members_of, refusal
from tidemark.model.awsglue_api.not_yet import names_of as refused_in
from tidemark.model.programs import nodes_of

RULE = "not-run-locally"
CONTEXT = "GlueContext"
REFUSED = {f"{module}.{name}" for module in NOT_YET for name in refused_in(module)}
CONTEXT_MEMBERS = set(members_of("awsglue.context", CONTEXT))
CONTEXT_NAMES = {"gluecontext", "gluectx", "glue"}  # without underscores, in lower case
# A method -> whether it reads, and the positions of connection_type and format in a call.
OPENS = {"getSource": (True, 0, 1), "getSink": (False, 0, 1)}
OPENS |= {f"{reader}_from_options": (True, 0, 2) for reader in READERS}
OPENS |= {f"{writer}_from_options": (False, 1, 3) for writer in ("write_dynamic_frame", "write")}


def local_findings(tree: ast.Module) -> list[Finding]:
    """Return a note for each used name that does not run here, by line."""
    names = names_of(tree)
    origins = _origins(tree, names)
    findings = dict[tuple[int, str], Finding]()
    for node in nodes_of(tree):
        if isinstance(node, ast.Name | ast.Attribute | ast.Call):
            for text in _notes_on(node, names, origins):
                place = place_of(node)
                findings.setdefault((place.line, text), note(RULE, place, text))
    return [findings[key] for key in sorted(findings)]


def _notes_on(node: ast.expr, names: Names, origins: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Call):
        yield from _targets(node, names)
        return
    origin = _origin(node, origins)
    if origin in REFUSED:
        yield str(refusal(origin.rpartition(".")[2]))
    if isinstance(node, ast.Attribute) and node.attr in CONTEXT_MEMBERS:
        name = identifier(node.value) or ""
        is_named = name in names.contexts or name.lower().replace("_", "") in CONTEXT_NAMES
        if is_named or names.class_of(node.value) == CONTEXT:
            yield str(refusal(f"{CONTEXT}.{node.attr}"))


def _origins(tree: ast.Module, names: Names) -> dict[str, str]:
    """Return the meaning of a script's imported names, with those of AWS that a star brings."""
    origins = dict[str, str]()
    for node in nodes_of(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
                origins |= {name: f"{module}.{name}" for name in refused_in(module)}
    return origins | dict(names.imports)


def _origin(node: ast.expr, origins: dict[str, str]) -> str:
    """Return the full name of an imported expression, ``""`` of another one."""
    match node:
        case ast.Name(id=name):
            return origins.get(name, "")
        case ast.Attribute(value=owner, attr=name):
            above = _origin(owner, origins)
            return f"{above}.{name}" if above else ""
    return ""


def _targets(call: ast.Call, names: Names) -> Iterator[str]:
    """Yield the problems with the connection type and the format of a source or a sink."""
    method = identifier(call.func) or ""
    if method == "from_options" and isinstance(call.func, ast.Attribute):
        method = f"{names.reader(call.func.value)}_{method}"
    if method not in OPENS:
        return
    reads, type_place, format_place = OPENS[method]
    verb = "read" if reads else "written"
    types = connections.READ_TYPES if reads else connections.WRITE_TYPES
    formats = connections.READ_FORMATS if reads else connections.WRITE_FORMATS
    kind = given(call, "connection_type", type_place, names.constants)
    name = given(call, "format", format_place, names.constants)
    if isinstance(kind, str) and kind not in types:
        yield f"the connection type {kind!r} is not {verb} locally; allowed are {', '.join(types)}"
    elif isinstance(name, str) and name and name.lower() not in formats:
        yield f"the format {name!r} is not {verb} locally; allowed are {', '.join(formats)}"
