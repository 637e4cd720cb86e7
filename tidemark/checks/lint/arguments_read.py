"""How a script reads its arguments in addition to the lists for getResolvedOptions."""

import ast
from collections.abc import Iterator

from tidemark.checks.lint.facts import ScriptFacts, asked_names, is_ask
from tidemark.checks.script.expressions import changed_names
from tidemark.checks.script.script_names import Names, ScriptPlace, identifier, place_of
from tidemark.model.assembly.glue_arguments import Passed, names_passed

# Keys of the result of getResolvedOptions in addition to the requested ones.
RETURNED = names_passed(Passed.ALONE, Passed.BY_GLUE_ALONE, Passed.OPTIONAL)
ALWAYS_RETURNED = {name.replace("-", "_") for name in RETURNED - {"continuation-option"}}


def note_arguments(tree: ast.Module, names: Names, facts: ScriptFacts) -> None:
    """Note the arguments that are only tested for, other uses of sys.argv, and unknown keys."""
    constants = [str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    options = [constant[2:] for constant in constants if constant.startswith("--")]
    facts.mentioned = frozenset(option.partition("=")[0] for option in options)
    # What getResolvedOptions gets, or a test for a name, does not count as another use.
    known: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_ask(node):
            known.update(node.args[:1], (keyword.value for keyword in node.keywords))
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant):
            known.update(node.comparators)
    facts.reads_argv_itself = any(
        identifier(node) == "argv" and node not in known and isinstance(node, ast.expr)
        for node in ast.walk(tree)
    )
    facts.unknown_keys = sorted(_unknown_keys(tree, names), key=lambda found: found[0].line)


def _unknown_keys(tree: ast.Module, names: Names) -> Iterator[tuple[ScriptPlace, str]]:
    """Yield the keys that a script reads from arguments without requesting them."""
    results = _results(tree, names)
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(
                value=ast.Name(id=name), slice=ast.Constant(value=str(key)), ctx=ast.Load()
            ) if name in results:
                if key not in results[name] | ALWAYS_RETURNED | _tested(tree, name):
                    yield place_of(node), key


def _results(tree: ast.Module, names: Names) -> dict[str, set[str]]:
    """Return the keys of what getResolvedOptions returned, by the one variable that holds it."""
    bound = [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    asked_by_name: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.append(node.id)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if is_ask(call):
                if (asked := asked_names(call, names.constants)) is not None:
                    asked_by_name[name] = {item.replace("-", "_") for item in asked}
    changed = changed_names(tree)
    return {
        name: keys
        for name, keys in asked_by_name.items()
        if bound.count(name) == 1 and name not in changed
    }


def _tested(tree: ast.Module, name: str) -> set[str]:
    """Return the keys that a script looks for before it takes them."""
    return {
        str(node.left.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Constant)
        and identifier(node.comparators[0]) == name
    }
