"""Judges the use of the job bookmark in a script; for jobs with bookmarks only."""

from collections.abc import Iterator

from tidemark.checks.lint.facts import Opened, ScriptFacts
from tidemark.checks.lint.findings import Finding, error, warning
from tidemark.checks.script.operators import Ctx
from tidemark.checks.script.script_names import ScriptPlace


def bookmark_findings(facts: ScriptFacts, is_promised: bool) -> Iterator[Finding]:
    """Yield what loses or defeats the bookmark of a job."""
    if facts.has_hidden_source or any(opened.operator.is_bookmarked for opened in facts.opened):
        yield from _job(facts)
    for opened in facts.opened:
        yield from _ctx(opened)
    yield from _duplicates(facts)
    has_source = any(opened.operator.is_source for opened in facts.opened)
    if is_promised and facts.spark_reads and not (has_source or facts.has_hidden_source):
        text = (
            "Spark's own readers know no bookmark and the script opens no other source: it reads "
            "all in every run"
        )
        yield error("dataframe-reader", min(facts.spark_reads, key=_line), text)


def _job(facts: ScriptFacts) -> Iterator[Finding]:
    """Yield what is wrong with init and commit, of a script that reads by a bookmark."""
    if facts.is_entry and not facts.has_hidden_job:
        yield from _init(facts)
        yield from _commit(facts)
    for place in facts.inits_without_args:
        text = "job.init is not given the job's arguments: bookmarks are off, every run reads all"
        yield error("init-without-args", place, text)
    for place in facts.commits_in_finally:
        text = "job.commit() in a finally block marks as read data a failed run did not process"
        yield error("commit-in-finally", place, text)
    for handler, commit in facts.commits_after_error:
        text = (
            "an exception that ends here leads on to job.commit() on line "
            f"{commit.line}, which marks unwritten data as read"
        )
        yield error("commit-after-error", handler, text)


def _init(facts: ScriptFacts) -> Iterator[Finding]:
    sources = [opened for opened in facts.opened if opened.operator.is_source]
    if not facts.inits:
        places = [*(opened.operator.place for opened in sources), *facts.commits]
        if places:
            yield error("init-missing", min(places, key=_line), "job.init is never called")
        return
    early = [opened.operator.place for opened in sources if not opened.is_after_init]
    what = "source" if early else "job.commit()"
    if places := early or facts.commits_before_init:
        first = min(places, key=_line)
        # Where an init comes later it is too late; where it has a condition, a reader judges it.
        make = error if first.line < min(map(_line, facts.inits)) else warning
        text = f"no unconditional job.init() stands before this {what}: it has no bookmark then"
        yield make("init-not-on-every-path", first, text)


def _commit(facts: ScriptFacts) -> Iterator[Finding]:
    sources = [opened.operator.place for opened in facts.opened if opened.operator.is_source]
    if not facts.commits:
        places = [*facts.inits, *sources]
        if places:
            text = "job.commit() is never called: every run reads the same again"
            yield error("commit-missing", min(places, key=_line), text)
        return
    for place in facts.ends:
        text = (
            "no unconditional job.commit() follows: a run that ends without one reads the same "
            "again, and writes it again"
        )
        yield warning("commit-not-on-every-path", place, text)


def _ctx(opened: Opened) -> Iterator[Finding]:
    operator = opened.operator
    if not operator.is_bookmarked:
        return
    match operator.ctx:
        case Ctx.MISSING if operator.is_source:
            misspelt = f" ({operator.text} is ignored)" if operator.text else ""
            text = f"{operator.name} without transformation_ctx{misspelt} reads all in every run"
            yield error("ctx-missing", operator.place, text)
        case Ctx.MISSING:
            text = f"{operator.name} without transformation_ctx numbers from 1 again in every run"
            yield warning("ctx-missing", operator.place, text)
        case Ctx.NEW_EACH_RUN:
            text = f"the transformation_ctx {operator.text} is new in every run, which reads all"
            yield error("ctx-not-literal", operator.place, text)
        case Ctx.CHANGING:
            text = (
                f"the transformation_ctx is {operator.text}: if its value ever changes, "
                "the bookmark of this source is silently lost"
            )
            yield warning("ctx-not-literal", operator.place, text)


def _duplicates(facts: ScriptFacts) -> Iterator[Finding]:
    bookmarked = {opened.operator.place for opened in facts.opened if opened.operator.is_bookmarked}
    lines = {place.line for place in bookmarked}
    for opened in facts.opened:
        operator = opened.operator
        others = [line for line in opened.same_ctx if operator.is_bookmarked or line in lines]
        if not others:
            continue
        at = "here again" if others == [operator.place.line] else f"on line {others[0]} too"
        text = f"the transformation_ctx {operator.text!r} is used {at}"
        make, why = warning, "it must be unique in a job"
        if operator.is_bookmarked and lines & set(others):
            make, why = error, "each loses the data that the other read"
        yield make("ctx-duplicate", operator.place, f"{text}: {why}")


def _line(place: ScriptPlace) -> int:
    return place.line
