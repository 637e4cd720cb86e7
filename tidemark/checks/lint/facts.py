"""The actions of a script as plain data, which is all that the rules judge, and its arguments."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tidemark.checks.script.chains import argument, written_chain
from tidemark.checks.script.expressions import Scope, changed_names, strings
from tidemark.checks.script.operators import Operator
from tidemark.checks.script.script_names import Names, ScriptPlace, identifier, place_of
from tidemark.model.assembly.glue_arguments import Passed, names_passed
from tidemark.model.programs import nodes_of

# Keys of the result of getResolvedOptions in addition to the requested ones.
RETURNED = names_passed(Passed.ALONE, Passed.BY_GLUE_ALONE, Passed.OPTIONAL)
ALWAYS_RETURNED = {name.replace("-", "_") for name in RETURNED - {"continuation-option"}}


@dataclass(frozen=True)
class Opened:
    """One operator, at its place in the script."""

    operator: Operator
    same_ctx: tuple[int, ...] = ()  # lines of the operators that may have run with this ctx before
    is_after_init: bool = True  # on every way


@dataclass(frozen=True)
class Ask:
    """One call of getResolvedOptions; names is None if they are not known."""

    place: ScriptPlace
    names: tuple[str, ...] | None


@dataclass
class ScriptFacts:
    """Everything that is known about one script; filled while it is read."""

    opened: list[Opened] = field(default_factory=list)
    spark_reads: list[ScriptPlace] = field(default_factory=list)
    inits: list[ScriptPlace] = field(default_factory=list)
    inits_without_args: list[ScriptPlace] = field(default_factory=list)
    commits: list[ScriptPlace] = field(default_factory=list)
    commits_before_init: list[ScriptPlace] = field(default_factory=list)
    commits_in_finally: list[ScriptPlace] = field(default_factory=list)
    # Each handler of an error, with the commit that it leads to.
    commits_after_error: list[tuple[ScriptPlace, ScriptPlace]] = field(default_factory=list)
    ends: list[ScriptPlace] = field(default_factory=list)  # after a source, maybe without a commit
    asks: list[Ask] = field(default_factory=list)
    always_asked: set[str] = field(default_factory=set)
    mentioned: frozenset[str] = frozenset()  # names that stand as "--name" in the script
    unknown_keys: list[tuple[ScriptPlace, str]] = field(default_factory=list)
    is_entry: bool = False  # it creates the GlueContext or the Job itself
    has_hidden_job: bool = False  # init or commit happen, or may happen, out of sight
    has_hidden_source: bool = False
    reads_argv_itself: bool = False


def is_job_call(node: ast.Call, method: str, names: Names) -> bool:
    """Return whether a call is ``init`` or ``commit`` of the script's Job, or may be.

    If no name of the script holds a Job, whatever has such a method may be one.
    """
    if not isinstance(node.func, ast.Attribute) or node.func.attr != method:
        return False
    if names.jobs or names.makes_a_job(node.func.value):
        return is_of_a_job(node, names)
    return bool(node.args) if method == "init" else not (node.args or node.keywords)


def is_init_without_args(node: ast.Call) -> bool:
    """Return whether a call of ``init`` is given a name and nothing else."""
    is_open = any(isinstance(value, ast.Starred) for value in node.args)
    words = {word.arg for word in node.keywords}
    return len(node.args) < 2 and not is_open and not words & {"args", None}


def is_of_a_job(node: ast.Call, names: Names) -> bool:
    """Return whether a call is a method of a known Job."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else node
    return identifier(owner) in names.jobs or names.makes_a_job(owner)


def is_ask(call: ast.Call) -> bool:
    """Return whether a call is getResolvedOptions."""
    return identifier(call.func) == "getResolvedOptions"


def asked_names(call: ast.Call, scope: Scope) -> tuple[str, ...] | None:
    """Return the names that getResolvedOptions is given; None if they are not known."""
    options = argument(call, "options", 1)
    return strings(options, scope) if options is not None else None


def hands_the_context_out(node: ast.Call, values: Iterable[ast.expr], names: Names) -> bool:
    """Return whether code outside of the script gets a GlueContext, and may read with it."""
    root = written_chain(node)[-1].name
    is_foreign = root in names.imports and not names.is_from_aws(root)
    return is_foreign and any(identifier(value) in names.contexts for value in values)


def note_arguments(tree: ast.Module, names: Names, facts: ScriptFacts) -> None:
    """Note the arguments that are only tested for, other uses of sys.argv, and unknown keys."""
    constants = [str(node.value) for node in nodes_of(tree) if isinstance(node, ast.Constant)]
    options = [constant[2:] for constant in constants if constant.startswith("--")]
    facts.mentioned = frozenset(option.partition("=")[0] for option in options)
    # What getResolvedOptions gets, or a test for a name, does not count as another use.
    known: set[ast.AST] = set()
    for node in nodes_of(tree):
        if isinstance(node, ast.Call) and is_ask(node):
            known.update(node.args[:1], (keyword.value for keyword in node.keywords))
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant):
            known.update(node.comparators)
    facts.reads_argv_itself = any(
        identifier(node) == "argv" and node not in known and isinstance(node, ast.expr)
        for node in nodes_of(tree)
    )
    facts.unknown_keys = sorted(_unknown_keys(tree, names), key=lambda found: found[0].line)


def _unknown_keys(tree: ast.Module, names: Names) -> Iterator[tuple[ScriptPlace, str]]:
    """Yield the keys that a script reads from arguments without requesting them."""
    results = _results(tree, names)
    for node in nodes_of(tree):
        match node:
            case ast.Subscript(
                value=ast.Name(id=name), slice=ast.Constant(value=str(key)), ctx=ast.Load()
            ) if name in results:
                if key not in results[name] | ALWAYS_RETURNED | _tested(tree, name):
                    yield place_of(node), key


def _results(tree: ast.Module, names: Names) -> dict[str, set[str]]:
    """Return the keys of what getResolvedOptions returned, by the one variable that holds it."""
    bound = [node.arg for node in nodes_of(tree) if isinstance(node, ast.arg)]
    asked_by_name: dict[str, set[str]] = {}
    for node in nodes_of(tree):
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
        for node in nodes_of(tree)
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Constant)
        and identifier(node.comparators[0]) == name
    }
