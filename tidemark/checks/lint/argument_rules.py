"""Compares the arguments that a script reads with those that its job passes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tidemark.checks.lint.facts import Ask, ScriptFacts
from tidemark.checks.lint.findings import Finding, error, warning
from tidemark.model.assembly.glue_arguments import Passed, names_passed

REFUSED = names_passed(Passed.ALONE, Passed.BY_GLUE_ALONE)  # to be asked for
NEVER_REQUIRED = names_passed(Passed.OPTIONAL)
PASSED_BY_GLUE = names_passed(Passed.BY_GLUE, Passed.BY_GLUE_ALONE)
PASSED_BY_WORKFLOWS = names_passed(Passed.BY_WORKFLOW)
SPECIAL = names_passed(*Passed)  # parameters of the service; scripts need not read them


@dataclass(frozen=True)
class JobStart:
    """One way in which a job is started, and the arguments it then gets, with their ``--``."""

    by: str  # such as trigger nightly
    arguments: Mapping[str, str]
    is_in_workflow: bool = False
    is_abbreviating: bool = True  # Glue up to 5.1 takes the start of a name for the name

    @property
    def names(self) -> set[str]:
        """Return the names of all arguments of the run, without dashes.

        What has none, such as `library-set` of a Python shell job, is for Glue alone.
        Source: https://docs.aws.amazon.com/glue/latest/dg/add-job-python.html
        """
        added = PASSED_BY_WORKFLOWS if self.is_in_workflow else set()
        passed = {name[2:] for name in self.arguments if name.startswith("--")}
        return passed | PASSED_BY_GLUE | added


def own_argument_findings(facts: ScriptFacts) -> Iterator[Finding]:
    """Yield the problems with arguments in the script alone."""
    for ask in facts.asks:
        for name in sorted(REFUSED & set(ask.names or ())):
            text = f"getResolvedOptions refuses a request for {name}: the run fails"
            yield error("argument-reserved", ask.place, text)
    for place, key in facts.unknown_keys:
        text = f"{key} is read from the arguments but was not requested: the run fails"
        yield error("argument-not-requested", place, text)


def argument_findings(facts: ScriptFacts, starts: tuple[JobStart, ...]) -> Iterator[Finding]:
    """Yield the differences between the script and the arguments of its job."""
    findings: dict[tuple[str, str], Finding] = {}
    for start in starts:
        for name, finding in _of_start(facts, start):
            findings.setdefault((finding.rule, name), finding)
    yield from findings.values()


def _of_start(facts: ScriptFacts, start: JobStart) -> Iterator[tuple[str, Finding]]:
    asks = [ask for ask in facts.asks if ask.names is not None]
    short = {name: ask for ask in asks for name in _meant(ask, start).values()}
    for ask in asks:
        yield from _abbreviated(ask, start)
        for name in ask.names or ():
            is_needed = name in facts.always_asked and name not in facts.mentioned
            if is_needed and name not in start.names | NEVER_REQUIRED | REFUSED | set(short):
                text = f"--{name} is required and {start.by} does not pass it: the run fails"
                yield name, error("argument-not-passed", ask.place, text)
    if facts.reads_argv_itself or len(asks) < len(facts.asks) or not asks:
        return
    read = {name for ask in asks for name in ask.names or ()} | facts.mentioned | SPECIAL
    shortened = {name for ask in asks for name in _meant(ask, start)}
    for name in sorted(start.names - read - shortened):
        text = f"{start.by} passes --{name}, which the script does not read"
        yield name, warning("argument-not-read", asks[0].place, text)


def _options(ask: Ask) -> set[str]:
    """Return the names that a call of getResolvedOptions knows."""
    return {*(ask.names or ()), *REFUSED, *NEVER_REQUIRED}


def _meant(ask: Ask, start: JobStart) -> dict[str, str]:
    """Return the passed names that Glue up to 5.1 takes for a requested one."""
    if not start.is_abbreviating:
        return {}
    meant, options = dict[str, str](), _options(ask)
    for name in start.names - options:
        long = [option for option in options if option.startswith(name)]
        meant |= {name: long[0]} if len(long) == 1 else {}
    return meant


def _abbreviated(ask: Ask, start: JobStart) -> Iterator[tuple[str, Finding]]:
    if not start.is_abbreviating:
        return
    options, names = _options(ask), start.names
    short = _meant(ask, start)
    for name, meant in sorted(short.items()):
        rivals = [rival for rival in short if short[rival] == meant and rival != name]
        if rivals or meant in names:
            text = (
                f"{start.by} passes --{name} and --{(rivals or [meant])[0]}, and this call asks "
                f"only for {meant}: up to Glue 5.1 it takes both, and the last one counts"
            )
            yield meant, error("argument-ambiguous", ask.place, text)
        else:
            text = (
                f"{start.by} passes --{name}, which Glue up to 5.1 takes for --{meant}; Glue 6.0 "
                "refuses abbreviated names"
            )
            yield name, warning("argument-abbreviated", ask.place, text)
    for name in sorted(names - options):
        long = sorted(option for option in options if option.startswith(name))
        if len(long) > 1:
            text = (
                f"{start.by} passes --{name}, which up to Glue 5.1 can mean "
                f"{' or '.join(long)}: the run fails"
            )
            yield name, error("argument-ambiguous", ask.place, text)
