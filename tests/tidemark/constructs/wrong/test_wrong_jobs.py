"""Jobs of Spark: what is wrong is refused in one line."""

from pathlib import Path

import pytest

import tidemark.constructs as tc
from tests.fixtures.pipelines import ACCOUNT, REGION
from tests.tidemark.constructs.wrong.world import World, cdk, iam, token
from tidemark.errors import InputError

pytestmark = pytest.mark.synth

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
    "watermark int": (lambda w: w.job(watermark=1), "job 'one' has watermark 1"),
    "watermark none": (lambda w: w.job(watermark=None), "job 'one' has watermark None"),
    "reads dataset": (lambda w: w.job(reads=w.data()), "allowed: a list of Dataset"),
    "reads none": (lambda w: w.job(reads=None), "job 'one' has reads None"),
    "reads str": (lambda w: w.job(reads="s3://x/"), "job 'one' has reads 's3://x/'"),
    "reads set": (lambda w: w.job(reads={w.data()}), "allowed: a list of Dataset"),
    "reads job": (
        lambda w: w.job("b", reads=[w.job("a", writes=[w.data("x/")])]),
        "allowed: a list of Dataset",
    ),
    "writes bucket": (lambda w: w.job(writes=[w.lake]), "allowed: a list of Dataset"),
    "arguments list": (lambda w: w.job(arguments=["a"]), "job 'one' has arguments ['a']"),
    "arguments str": (lambda w: w.job(arguments="a=b"), "job 'one' has arguments 'a=b'"),
    "arguments int": (
        lambda w: w.job(arguments={"a": 1}),
        "job 'one' has the argument 'a' with the value 1",
    ),
    "arguments bool": (
        lambda w: w.job(arguments={"a": True}),
        "job 'one' has the argument 'a' with the value True",
    ),
    "arguments none value": (
        lambda w: w.job(arguments={"a": None}),
        "job 'one' has the argument 'a' with the value None",
    ),
    "arguments name none": (
        lambda w: w.job(arguments={None: "a"}),
        "job 'one' has the argument None",
    ),
    "arguments name empty": (lambda w: w.job(arguments={"": "a"}), "job 'one' has the argument ''"),
    "arguments name dashes": (
        lambda w: w.job(arguments={"--a": "b"}),
        "job 'one' has the argument '--a'",
    ),
    "arguments name hyphen": (
        lambda w: w.job(arguments={"my-arg": "b"}),
        "job 'one' has the argument 'my-arg'",
    ),
    "arguments name space": (
        lambda w: w.job(arguments={"a b": "b"}),
        "job 'one' has the argument 'a b'",
    ),
    "arguments JOB_RUN_ID": (
        lambda w: w.job(arguments={"JOB_RUN_ID": "b"}),
        "job 'one' has the argument 'JOB_RUN_ID'",
    ),
    "arguments WORKFLOW_NAME": (
        lambda w: w.job(arguments={"WORKFLOW_NAME": "b"}),
        "job 'one' has the argument 'WORKFLOW_NAME'",
    ),
    "arguments WORKFLOW_RUN_ID": (
        lambda w: w.job(arguments={"WORKFLOW_RUN_ID": "b"}),
        "job 'one' has the argument 'WORKFLOW_RUN_ID'",
    ),
    "arguments checkpoint on stream": (
        lambda w: w.stream(arguments={"checkpoint": "b"}),
        "job 'one' has the argument 'checkpoint'",
    ),
    "arguments secret value": (
        lambda w: w.job(arguments={"url": "jdbc:postgresql://u:p@h/db"}),
        "job 'one' has the argument 'url' with a value that looks like a",
    ),
    "arguments secret name": (
        lambda w: w.job(arguments={"api_key": "abcdef"}),
        "job 'one' has the argument 'api_key' with a value that looks",
    ),
    "arguments nul": (
        lambda w: w.job(arguments={"a": "b\0c"}),
        "job 'one' has the argument 'a' with a NUL",
    ),
    "arguments 300KB": (
        lambda w: w.job(arguments={"a": "x" * 300_000}),
        "job 'one' has the argument 'a' with 300000 bytes",
    ),
    "arguments job none written": (
        lambda w: (lambda a: w.job("b", after=[a], arguments={"x": a}))(w.job("a")),
        "job 'a' writes 0 datasets, so its output is not one",
    ),
    "arguments crawler": (
        lambda w: (lambda a: w.job("b", after=[a], arguments={"x": a}))(w.crawler("a")),
        "allowed: a string (Glue's arguments are text), a Dataset, or a",
    ),
    "arguments dataset undeclared": (
        lambda w: w.job(arguments={"x": w.data()}),
        "job 'one' has the argument 'x' with the dataset 'in/', which it",
    ),
    "arguments bucket": (
        lambda w: w.job(arguments={"x": w.lake}),
        "allowed: a string (Glue's arguments are text), a Dataset, or a",
    ),
    "runtime dict": (
        lambda w: w.job(runtime={"flex": True}),
        "job 'one' has runtime {'flex': True}",
    ),
    "runtime class": (lambda w: w.job(runtime=tc.JobRuntime), "job 'one' has runtime <class"),
    "runtime shell": (lambda w: w.job(runtime=tc.ShellRuntime()), "job 'one' has runtime"),
    "runtime streaming": (
        lambda w: w.job(runtime=tc.StreamingRuntime()),
        "job 'one' has runtime StreamingRuntime(worker_type='G.025X',",
    ),
    "tables str": (lambda w: w.job(tables="a.b"), "job 'one' has tables 'a.b'"),
    "tables upper": (lambda w: w.job(tables=["Db.T"]), "job 'one' has 'Db.T' in tables"),
    "tables star": (lambda w: w.job(tables=["db.*"]), "job 'one' has 'db.*' in tables"),
    "tables none": (lambda w: w.job(tables=None), "job 'one' has tables None"),
    "tables three": (lambda w: w.job(tables=["a.b.c"]), "job 'one' has 'a.b.c' in tables"),
    "temp bucket": (lambda w: w.job(temp=w.lake), "allowed: a Dataset"),
    "temp list": (lambda w: w.job(temp=[w.data()]), "allowed: a Dataset"),
    "modules str": (lambda w: w.job(python_modules="a==1"), "job 'one' has python_modules 'a==1'"),
    "modules range": (
        lambda w: w.job(python_modules=["a>=1"]),
        "job 'one' has 'a>=1' in python_modules",
    ),
    "modules url": (
        lambda w: w.job(python_modules=["https://x/a.whl"]),
        "job 'one' has 'https://x/a.whl' in python_modules",
    ),
    "modules twice": (
        lambda w: w.job(python_modules=["a==1", "a==1"]),
        "job 'one' has 'a==1' and 'a==1' in python_modules",
    ),
    "modules token": (
        lambda w: w.job(python_modules=[token()]),
        "allowed: name==version, or an address that begins with s3://,",
    ),
    "modules space": (
        lambda w: w.job(python_modules=["a == 1"]),
        "job 'one' has 'a == 1' in python_modules",
    ),
    "modules marker": (
        lambda w: w.job(python_modules=["a==1;python_version<'3'"]),
        "job 'one' has \"a==1;python_version<'3'\" in python_modules",
    ),
    "modules tar": (
        lambda w: w.job(python_modules=["s3://b/x.tar.gz"]),
        "job 'one' has 's3://b/x.tar.gz' in python_modules",
    ),
    "modules wildcard version": (
        lambda w: w.job(python_modules=["a==1.*"]),
        "job 'one' has 'a==1.*' in python_modules",
    ),
    "connections [None]": (lambda w: w.job(connections=[None]), "job 'one' has connections [None]"),
    "connections empty str": (lambda w: w.job(connections=[""]), "job 'one' has connections ['']"),
    "connections set": (lambda w: w.job(connections={"a"}), "job 'one' has connections {'a'}"),
    "connections dict": (
        lambda w: w.job(connections={"a": 1}),
        "job 'one' has connections {'a': 1}",
    ),
    "connections int": (lambda w: w.job(connections=5), "job 'one' has connections 5"),
    "connections 300": (lambda w: w.job(connections=["a" * 300]), "job 'one' has connections"),
    "connections arn": (
        lambda w: w.job(connections=["arn:aws:glue:eu-west-1:123456789012:connection/x"]),
        "job 'one' has connections",
    ),
    "secrets arn": (
        lambda w: w.job(
            secrets=["arn:aws:secretsmanager:eu-west-1:123456789012:secret:air-a1b2c3"]
        ),
        "job 'one' has",
    ),
    "secrets empty": (lambda w: w.job(secrets=[""]), "job 'one' has '' in secrets"),
    "secrets none": (lambda w: w.job(secrets=[None]), "job 'one' has secrets [None]"),
    "secrets ISecret": (
        lambda w: w.job(
            secrets=[__import__("aws_cdk.aws_secretsmanager", fromlist=["x"]).Secret(w.stack, "S")]
        ),
        "allowed: a list of strings, each the name (no ARN) of a secret",
    ),
    "run_properties bool": (
        lambda w: w.job(run_properties=True),
        "job 'one' has run_properties True",
    ),
    "run_properties str": (
        lambda w: w.job(run_properties="read"),
        "job 'one' has run_properties 'read'",
    ),
    "run_properties dict": (
        lambda w: w.job(run_properties={"day": "x"}),
        "job 'one' has run_properties {'day': 'x'}",
    ),
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
    "role arn str": (
        lambda w: w.job(role="arn:aws:iam::123456789012:role/x"),
        "job 'one' has role 'arn:aws:iam::123456789012:role/x'",
    ),
    "role lambda": (
        lambda w: w.job(
            role=iam.Role(w.stack, "R", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        ),
        "job 'one' has a role that does not trust Glue",
    ),
    "role user": (
        lambda w: w.job(role=iam.User(w.stack, "U")),
        "allowed: an iam.Role, or iam.Role.from_role_arn(...) for one",
    ),
    "role group": (
        lambda w: w.job(role=iam.Group(w.stack, "G")),
        "allowed: an iam.Role, or iam.Role.from_role_arn(...) for one",
    ),
    "role principal": (
        lambda w: w.job(role=iam.ServicePrincipal("glue.amazonaws.com")),
        "allowed: an iam.Role, or iam.Role.from_role_arn(...) for one",
    ),
    "role other account": (
        lambda w: w.job(
            role=iam.Role.from_role_arn(w.stack, "R", "arn:aws:iam::999999999999:role/x")
        ),
        "job 'one' has a role of the account 999999999999, and Glue runs",
    ),
    "role not an arn": (
        lambda w: w.job(
            role=iam.Role.from_role_arn(w.stack, "R", "arn:aws:iam::123456789012:user/x")
        ),
        "job 'one' has a role with the ARN",
    ),
    "role assumed-role arn": (
        lambda w: w.job(
            role=iam.Role.from_role_arn(w.stack, "R", "arn:aws:sts::123456789012:assumed-role/x/y")
        ),
        "job 'one' has a role with the ARN",
    ),
    "glue_arguments dict": (
        lambda w: w.job(glue_arguments={"conf": {}}),
        "job 'one' has glue_arguments {'conf': {}}",
    ),
    "glue_arguments class": (
        lambda w: w.job(glue_arguments=tc.GlueArguments),
        "job 'one' has glue_arguments <class",
    ),
    "options dict": (lambda w: w.job(options={"tags": {}}), "job 'one' has options {'tags': {}}"),
    "options class": (lambda w: w.job(options=tc.JobOptions), "job 'one' has options <class"),
    "options crawler": (
        lambda w: w.job(options=tc.CrawlerOptions()),
        "job 'one' has options CrawlerOptions(table_prefix='',",
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
    "tables twice": (lambda w: w.job(tables=["a.b", "a.b"]), "'a.b' in tables twice"),
    "tables token": (lambda w: w.job(tables=[token()]), "in tables; allowed: each database.table"),
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
    "reads tuple ok": lambda w: w.job(reads=(w.data(),)),
    "reads twice": lambda w: w.job(reads=[w.data(), w.data()]),
    "writes twice": lambda w: w.job(writes=[w.data(), w.data()]),
    "writes twice differ flags": lambda w: w.job(writes=[w.data(), w.data(published=False)]),
    "arguments checkpoint on etl": lambda w: w.job(arguments={"checkpoint": "b"}),
    "arguments token": lambda w: w.job(arguments={"a": token()}),
    "arguments newline": lambda w: w.job(arguments={"a": "b\nc"}),
    "arguments case clash": lambda w: w.job(arguments={"Day": "a", "day": "b"}),
    "modules watermarks": lambda w: w.job(python_modules=["pyspark==3.5.6"]),
    "connections none": lambda w: w.job(connections=None),
    "connections twice": lambda w: w.job(connections=["a", "a"]),
    "connections trailing space": lambda w: w.job(connections=["a "]),
    "secrets token": lambda w: w.job(secrets=[token()]),
    "secrets suffix-like": lambda w: w.job(secrets=["air/reader-a1b2c3"]),
    "role shared two jobs": lambda w: (lambda r: (w.job("a", role=r), w.job("b", role=r)))(
        iam.Role(w.stack, "R", assumed_by=iam.ServicePrincipal("glue.amazonaws.com"))
    ),
    "role composite trust": lambda w: w.job(
        role=iam.Role(
            w.stack,
            "R",
            assumed_by=iam.CompositePrincipal(
                iam.ServicePrincipal("glue.amazonaws.com"),
                iam.ServicePrincipal("lambda.amazonaws.com"),
            ),
        )
    ),
    "role deny-ish trust": lambda w: w.job(
        role=iam.Role(
            w.stack,
            "R",
            assumed_by=iam.ServicePrincipal(
                "glue.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": "111111111111"}},
            ),
        )
    ),
    "role of another stack": lambda w: w.job(
        role=iam.Role(
            cdk.Stack(w.app, "s2", env=cdk.Environment(account=ACCOUNT, region=REGION)),
            "R",
            assumed_by=iam.ServicePrincipal("glue.amazonaws.com"),
        )
    ),
    "acknowledge newline reason": lambda w: w.job().acknowledge("two-writers", "a\nb"),
}
# What a rule of the graph refuses at synthesis, and the rule.
REFUSED_AT_SYNTHESIS = {
    "reads=writes": (
        lambda w: w.job(reads=[w.data("x/")], writes=[w.data("x/")]),
        "reads-own-output",
    ),
    "temp = writes": (lambda w: w.job(temp=w.data("x/"), writes=[w.data("x/")]), "temp-overlaps"),
    "temp = reads": (lambda w: w.job(temp=w.data("x/"), reads=[w.data("x/")]), "temp-overlaps"),
}


@pytest.mark.parametrize(("declare", "why"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_in_one_line(world, declare, why):
    with pytest.raises(InputError) as refused:
        declare(world)

    text = str(refused.value)
    assert why in text
    assert "\n" not in text
    assert ";" in text  # what to do follows what is wrong


@pytest.mark.parametrize("declare", VALID.values(), ids=VALID)
def test_what_only_looks_wrong_is_synthesized(cdk, tmp_path, declare):
    world = World(tmp_path)

    declare(world)

    assert world.app.synth().stacks


@pytest.mark.parametrize(
    ("declare", "rule"), REFUSED_AT_SYNTHESIS.values(), ids=REFUSED_AT_SYNTHESIS
)
def test_what_only_all_of_it_shows_to_be_wrong_is_refused_at_synthesis(
    cdk, tmp_path, declare, rule
):
    world = World(tmp_path)
    declare(world)

    assert rule in world.broken_rules()
