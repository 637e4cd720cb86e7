"""Topics of others, and subscribers of every kind."""

import json

import pytest

from tests.fixtures.pipelines import ACCOUNT, KEY, REGION, Declared, stage_of
from tidemark import constructs
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:theirs"
QUEUE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:theirs"


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


def told(declared, *subscribers, topic=None, **stage):
    alerts = constructs.Alerting(topic=topic, subscribers=subscribers)
    pipeline = declared.pipeline(alerts=alerts, stage=stage_of(**stage))
    declared.add(pipeline)
    return pipeline


def imported_topic(declared):
    from aws_cdk import aws_sns as sns

    return sns.Topic.from_topic_arn(declared.stack, "Theirs", TOPIC)


def slack(declared, id_="Slack", channel="C0123ABCD"):
    from aws_cdk import aws_kms as kms

    key = declared.stack.node.try_find_child("Key") or kms.Key.from_key_arn(
        declared.stack, "Key", KEY
    )
    return constructs.SlackChannel(
        declared.stack, id_, stage=stage_of(), key=key, workspace_id="T0123", channel_id=channel
    )


def subscriptions(declared):
    return {
        (found["Protocol"], json.dumps(found["Endpoint"]))
        for found in declared.resources("AWS::SNS::Subscription")
    }


def test_mails_and_addresses_are_told_beside_the_mail_of_the_stage(declared):
    told(
        declared,
        constructs.Email("a@example.com"),
        constructs.Email("b@example.com"),
        constructs.Https("https://example.com/alerts?team=data"),
        alert_email="oncall@example.com",
    )

    assert subscriptions(declared) == {
        ("email", '"oncall@example.com"'),
        ("email", '"a@example.com"'),
        ("email", '"b@example.com"'),
        ("https", '"https://example.com/alerts?team=data"'),
    }


def test_rules_and_alarms_tell_the_topic_of_others_and_no_topic_is_made(declared):
    told(declared, topic=imported_topic(declared), freshness_hours=26)

    assert declared.resources("AWS::SNS::Topic") == []
    alarms = declared.resources("AWS::CloudWatch::Alarm")
    assert alarms
    assert all(alarm["AlarmActions"] == [TOPIC] for alarm in alarms)
    targets = [
        rule["Targets"] for rule in declared.resources("AWS::Events::Rule") if "Targets" in rule
    ]
    assert [target["Arn"] for (target,) in targets] == [TOPIC, TOPIC]


def test_an_alarm_says_one_hour_of_one(declared):
    told(declared, freshness_hours=1)

    texts = [alarm["AlarmDescription"] for alarm in declared.resources("AWS::CloudWatch::Alarm")]
    assert any("for 1 hour. " in text for text in texts)
    assert not any("1 hours" in text for text in texts)


def test_what_the_policy_of_an_imported_topic_needs_is_told_as_it_is_written_there(declared):
    told(declared, topic=imported_topic(declared))

    (warning,) = declared.warnings()
    texts = warning.partition("it must hold ")[2].partition(", and the key")[0].split(" and ")
    by_service = {it["Principal"]["Service"]: it for it in map(json.loads, texts)}
    assert set(by_service) == {"cloudwatch.amazonaws.com", "events.amazonaws.com"}
    assert {it["Resource"] for it in by_service.values()} == {TOPIC}
    assert "Condition" not in by_service["events.amazonaws.com"]
    condition = {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
    assert by_service["cloudwatch.amazonaws.com"]["Condition"] == condition


def test_the_policy_of_a_topic_of_the_app_is_completed_once(declared):
    from aws_cdk import aws_sns as sns

    topic = sns.Topic(declared.stack, "Ours")
    told(declared, topic=topic)
    other = declared.pipeline("other", alerts=constructs.Alerting(topic=topic))
    declared.add(other, "two")

    (policy,) = declared.resources("AWS::SNS::TopicPolicy")
    services = [it["Principal"]["Service"] for it in policy["PolicyDocument"]["Statement"]]
    assert sorted(services) == ["cloudwatch.amazonaws.com", "events.amazonaws.com"]
    assert declared.warnings() == []


def test_a_queue_of_the_app_takes_messages_of_this_topic_only(declared):
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_sqs as sqs

    queue = sqs.Queue(
        declared.stack, "Queue", encryption_master_key=kms.Key(declared.stack, "QueueKey")
    )
    told(declared, constructs.SqsQueue(queue))

    (topic,) = declared.template("AWS::SNS::Topic")
    (policy,) = declared.resources("AWS::SQS::QueuePolicy")
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "sns.amazonaws.com"}
    assert statement["Condition"] == {"ArnEquals": {"aws:SourceArn": {"Ref": topic}}}
    (key,) = declared.resources("AWS::KMS::Key")
    allowed = [it["Principal"].get("Service") for it in key["KeyPolicy"]["Statement"]]
    assert "sns.amazonaws.com" in allowed
    assert declared.warnings() == []


def test_pipelines_in_stacks_of_their_own_share_a_queue_and_a_channel_of_another(cdk, tmp_path):
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_sqs as sqs
    from aws_cdk.assertions import Template

    declared = Declared(cdk, tmp_path)  # its stack is that of the key, the queue and the channel
    key = kms.Key(declared.stack, "Key")
    queue = sqs.Queue(declared.stack, "Queue", encryption_master_key=key)
    alerts = constructs.Alerting(subscribers=[constructs.SqsQueue(queue), slack(declared)])
    pipelines = constructs.PipelineSet(
        declared.app,
        stage=stage_of(),
        watermarks=None,
        key=key,
        root=tmp_path,
        env=cdk.Environment(account=ACCOUNT, region=REGION),
    )
    for name in ("orders", "returns"):
        declared.add(pipelines.add(name, alerts=alerts), f"{name}-one")

    for name in ("orders", "returns"):
        stack = cdk.Stack.of(pipelines.pipelines[name])
        template = Template.from_stack(stack).to_json()["Resources"].values()
        kinds = [resource["Type"] for resource in template]
        assert (kinds.count("AWS::SNS::Topic"), kinds.count("AWS::SNS::Subscription")) == (1, 1)
        (late,) = (
            r
            for r in template
            if r["Type"] == "AWS::Events::Rule" and "Run Status" in str(r["Properties"])
        )
        assert len(late["Properties"]["Targets"]) == 2
    (policy,) = declared.resources("AWS::SQS::QueuePolicy")
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Condition"] == {
        "ArnLike": {"aws:SourceArn": f"arn:aws:sns:{REGION}:{ACCOUNT}:*"}
    }


def test_what_an_imported_queue_needs_is_told(declared):
    from aws_cdk import aws_sqs as sqs

    queue = sqs.Queue.from_queue_arn(declared.stack, "Queue", QUEUE)
    told(declared, constructs.SqsQueue(queue))

    assert subscriptions(declared) == {("sqs", f'"{QUEUE}"')}
    (warning,) = declared.warnings()
    assert "sqs:SendMessage" in warning
    assert QUEUE in warning


def test_a_channel_of_slack_gets_what_chatbot_shows_and_may_do_nothing(declared):
    channel = slack(declared)
    told(declared, channel, constructs.Email("a@example.com"), freshness_hours=26)

    (made,) = declared.resources("AWS::Chatbot::SlackChannelConfiguration")
    (role_of_it,) = (
        role
        for role in declared.resources("AWS::IAM::Role")
        if "chatbot.amazonaws.com" in json.dumps(role["AssumeRolePolicyDocument"])
    )
    (chat,) = made["SnsTopicArns"]
    assert not {"Policies", "ManagedPolicyArns"} & set(role_of_it)
    assert "policy/AWSDenyAll" in json.dumps(made["GuardrailPolicies"])
    for rule in declared.resources("AWS::Events::Rule"):
        if "Targets" not in rule:
            continue
        mail, shown = rule["Targets"]
        assert isinstance(json.loads(mail["InputTransformer"]["InputTemplate"]), str)
        message = json.loads(shown["InputTransformer"]["InputTemplate"])
        assert (message["version"], message["source"]) == ("1.0", "custom")
        assert "<job> of orders" in message["content"]["description"]
        assert shown["Arn"] == chat
        assert mail["Arn"] != chat
    assert all(chat in a["AlarmActions"] for a in declared.resources("AWS::CloudWatch::Alarm"))


def test_pipelines_share_a_channel_and_a_second_one_is_refused(declared):
    channel = slack(declared)
    told(declared, channel)
    other = declared.pipeline("other", alerts=constructs.Alerting(subscribers=[channel]))
    declared.add(other, "two")

    assert len(declared.resources("AWS::Chatbot::SlackChannelConfiguration")) == 1
    with pytest.raises(JobDefinitionError, match="C0123ABCD has the SlackChannel stack/Slack alr"):
        slack(declared, "Again")


def fifo_topic(declared):
    from aws_cdk import aws_sns as sns

    return sns.Topic(declared.stack, "Fifo", fifo=True)


def fifo_queue(declared):
    from aws_cdk import aws_sqs as sqs

    return sqs.Queue(declared.stack, "Fifo", fifo=True)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda d: constructs.Email("nobody"), "Email has the address 'nobody'; allowed: a mail"),
        (lambda d: constructs.Https("http://example.com"), "allowed: an address such as https://"),
        (lambda d: constructs.Https("https://"), "allowed: an address such as https://"),
        (lambda d: constructs.Https("https://me:hunter2@example.com/"), "a url with a password"),
        (lambda d: constructs.Https("https://hooks.slack.com/services/T/B/x"), "SlackChannel"),
        (lambda d: constructs.SqsQueue(fifo_queue(d)), "allowed: a standard queue, no FIFO"),
        (
            lambda d: constructs.Alerting(topic=fifo_topic(d)),
            "a FIFO topic); write",
        ),
        (
            lambda d: constructs.Alerting(subscribers=[constructs.Email("a@b.c")] * 2),
            "twice; name each once",
        ),
        (
            lambda d: told(d, constructs.Email("a@b.c"), alert_email="a@b.c"),
            "alerts a@b.c, which is the stage's alertEmail",
        ),
        (lambda d: slack(d, channel="#alerts"), "has channel_id '#alerts'; allowed: the id"),
    ],
    ids=range(10),
)
def test_who_cannot_be_told_is_refused_in_one_line(declared, make, text):
    with pytest.raises(JobDefinitionError) as error:
        make(declared)
    assert text in str(error.value)
    assert "\n" not in str(error.value)
    assert "hunter2" not in str(error.value)


def slack_of(declared, name, account):
    import aws_cdk
    from aws_cdk import aws_kms as kms

    env = aws_cdk.Environment(account=account, region=REGION) if account else None
    stack = aws_cdk.Stack(declared.stack.node.root, name, env=env)
    return constructs.SlackChannel(
        stack,
        "Slack",
        stage=stage_of(account=account or ACCOUNT),
        key=kms.Key(stack, "Key"),
        workspace_id="T0123ABCD",
        channel_id="C0123ABCD",
    )


def test_two_accounts_tell_one_channel_of_slack(declared):
    slack_of(declared, "first", "111122223333")
    slack_of(declared, "second", "444455556666")

    with pytest.raises(JobDefinitionError, match="C0123ABCD has the SlackChannel first/Slack alr"):
        slack_of(declared, "third", "111122223333")


def test_an_account_that_is_not_known_may_be_the_same_account(declared):
    slack_of(declared, "first", "444455556666")

    with pytest.raises(JobDefinitionError, match="one for a channel in an account"):
        slack_of(declared, "second", None)
