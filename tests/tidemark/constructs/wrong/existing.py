"""Who is told, and what exists already."""

import tidemark.constructs as tc
from tests.fixtures.pipelines import ACCOUNT, REGION, stage_of
from tests.tidemark.constructs.wrong.world import cdk, dynamodb, glue, kms, sns, sqs, token

# What is declared, and a part of why it is refused.
WRONG = {
    "al topic fifo": (
        lambda w: tc.Alerting(topic=sns.Topic(w.stack, "F", fifo=True)),
        "allowed: a standard topic (alarms cannot publish to a FIFO topic)",
    ),
    "al topic fifo import": (
        lambda w: w.pipeline(
            "x",
            alerts=tc.Alerting(
                topic=sns.Topic.from_topic_arn(
                    w.stack, "F", "arn:aws:sns:eu-west-1:123456789012:t.fifo"
                )
            ),
        ),
        "allowed: a standard topic (alarms cannot publish to a FIFO topic)",
    ),
    "al topic other region": (
        lambda w: w.given(
            alerts=tc.Alerting(
                topic=sns.Topic.from_topic_arn(w.stack, "F", "arn:aws:sns:us-east-1:123456789012:t")
            )
        ),
        "pipeline 'orders' has alerts with a topic in the region",
    ),
    "al topic other account": (
        lambda w: w.given(
            alerts=tc.Alerting(
                topic=sns.Topic.from_topic_arn(w.stack, "F", "arn:aws:sns:eu-west-1:999999999999:t")
            )
        ),
        "pipeline 'orders' has alerts with a topic in the account",
    ),
    "al twice": (
        lambda w: w.given(alerts=tc.Alerting(subscribers=[tc.Email("a@b.ch"), tc.Email("a@b.ch")])),
        "Alerting has the subscriber Email(address='a@b.ch') twice",
    ),
    "al email in stage too": (
        lambda w: w.pipeline(
            "x",
            stage=stage_of(alert_email="ops@acme.com"),
            alerts=tc.Alerting(subscribers=[tc.Email("ops@acme.com")]),
        ).add_job("one", script="job.py", bookmark=tc.BookmarkOption.ENABLE),
        "pipeline 'x' alerts ops@acme.com, which is the stage's alertEmail",
    ),
    "email": (lambda w: tc.Email("nobody"), "Email has the address 'nobody'"),
    "email newline": (lambda w: tc.Email("a@b.ch\n"), "Email has the address 'a@b.ch\\n'"),
    "email two": (lambda w: tc.Email("a@b.ch,c@d.ch"), "Email has the address 'a@b.ch,c@d.ch'"),
    "email token": (lambda w: tc.Email(token()), "allowed: a mail address"),
    "https http": (lambda w: tc.Https("http://x/y"), "Https has the url 'http://x/y'"),
    "https slack": (
        lambda w: tc.Https("https://hooks.slack.com/services/T/B/x"),
        "Https has a webhook of Slack, which does not understand SNS",
    ),
    "https pw": (
        lambda w: tc.Https("https://u:p@x/y"),
        "Https has a url with a password, which the template would show",
    ),
    "https token": (
        lambda w: tc.Https("https://x/y?token=abc"),
        "Https has a url with a password, which the template would show",
    ),
    "https port": (lambda w: tc.Https("https://x:99999/"), "Https has the url 'https://x:99999/'"),
    "https bracket": (lambda w: tc.Https("https://[x/"), "Https has the url 'https://[x/'"),
    "https space": (lambda w: tc.Https("https://x/a b"), "Https has the url 'https://x/a b'"),
    "sqs fifo": (
        lambda w: tc.SqsQueue(sqs.Queue(w.stack, "Q", fifo=True)),
        "allowed: a standard queue, no FIFO",
    ),
    "sqs fifo import": (
        lambda w: tc.SqsQueue(
            sqs.Queue.from_queue_arn(w.stack, "Q", "arn:aws:sqs:eu-west-1:123456789012:q.fifo")
        ),
        "allowed: a standard queue, no FIFO",
    ),
    "sqs twice": (
        lambda w: w.given(
            alerts=tc.Alerting(
                subscribers=(lambda q: [tc.SqsQueue(q), tc.SqsQueue(q)])(sqs.Queue(w.stack, "Q"))
            )
        ),
        "name each once",
    ),
    "sqs class": (
        lambda w: tc.SqsQueue(sqs.Queue),
        "SqsQueue has queue <class 'aws_cdk.aws_sqs.Queue'>",
    ),
    "slack ws name": (
        lambda w: w.slack(workspace_id="acme"),
        "SlackChannel has workspace_id 'acme'",
    ),
    "slack channel #": (lambda w: w.slack(channel_id="#ops"), "SlackChannel has channel_id '#ops'"),
    "slack key alias": (
        lambda w: tc.SlackChannel(
            w.stack,
            "Slack",
            stage=stage_of(),
            key=kms.Alias.from_alias_name(w.stack, "A", "alias/x"),
            workspace_id="T0",
            channel_id="C0",
        ),
        "SlackChannel has key",
    ),
    "slack twice": (
        lambda w: [
            tc.SlackChannel(
                w.stack, f"S{i}", stage=stage_of(), key=w.key, workspace_id="T0", channel_id="C0"
            )
            for i in (1, 2)
        ],
        "the channel C0 has the SlackChannel stack/S1 already, and",
    ),
    "slack channel token": (
        lambda w: tc.SlackChannel(
            w.stack, "S", stage=stage_of(), key=w.key, workspace_id=token(), channel_id="C0"
        ),
        "allowed: the id, letters and digits as in C0123ABCD, not the",
    ),
    "slack other region": (
        lambda w: (
            lambda s2: w.pipeline(
                "x",
                alerts=tc.Alerting(
                    subscribers=[
                        tc.SlackChannel(
                            s2,
                            "S",
                            stage=stage_of(region="us-east-1"),
                            key=kms.Key(s2, "Key"),
                            workspace_id="T0",
                            channel_id="C0",
                        )
                    ]
                ),
            ).add_job("one", script="job.py", bookmark=tc.BookmarkOption.ENABLE)
        )(cdk.Stack(w.app, "s2", env=cdk.Environment(account=ACCOUNT, region="us-east-1"))),
        "pipeline 'x' has a SlackChannel in the region us-east-1",
    ),
    "es empty": (lambda w: tc.ExistingSecurity(""), "a security configuration is named ''"),
    "es star": (lambda w: tc.ExistingSecurity("*"), "a security configuration is named '*'"),
    "es arn": (
        lambda w: tc.ExistingSecurity("arn:aws:glue:eu-west-1:123456789012:x"),
        "a security configuration is named",
    ),
    "es key alias": (
        lambda w: tc.ExistingSecurity(
            "a", logs_key=kms.Alias.from_alias_name(w.stack, "A", "alias/x")
        ),
        "the security configuration 'a' has logs_key",
    ),
    "es imported alias": (
        lambda w: tc.ExistingSecurity(
            glue.SecurityConfiguration.from_security_configuration_name(w.stack, "S", "theirs"),
            data_key=kms.Alias.from_alias_name(w.stack, "A", "alias/x"),
        ),
        "the security configuration 'theirs' has data_key",
    ),
    "es 256": (lambda w: tc.ExistingSecurity("a" * 256), "a security configuration is named"),
    "es bookmarks alias": (
        lambda w: tc.ExistingSecurity(
            "a", bookmarks_key=kms.Alias.from_alias_name(w.stack, "A", "alias/x")
        ),
        "the security configuration 'a' has bookmarks_key",
    ),
    "es trailing nl": (
        lambda w: tc.ExistingSecurity("a\n"),
        "a security configuration is named 'a\\n'",
    ),
    "wt name short": (
        lambda w: tc.WatermarkTable(w.stack, "W", table_name="ab"),
        "table_name is 'ab'",
    ),
    "wt from_name arn": (
        lambda w: tc.WatermarkTable.from_table_name(
            w.stack, "W", "arn:aws:dynamodb:eu-west-1:123456789012:table/x"
        ),
        "table_name is 'arn:aws:dynamodb:eu-west-1:123456789012:table/x'",
    ),
    "wt from_name token": (
        lambda w: tc.WatermarkTable.from_table_name(w.stack, "W", token()),
        "allowed: 3 to 255 letters, digits and _.-",
    ),
    "wt key alias": (
        lambda w: tc.WatermarkTable.from_table_name(
            w.stack, "W", "table", key=kms.Alias.from_alias_name(w.stack, "A", "alias/x")
        ),
        "the watermark table has key",
    ),
    "wt from_table wrong keys": (
        lambda w: tc.WatermarkTable.from_table(
            w.stack,
            "W",
            dynamodb.Table(
                w.stack,
                "T",
                partition_key=dynamodb.Attribute(name="id", type=dynamodb.AttributeType.STRING),
            ),
        ),
        "the table 'stack/T' has the keys id (S)",
    ),
    "wt from_table wrong type": (
        lambda w: tc.WatermarkTable.from_table(
            w.stack,
            "W",
            dynamodb.Table(
                w.stack,
                "T",
                partition_key=dynamodb.Attribute(
                    name="jobName", type=dynamodb.AttributeType.NUMBER
                ),
                sort_key=dynamodb.Attribute(name="runId", type=dynamodb.AttributeType.STRING),
            ),
        ),
        "the table 'stack/T' has the keys jobName (N), runId (S)",
    ),
    "wt arn name": (
        lambda w: tc.WatermarkTable.from_table_arn(w.stack, "W", "glue-watermarks"),
        "table_arn is 'glue-watermarks'",
    ),
    "wt arn index": (
        lambda w: tc.WatermarkTable.from_table_arn(
            w.stack, "W", "arn:aws:dynamodb:eu-west-1:123456789012:table/x/index/y"
        ),
        "table_arn is",
    ),
    "wt arn other region": (
        lambda w: tc.WatermarkTable.from_table_arn(
            w.stack, "W", "arn:aws:dynamodb:us-east-1:123456789012:table/xyz"
        ),
        "the watermark table has its table in the region us-east-1",
    ),
    "wt arn token": (
        lambda w: tc.WatermarkTable.from_table_arn(w.stack, "W", token()),
        "allowed: arn:aws:dynamodb:REGION:ACCOUNT:table/NAME, no",
    ),
    "wt arn short": (
        lambda w: tc.WatermarkTable.from_table_arn(
            w.stack, "W", "arn:aws:dynamodb:eu-west-1:123456789012:table/x"
        ),
        "table_arn is 'arn:aws:dynamodb:eu-west-1:123456789012:table/x'",
    ),
}
# What looks wrong and is not.
VALID = {
    "es token": lambda w: w.job(pipeline=w.pipeline("x", security=tc.ExistingSecurity(token()))),
    "al case twice": lambda w: w.given(
        alerts=tc.Alerting(subscribers=[tc.Email("a@b.ch"), tc.Email("A@b.ch")])
    ),
    "al id clash": lambda w: w.given(
        alerts=tc.Alerting(subscribers=[tc.Email("a.b@b.ch"), tc.Email("a-b@b.ch")])
    ),
    "email 500": lambda w: tc.Email("a" * 500 + "@b.ch"),
    "https localhost": lambda w: tc.Https("https://localhost/x"),
    "https fragment": lambda w: tc.Https("https://x.ch/y#z"),
    "https long": lambda w: w.given(
        alerts=tc.Alerting(subscribers=[tc.Https("https://x.ch/" + "a" * 300)])
    ),
    "sqs other region": lambda w: w.given(
        alerts=tc.Alerting(
            subscribers=[
                tc.SqsQueue(
                    sqs.Queue.from_queue_arn(w.stack, "Q", "arn:aws:sqs:us-east-1:123456789012:q")
                )
            ]
        )
    ),
    "slack channel DM": lambda w: w.slack(channel_id="D0123"),
    "slack long": lambda w: w.slack(channel_id="C" + "0" * 120),
    "slack lower": lambda w: w.slack(channel_id="c0123"),
    "es two": lambda w: [
        w.pipeline(n, security=tc.ExistingSecurity("a")).add_job(
            "one" + n, script="job.py", bookmark=tc.BookmarkOption.ENABLE
        )
        for n in ("x", "y")
    ],
    "wt from_table tablev2": lambda w: w.pipeline(
        "x",
        watermarks=tc.WatermarkTable.from_table(
            w.stack,
            "W",
            dynamodb.TableV2(
                w.stack,
                "T",
                partition_key=dynamodb.Attribute(
                    name="jobName", type=dynamodb.AttributeType.STRING
                ),
                sort_key=dynamodb.Attribute(name="runId", type=dynamodb.AttributeType.STRING),
            ),
        ),
    ).add_job("one", script="job.py", bookmark=tc.BookmarkOption.ENABLE, watermark=True),
    "wt twice": lambda w: (tc.WatermarkTable(w.stack, "W"), tc.WatermarkTable(w.stack, "W2")),
    "wt twice stacks": lambda w: (
        tc.WatermarkTable(w.stack, "W"),
        tc.WatermarkTable(
            cdk.Stack(w.app, "s2", env=cdk.Environment(account=ACCOUNT, region=REGION)), "W2"
        ),
    ),
}
