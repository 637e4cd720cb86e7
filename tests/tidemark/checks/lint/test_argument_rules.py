"""What a script reads against what its job passes."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awsglue.utils import GlueArgumentError, getResolvedOptions
from tidemark.checks.lint.argument_rules import JobStart, argument_findings
from tidemark.checks.lint.linter import lint_source
from tidemark.checks.lint.script import read_script
from tidemark.glue_service.runs.arguments import command_line
from tidemark.model.assembly.definitions import JobDefinition

DISABLE = "job-bookmark-disable"


def start(*names: str, **values) -> JobStart:
    return JobStart("job ingest", {f"--{name}": "x" for name in names}, **values)


def asks(*names: str) -> str:
    return f"import sys\nargs = getResolvedOptions(sys.argv, {list(names)})\n"


CASES = {
    "all is read": (asks("JOB_NAME", "path"), ["path"], []),
    "one is not passed": (
        asks("JOB_NAME", "path", "target"),
        ["path"],
        [("argument-not-passed", "error", 2)],
    ),
    "one is not read": (asks("path"), ["path", "stage"], [("argument-not-read", "warning", 2)]),
    "parameters of the service need not be read": (
        asks("path"),
        ["path", "TempDir", "enable-metrics", "extra-py-files", "job-bookmark-option", "conf"],
        [],
    ),
    "TempDir is never required": (asks("TempDir", "RedshiftTempDir"), [], []),
    "the dashes count": (
        asks("source-path"),
        ["source_path"],
        [("argument-not-passed", "error", 2), ("argument-not-read", "warning", 2)],
    ),
    "only the passed name may be short": (
        asks("source"),
        ["source_path"],
        [("argument-not-passed", "error", 2), ("argument-not-read", "warning", 2)],
    ),
    "the passed name is short": (
        asks("source_path"),
        ["source"],
        [("argument-abbreviated", "warning", 2)],
    ),
    "a short name takes the place of the long one": (
        asks("source_path") + asks("source"),
        ["source", "source_path"],
        [("argument-ambiguous", "error", 2)],
    ),
    "a short name that is asked for too": (
        asks("source", "source_path"),
        ["source", "source_path"],
        [],
    ),
    "a short name of two": (
        asks("table_name", "table_schema"),
        ["table", "table_name", "table_schema"],
        [("argument-ambiguous", "error", 2), ("argument-not-read", "warning", 2)],
    ),
    "a short name of a parameter of the service": (
        asks("path"),
        ["path", "Temp"],
        [("argument-abbreviated", "warning", 2)],
    ),
    "what is tested for is optional": (
        asks("path")
        + "if '--limit' in sys.argv:\n    x = getResolvedOptions(sys.argv, ['limit'])\n",
        ["path"],
        [],
    ),
    "what one branch asks for is optional": (
        asks("source") + "if x:\n    y = getResolvedOptions(sys.argv, ['jdbc_url'])\n",
        ["source"],
        [],
    ),
    "what may fail is optional": (
        asks("path")
        + "try:\n    y = getResolvedOptions(sys.argv, ['limit'])\nexcept Exception:\n    pass\n",
        ["path"],
        [],
    ),
    "a list in a constant": (
        "NAMES = ['path', 'stage']\nargs = getResolvedOptions(sys.argv, NAMES)\n",
        ["path"],
        [("argument-not-passed", "error", 2)],
    ),
    "lists that are added": (
        "BASE = ['path']\nargs = getResolvedOptions(sys.argv, BASE + ['stage'])\n",
        ["path", "stage", "other"],
        [("argument-not-read", "warning", 2)],
    ),
    "a list that grows": (
        "names = ['path']\nnames.append(x)\nargs = getResolvedOptions(sys.argv, names)\n",
        ["other"],
        [],
    ),
    "a list that another module has": (
        "args = getResolvedOptions(sys.argv, company.NAMES)\n",
        ["other"],
        [],
    ),
    "a list that a function is given": (
        "def ask(names):\n    return getResolvedOptions(sys.argv, names)\nask(['path'])\n",
        ["stage"],
        [("argument-not-passed", "error", 2), ("argument-not-read", "warning", 2)],
    ),
    "argparse reads too": (
        asks("path") + "known, _ = parser.parse_known_args(sys.argv[1:])\n",
        ["path", "other"],
        [],
    ),
    "nothing is asked for": ("from company import main\nmain()\n", ["other"], []),
    "a workflow is asked for": (
        asks("WORKFLOW_NAME"),
        [],
        [("argument-not-passed", "error", 2)],
    ),
}


@pytest.mark.parametrize(("text", "passed", "expected"), CASES.values(), ids=CASES)
def test_arguments_that_differ_are_found(find, text, passed, expected):
    assert find(text, DISABLE, (start(*passed),)) == expected


def test_a_trigger_of_a_workflow_passes_its_name(find):
    in_workflow = start(is_in_workflow=True)

    assert find(asks("WORKFLOW_NAME", "WORKFLOW_RUN_ID"), DISABLE, (in_workflow,)) == []


def test_what_has_no_dashes_is_for_glue_and_not_for_the_script():
    of_shell = JobStart("job notify", {"--to": "ops", "library-set": "analytics"})

    assert lint_source(asks("to"), "job.py", DISABLE, (of_shell,)).findings == ()
    (finding,) = lint_source(asks("to", "library-set"), "job.py", DISABLE, (of_shell,)).findings
    assert finding.rule == "argument-not-passed"


def test_every_start_has_to_pass_what_is_required():
    starts = (JobStart("trigger nightly", {"--day": "x"}), JobStart("trigger manual", {}))

    (finding,) = lint_source(asks("day"), "job.py", DISABLE, starts).findings

    assert (finding.rule, finding.severity) == ("argument-not-passed", "error")
    assert "trigger manual does not pass it" in finding.text


@pytest.mark.parametrize("name", ["JOB_RUN_ID", "job-bookmark-option"])
def test_what_must_not_be_asked_for_is_found_without_a_template(find, name):
    assert find(asks("JOB_NAME", name), DISABLE) == [("argument-reserved", "error", 2)]
    with pytest.raises(Exception, match=name):
        getResolvedOptions(["job.py", "--JOB_NAME", "x"], [name])


def test_a_key_that_was_not_asked_for_is_found(find):
    text = asks("JOB_NAME", "source-path") + "args['source_path'], args['TempDir'], args['day']\n"

    assert find(text, DISABLE) == [("argument-not-requested", "error", 3)]


def test_a_key_that_was_not_asked_for_by_name_is_found(find):
    text = "args = getResolvedOptions(args=sys.argv, options=['JOB_NAME'])\nargs['day']\n"

    assert find(text, DISABLE) == [("argument-not-requested", "error", 2)]


@pytest.mark.parametrize(
    "more",
    [
        "args['day'] = 1\n",
        "args.update(day=1)\n",
        "def f(args):\n    pass\n",
        "if 'day' in args:\n    pass\n",
        "if x:\n    args = getResolvedOptions(sys.argv, ['day'])\n",
    ],
)
def test_a_key_that_may_have_come_otherwise_is_not_found(find, more):
    assert find(f"{asks('JOB_NAME')}{more}print(args['day'])\n", DISABLE) == []


NAMES = ("so", "sour", "source", "source_path", "sink", "TempDir", "Temp", "JOB_NAME", "JOB")
Names = st.lists(st.sampled_from(NAMES), unique=True, max_size=3)


def results(passed: list[str], asked: list[str]) -> list[dict[str, str | None] | None]:
    """Return what getResolvedOptions gives for the arguments in every order, None if it fails."""
    job = JobDefinition("ingest", "", "5.1")
    found: list[dict[str, str | None] | None] = []
    for order in itertools.permutations(passed):
        argv = command_line(job, "j_1", "jr_1", {f"--{name}": f"v-{name}" for name in order})
        try:
            options = getResolvedOptions(["job.py", *argv], asked)
            found.append({name: options[name] for name in (*asked, "TempDir")})
        except GlueArgumentError:
            found.append(None)
    return found


@given(passed=Names.map(lambda names: [n for n in names if n != "JOB_NAME"]), asked=Names)
def test_the_verdict_is_what_the_real_function_does(passed, asked):
    facts = read_script(asks(*asked), "job.py")

    rules = {finding.rule for finding in argument_findings(facts, (start(*passed),))}

    given_values = {name: f"v-{name}" for name in passed} | {"JOB_NAME": "ingest"}
    right = {name: given_values.get(name) for name in (*asked, "TempDir")}
    found = results(passed, asked)
    assert ("argument-not-passed" in rules or "argument-ambiguous" in rules) == (
        None in found or any(one != found[0] for one in found)
    )
    if not rules & {"argument-not-passed", "argument-ambiguous"}:
        assert ("argument-abbreviated" in rules) == (found[0] != right)
