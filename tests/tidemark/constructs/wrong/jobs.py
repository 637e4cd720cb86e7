"""Spark jobs: names, scripts, what they wait for."""

import tidemark.constructs as tc
from tests.tidemark.constructs.wrong.world import token

# What is declared, and a part of why it is refused.
WRONG = {
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
        "all_of(...) names 'first' twice, but a run ends in one state",
    ),
    "after any_of nested": (
        lambda w: (lambda a: w.job("second", after=tc.all_of(tc.any_of(a))))(w.job("first")),
        "all_of(...) and any_of(...) are nested, but a",
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
    "any_of none": (lambda w: tc.any_of(None), "None is not a job that can be waited for"),
    "any_of class": (lambda w: tc.any_of(tc.IncrementalJob), "<class"),
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
    "skip without data": (
        lambda w: w.job(skip_if_nothing_new=True),
        "declares no data that it reads, so that nothing shows whether it has changed",
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
    "age zero": (
        lambda w: w.job(watermark=True, max_watermark_age_hours=0),
        "job 'one' has max_watermark_age_hours 0",
    ),
    "acknowledge unknown": (
        lambda w: w.job().acknowledge("nope", "x"),
        "job 'one' acknowledges the rule 'nope'",
    ),
    "acknowledge no reason": (
        lambda w: w.job().acknowledge("two-writers", " "),
        "job 'one' acknowledges 'two-writers' with the reason ' '",
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
