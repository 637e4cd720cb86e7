"""Spark jobs: names, scripts, what they wait for."""

from pathlib import Path

import tidemark.constructs as tc
from tests.tidemark.constructs.wrong.world import token

# What is declared, and a part of why it is refused.
WRONG = {
    "name none": (lambda w: w.job(None), "job name None is not in kebab case"),
    "name int": (lambda w: w.job(7), "job name 7 is not in kebab case"),
    "name 256": (lambda w: w.job("a" * 256), "job name"),
    "name token": (
        lambda w: w.job(token()),
        "allowed: up to 255 lower case letters, digits and single",
    ),
    "name newline": (lambda w: w.job("one\n"), "job name 'one\\n' is not in kebab case"),
    "name libs": (
        lambda w: w.job("libs"),
        "job 'libs' would have the construct id 'Libs', which the",
    ),
    "name collide id a-b ab": (
        lambda w: (w.job("a-b"), w.job("aB" if 0 else "a--b")),
        "job name 'a--b' is not in kebab case",
    ),
    "ids collide x-1y": (
        lambda w: (w.job("load-1x"), w.job("load1x")),
        "job 'load1x' would have the construct id 'Load1x', which the",
    ),
    "script none": (lambda w: w.job(script=None), "job 'one' has script None"),
    "script path": (
        lambda w: w.job(script=Path("job.py")),
        "job 'one' has script PosixPath('job.py')",
    ),
    "script empty": (lambda w: w.job(script=""), "create it, or correct the path in script="),
    "script dot": (lambda w: w.job(script="."), "create it, or correct the path in script="),
    "script dir": (lambda w: w.job(script="libs"), "create it, or correct the path in script="),
    "script s3": (
        lambda w: w.job(script="s3://b/job.py"),
        "create it, or correct the path in script=",
    ),
    "script nul": (lambda w: w.job(script="a\0b.py"), "create it, or correct the path in script="),
    "script newline": (
        lambda w: w.job(script="a\nb.py"),
        "create it, or correct the path in script=",
    ),
    "script token": (lambda w: w.job(script=token()), "create it, or correct the path in script="),
    "bookmark str": (
        lambda w: w.job(bookmark="job-bookmark-enable"),
        "job 'one' has bookmark 'job-bookmark-enable'",
    ),
    "bookmark bool": (lambda w: w.job(bookmark=True), "job 'one' has bookmark True"),
    "bookmark none": (lambda w: w.job(bookmark=None), "job 'one' has bookmark None"),
    "after none": (lambda w: w.job(after=None), "after is None"),
    "after job": (
        lambda w: w.job("second", after=w.job("first")),
        "allowed: a list of jobs, all_of(...) or any_of(...)",
    ),
    "after str list": (
        lambda w: w.job(after=["first"]),
        "'first' is no job that can be waited for",
    ),
    "after set": (
        lambda w: w.job("second", after={w.job("first")}),
        "allowed: a list of jobs, all_of(...) or any_of(...)",
    ),
    "after generator": (
        lambda w: w.job("second", after=(x for x in [w.job("first")])),
        "allowed: a list of jobs, all_of(...) or any_of(...)",
    ),
    "after self other pipeline": (
        lambda w: w.job("second", after=[w.job("first", pipeline=w.pipeline("other"))]),
        "job 'second' waits for 'first', which no trigger of this",
    ),
    "after stream": (
        lambda w: w.job("second", after=[w.stream("st")]),
        "job 'second' waits for 'st', which no trigger of this pipeline",
    ),
    "after stream any_of": (
        lambda w: w.job("second", after=tc.any_of(w.stream("st"))),
        "job 'second' waits for 'st', which no trigger of this pipeline",
    ),
    "after job twice": (
        lambda w: (lambda a: w.job("second", after=[a, a]))(w.job("first")),
        "all_of(...) names 'first' twice, and a run ends in one state",
    ),
    "after any_of nested": (
        lambda w: (lambda a: w.job("second", after=tc.all_of(tc.any_of(a))))(w.job("first")),
        "all_of(...) and any_of(...) stand within one another, and a",
    ),
    "after any_of crawler TIMEOUT": (
        lambda w: w.job("second", after=tc.any_of(w.crawler(), on=tc.JobState.TIMEOUT)),
        "on(...) of 'crawl' is <JobState.TIMEOUT: 'TIMEOUT'>",
    ),
    "all_of on str": (lambda w: tc.all_of(w.job("first"), on="SUCCEEDED"), "on is 'SUCCEEDED'"),
    "all_of on crawlstate": (
        lambda w: tc.all_of(w.crawler(), on=tc.CrawlState.SUCCEEDED),
        "on is <CrawlState.SUCCEEDED: 'SUCCEEDED'>",
    ),
    "all_of empty": (lambda w: tc.all_of(), "all_of() and any_of() name no job"),
    "all_of list": (
        lambda w: tc.all_of([w.job("first")]),
        "allowed: what add_job or add_crawler returned, or",
    ),
    "any_of none": (lambda w: tc.any_of(None), "None is no job that can be waited for"),
    "any_of class": (lambda w: tc.any_of(tc.IncrementalJob), "<class"),
    "job.on str": (lambda w: w.job("first").on("FAILED"), "on(...) of 'first' is 'FAILED'"),
    "job.on crawlstate": (
        lambda w: w.job("first").on(tc.CrawlState.FAILED),
        "on(...) of 'first' is <CrawlState.FAILED: 'FAILED'>",
    ),
    "Predicate by hand": (
        lambda w: w.job(
            "second", after=tc.Predicate("OR", (w.job("first").on(tc.JobState.FAILED),))
        ),
        "Predicate has logical 'OR'",
    ),
    "Predicate by hand empty": (
        lambda w: w.job("second", after=tc.Predicate("AND", ())),
        "Predicate has conditions ()",
    ),
    "Predicate conditions str": (
        lambda w: w.job("second", after=tc.Predicate("AND", "x")),
        "Predicate has conditions 'x'",
    ),
    "Condition by hand": (lambda w: tc.Condition("x", tc.JobState.FAILED), "Condition has job 'x'"),
    "Condition job none": (
        lambda w: tc.Condition(None, tc.JobState.FAILED),
        "Condition has job None",
    ),
    "skip int": (
        lambda w: w.job(skip_if_nothing_new=1, reads=[w.data()]),
        "job 'one' has skip_if_nothing_new 1",
    ),
    "skip without data": (
        lambda w: w.job(skip_if_nothing_new=True),
        "declares no data that it reads, so that nothing says whether they have changed",
    ),
    "skip without bookmark": (
        lambda w: w.job(
            skip_if_nothing_new=True, reads=[w.data()], bookmark=tc.BookmarkOption.DISABLE
        ),
        "has the bookmark option job-bookmark-disable, with which every run reads everything",
    ),
    "skip with watermark": (
        lambda w: w.job(skip_if_nothing_new=True, reads=[w.data()], watermark=True),
        "keeps a watermark, whose next window may have rows without a new file",
    ),
    "skip argument": (
        lambda w: w.job(arguments={"skip_if_nothing_new": "x"}),
        "job 'one' has the argument 'skip_if_nothing_new'",
    ),
    "watermark int": (lambda w: w.job(watermark=1), "job 'one' has watermark 1"),
    "watermark none": (lambda w: w.job(watermark=None), "job 'one' has watermark None"),
    "age bool": (
        lambda w: w.job(watermark=True, max_watermark_age_hours=True),
        "job 'one' has max_watermark_age_hours True",
    ),
    "age float": (
        lambda w: w.job(watermark=True, max_watermark_age_hours=1.5),
        "job 'one' has max_watermark_age_hours 1.5",
    ),
    "age zero": (
        lambda w: w.job(watermark=True, max_watermark_age_hours=0),
        "job 'one' has max_watermark_age_hours 0",
    ),
    "started dict": (
        lambda w: w.job(started={"timeout_minutes": 1}),
        "job 'one' has started {'timeout_minutes': 1}",
    ),
    "started class": (lambda w: w.job(started=tc.ActionOptions), "job 'one' has started <class"),
    "acknowledge unknown": (
        lambda w: w.job().acknowledge("nope", "x"),
        "job 'one' acknowledges the rule 'nope'",
    ),
    "acknowledge no reason": (
        lambda w: w.job().acknowledge("two-writers", " "),
        "job 'one' acknowledges 'two-writers' with the reason ' '",
    ),
    "acknowledge list": (
        lambda w: w.job().acknowledge(["two-writers"], "x"),
        "job 'one' acknowledges the rule ['two-writers']",
    ),
}
# What looks wrong and is not.
VALID = {
    "name 255": lambda w: w.job("a" * 255),
    "name start-schedule w/ schedule": lambda w: w.job("start-schedule"),
    "name permissions-boundary": lambda w: w.job("permissions-boundary"),
    "name ids collide a1-b / a-1b": lambda w: (w.job("a1-b"), w.job("a-1b")),
    "script abs": lambda w: w.job(script=str(w.root / "job.py")),
    "after crawler": lambda w: w.job("second", after=[w.crawler()]),
    "after any_of crawler FAILED+job": lambda w: w.job(
        "second", after=tc.any_of(w.crawler(), w.job("first"), on=tc.JobState.FAILED)
    ),
    "acknowledge newline reason": lambda w: w.job().acknowledge("two-writers", "a\nb"),
}
