"""Spark jobs: data, arguments, packages, roles."""

from tests.fixtures.pipelines import ACCOUNT, REGION
from tests.tidemark.constructs.wrong.world import cdk, iam, token

# What is declared, and a part of why it is refused.
WRONG = {
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
    "arguments dataset undeclared": (
        lambda w: w.job(arguments={"x": w.data()}),
        "job 'one' has the argument 'x' with the dataset 'in/', which it",
    ),
    "tables upper": (lambda w: w.job(tables=["Db.T"]), "job 'one' has 'Db.T' in tables"),
    "tables star": (lambda w: w.job(tables=["db.*"]), "job 'one' has 'db.*' in tables"),
    "tables three": (lambda w: w.job(tables=["a.b.c"]), "job 'one' has 'a.b.c' in tables"),
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
    "connections empty str": (lambda w: w.job(connections=[""]), "job 'one' has connections ['']"),
    "connections 300": (lambda w: w.job(connections=["a" * 300]), "job 'one' has connections"),
    "connections arn": (
        lambda w: w.job(connections=["arn:aws:glue:eu-west-1:123456789012:connection/x"]),
        "job 'one' has connections",
    ),
    "secrets arn without its end": (
        lambda w: w.job(secrets=["arn:aws:secretsmanager:eu-west-1:123456789012:secret:air"]),
        "job 'one' has 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:air' in secrets",
    ),
    "secrets empty": (lambda w: w.job(secrets=[""]), "job 'one' has '' in secrets"),
    "role lambda": (
        lambda w: w.job(
            role=iam.Role(w.stack, "R", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        ),
        "job 'one' has a role that does not trust Glue",
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
    "tables twice": (lambda w: w.job(tables=["a.b", "a.b"]), "'a.b' in tables twice"),
    "tables token": (lambda w: w.job(tables=[token()]), "in tables; allowed: each database.table"),
}
# What looks wrong and is not.
VALID = {
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
