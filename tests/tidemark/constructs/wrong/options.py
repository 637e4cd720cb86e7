"""Runtimes, options of jobs, what a trigger adds."""

import tidemark.constructs as tc
from tests.tidemark.constructs.wrong.world import token

# What is declared, and a part of why it is refused.
WRONG = {
    "rt worker none": (lambda w: tc.JobRuntime(worker_type=None), "worker_type is None"),
    "rt worker list": (lambda w: tc.JobRuntime(worker_type=["G.1X"]), "worker_type is ['G.1X']"),
    "rt workers float": (
        lambda w: tc.JobRuntime(number_of_workers=2.0),
        "number_of_workers is 2.0",
    ),
    "rt workers str": (lambda w: tc.JobRuntime(number_of_workers="2"), "number_of_workers is '2'"),
    "rt timeout none": (lambda w: tc.JobRuntime(timeout_minutes=None), "timeout_minutes is None"),
    "rt timeout big": (lambda w: tc.JobRuntime(timeout_minutes=10081), "timeout_minutes is 10081"),
    "rt version float": (lambda w: tc.JobRuntime(glue_version=5.1), "glue_version is 5.1"),
    "rt version 3.0": (lambda w: tc.JobRuntime(glue_version="3.0"), "glue_version is '3.0'"),
    "rt version 5": (lambda w: tc.JobRuntime(glue_version="5"), "glue_version is '5'"),
    "rt flex str": (lambda w: tc.JobRuntime(flex="no"), "flex is 'no'"),
    "rt G.025X": (lambda w: tc.JobRuntime(worker_type="G.025X"), "worker_type is 'G.025X'"),
    "rt Z.2X": (lambda w: tc.JobRuntime(worker_type="Z.2X"), "worker_type is 'Z.2X'"),
    "rt R.8X 300": (
        lambda w: tc.JobRuntime(worker_type="R.8X", number_of_workers=300),
        "number_of_workers is 300",
    ),
    "rt worker unhashable": (
        lambda w: tc.JobRuntime(worker_type={"a": 1}),
        "worker_type is {'a': 1}",
    ),
    "rt flex list": (lambda w: tc.JobRuntime(flex=[]), "flex is []"),
    "o descr empty": (
        lambda w: w.job(options=tc.JobOptions(description="")),
        "JobOptions has description ''",
    ),
    "o descr 2049": (
        lambda w: w.job(options=tc.JobOptions(description="a" * 2049)),
        "JobOptions has description",
    ),
    "o descr 2048 umlauts": (
        lambda w: w.job(options=tc.JobOptions(description="ä" * 2048)),
        "JobOptions has description",
    ),
    "o descr spaces": (
        lambda w: w.job(options=tc.JobOptions(description="  ")),
        "JobOptions has description '  '",
    ),
    "o descr secret": (
        lambda w: w.job(options=tc.JobOptions(description="password=hunter2")),
        "JobOptions has a description that looks as if it held a secret,",
    ),
    "o tags aws": (
        lambda w: w.job(options=tc.JobOptions(tags={"aws:a": "b"})),
        "JobOptions has tags {'aws:a': 'b'}",
    ),
    "o tags tidemark": (
        lambda w: w.job(options=tc.JobOptions(tags={"tidemark:stage": "x"})),
        "JobOptions has tags {'tidemark:stage': 'x'}",
    ),
    "o tags star": (
        lambda w: w.job(options=tc.JobOptions(tags={"a": "b*"})),
        "JobOptions has tags {'a': 'b*'}",
    ),
    "o tags 49": (
        lambda w: w.job(options=tc.JobOptions(tags={f"a{i}": "b" for i in range(49)})),
        "JobOptions has tags {'a0': 'b', 'a1': 'b', 'a2': 'b', 'a3':",
    ),
    "o tags case": (
        lambda w: w.job(options=tc.JobOptions(tags={"Team": "a", "team": "b"})),
        "JobOptions has tags ['Team', 'team']",
    ),
    "o tags 129": (
        lambda w: w.job(options=tc.JobOptions(tags={"a" * 129: "b"})),
        "JobOptions has tags",
    ),
    "o ret 10": (
        lambda w: w.job(options=tc.JobOptions(log_retention_days=10)),
        "JobOptions has log_retention_days 10",
    ),
    "o ret 0": (
        lambda w: w.job(options=tc.JobOptions(log_retention_days=0)),
        "JobOptions has log_retention_days 0",
    ),
    "o ret with existing groups": (
        lambda w: w.job(
            pipeline=w.pipeline("x", log_groups=tc.LogGroups.EXISTING),
            options=tc.JobOptions(log_retention_days=30),
        ),
        "JobOptions has log_retention_days 30 in a pipeline with",
    ),
    "o runs 0": (
        lambda w: w.job(options=tc.JobOptions(max_concurrent_runs=0)),
        "JobOptions has max_concurrent_runs 0",
    ),
    "o runs 2 bookmark": (
        lambda w: w.job(options=tc.JobOptions(max_concurrent_runs=2)),
        "job 'one' has max_concurrent_runs 2 and keeps a bookmark, which",
    ),
    "o runs 4001": (
        lambda w: w.job(options=tc.JobOptions(max_concurrent_runs=4001)),
        "JobOptions has max_concurrent_runs 4001",
    ),
    "o runs 2 pause": (
        lambda w: w.job(
            bookmark=tc.BookmarkOption.PAUSE, options=tc.JobOptions(max_concurrent_runs=2)
        ),
        "job 'one' has max_concurrent_runs 2 and keeps a bookmark, which",
    ),
    "o runs 2 watermark": (
        lambda w: w.job(
            bookmark=tc.BookmarkOption.DISABLE,
            watermark=True,
            options=tc.JobOptions(max_concurrent_runs=2),
        ),
        "job 'one' has max_concurrent_runs 2 and keeps watermarks, whose",
    ),
    "o nonov unknown": (
        lambda w: w.job(options=tc.JobOptions(non_overridable=["nope"])),
        "job 'one' has 'nope' in non_overridable, which is not one of its",
    ),
    "o nonov twice": (
        lambda w: w.job(options=tc.JobOptions(non_overridable=["a", "a"])),
        "JobOptions has non_overridable ['a', 'a']",
    ),
    "o notify 0": (
        lambda w: w.job(options=tc.JobOptions(notify_after_minutes=0)),
        "JobOptions has notify_after_minutes 0",
    ),
    "o notify >= timeout": (
        lambda w: w.job(options=tc.JobOptions(notify_after_minutes=60)),
        "job 'one' has notify_after_minutes 60 and ends after 60",
    ),
    "a empty": (lambda w: w.job(started=tc.ActionOptions()), "ActionOptions() is empty"),
    "a args dashes": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"--a": "b"})),
        "ActionOptions has the argument '--a'; allowed: names without dashes",
    ),
    "a args secret": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"password": "hunter2"})),
        "job 'one' is started with the argument 'password' with a value",
    ),
    "a args glue": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"conf": "x"})),
        "job 'one' has the argument 'conf'",
    ),
    "a timeout 0": (
        lambda w: w.job(started=tc.ActionOptions(timeout_minutes=0)),
        "ActionOptions has timeout_minutes 0",
    ),
    "a timeout big": (
        lambda w: w.job(started=tc.ActionOptions(timeout_minutes=10081)),
        "ActionOptions has timeout_minutes 10081",
    ),
    "a notify": (
        lambda w: w.job(started=tc.ActionOptions(notify_after_minutes=60)),
        "job 'one' is started with notify_after_minutes 60 and times out",
    ),
    "a empty dict": (
        lambda w: w.job(started=tc.ActionOptions(arguments={})),
        "ActionOptions() is empty",
    ),
    "a args dataset undeclared": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"x": w.data()})),
        "job 'one' has the argument 'x' with the dataset 'in/', which it",
    ),
    "a args nonoverridable": (
        lambda w: w.job(
            arguments={"a": "b"},
            options=tc.JobOptions(non_overridable=["a"]),
            started=tc.ActionOptions(arguments={"a": "c"}),
        ),
        "job 'one' is started with the argument 'a', which is in non_overridable",
    ),
    "a args watermark_table": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"watermark_table": "x"})),
        "job 'one' has the argument 'watermark_table'",
    ),
    "a args TempDir": (
        lambda w: w.job(started=tc.ActionOptions(arguments={"TempDir": "x"})),
        "job 'one' has the argument 'TempDir'",
    ),
    "a notify > own": (
        lambda w: w.job(started=tc.ActionOptions(timeout_minutes=10, notify_after_minutes=10)),
        "job 'one' is started with notify_after_minutes 10 and times out",
    ),
    "ns none": (
        lambda w: w.job(arguments={"password": tc.NotSecret(None, "x")}),
        "job 'one' has the argument 'password' as a NotSecret with the",
    ),
    "ns nested": (
        lambda w: w.job(arguments={"password": tc.NotSecret(tc.NotSecret("a", "b"), "x")}),
        "job 'one' has the argument 'password' as a NotSecret with the",
    ),
    "ns reason none": (
        lambda w: w.job(arguments={"a": tc.NotSecret("a", None)}),
        "job 'one' has the argument 'a' as a NotSecret with the reason",
    ),
}
# What looks wrong and is not.
VALID = {
    "rt flex+retries": lambda w: w.job(runtime=tc.JobRuntime(flex=True, max_retries=2)),
    "rt auto_scaling 2": lambda w: w.job(
        runtime=tc.JobRuntime(auto_scaling=True, number_of_workers=2)
    ),
    "o descr none": lambda w: w.job(options=tc.JobOptions(description=None)),
    "o descr newline": lambda w: w.job(options=tc.JobOptions(description="a\nb")),
    "o tags empty value": lambda w: w.job(options=tc.JobOptions(tags={"a": ""})),
    "o ret shell": lambda w: w.shell(options=tc.JobOptions(log_retention_days=30)),
    "o runs 2 disable": lambda w: w.job(
        bookmark=tc.BookmarkOption.DISABLE, options=tc.JobOptions(max_concurrent_runs=2)
    ),
    "o nonov dash known": lambda w: w.job(
        options=tc.JobOptions(non_overridable=["--job-language"])
    ),
    "o nonov bookmark": lambda w: w.job(
        options=tc.JobOptions(non_overridable=["--job-bookmark-option"])
    ),
    "a args same value": lambda w: w.job(
        arguments={"a": "b"}, started=tc.ActionOptions(arguments={"a": "b"})
    ),
    "a timeout below job notify": lambda w: w.job(started=tc.ActionOptions(timeout_minutes=10)),
    "a timeout below options notify": lambda w: w.job(
        options=tc.JobOptions(notify_after_minutes=30), started=tc.ActionOptions(timeout_minutes=20)
    ),
    "a new arg": lambda w: w.job(started=tc.ActionOptions(arguments={"extra": "x"})),
    "ns token": lambda w: w.job(arguments={"password": tc.NotSecret(token(), "x")}),
    "ns not needed": lambda w: w.job(arguments={"a": tc.NotSecret("a", "why")}),
}
# What a rule of the graph refuses at synthesis, and the rule.
REFUSED_AT_SYNTHESIS = {
    "o runs 2 writes": (
        lambda w: w.job(
            bookmark=tc.BookmarkOption.DISABLE,
            writes=[w.data()],
            options=tc.JobOptions(max_concurrent_runs=2),
        ),
        "two-writers",
    ),
}
