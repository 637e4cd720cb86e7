"""Secrets in connections: on the JSON of templates."""

import pytest

from tidemark.checks.graph.rules import problems
from tidemark.checks.graph.template import read_graph

RESOLVED = "{{resolve:secretsmanager:air:SecretString:password}}"
MADE = {"Fn::Join": ["", ["{{resolve:secretsmanager:", {"Ref": "Air"}, ":SecretString:p}}"]]}


def found(connection_input, **template):
    made = {"Type": "AWS::Glue::Connection", "Properties": {"ConnectionInput": connection_input}}
    templates = {"s": {"Resources": {"Db": made}, **template}}
    problem_list = problems(read_graph(templates))
    assert "geheim" not in repr(problem_list)
    return [(problem.rule, problem.at) for problem in problem_list]


def with_properties(**properties):
    return {"ConnectionType": "JDBC", "ConnectionProperties": properties}


@pytest.mark.parametrize(
    "properties",
    [
        {"PASSWORD": "geheim"},
        {"PASSWORD": {"Fn::Sub": "geheim"}},
        {"PASSWORD": {"Fn::Join": ["", ["geheim-", {"Ref": "AWS::Region"}]]}},
        {"PASSWORD": {"Fn::If": ["IsProd", RESOLVED, "geheim"]}},
        {"PASSWORD": {"Ref": "Given"}},
        {"ENCRYPTED_PASSWORD": "geheim"},
        {"KAFKA_SASL_PLAIN_PASSWORD": "geheim"},
        {"KAFKA_SASL_SCRAM_PASSWORD": "geheim"},
        {"KAFKA_CLIENT_KEYSTORE_PASSWORD": "geheim"},
        {"KAFKA_CLIENT_KEY_PASSWORD": "geheim"},
        {"CONNECTION_URL": "mongodb://me:geheim@db/air"},
        {"JDBC_CONNECTION_URL": "jdbc:postgresql://db/air?password=geheim"},
        {"JDBC_CONNECTION_URL": "jdbc:postgresql://db/air?user=${user}&password=geheim"},
        {"PASSWORD": "geheim${password}"},
        {"JDBC_CONNECTION_URL": "jdbc:postgresql://db/air?password=${password}geheim"},
        {"JDBC_CONNECTION_URL": {"Fn::Sub": "jdbc:mysql://me:geheim@${Host}/air"}},
    ],
)
def test_a_secret_in_clear_is_found(properties):
    given = {"Parameters": {"Given": {"Type": "String", "Default": "geheim"}}}

    assert found(with_properties(**properties), **given) == [("open-secret", "s/Db")]


@pytest.mark.parametrize(
    "authentication",
    [
        {"BasicAuthenticationCredentials": {"Username": "me", "Password": "geheim"}},
        {"OAuth2Properties": {"OAuth2Credentials": {"AccessToken": "geheim"}}},
        {
            "OAuth2Properties": {
                "OAuth2Credentials": {"UserManagedClientApplicationClientSecret": "geheim"}
            }
        },
        {"OAuth2Properties": {"AuthorizationCodeProperties": {"AuthorizationCode": "geheim"}}},
        {"CustomAuthenticationCredentials": {"anything": "geheim"}},
    ],
)
def test_a_secret_in_the_settings_of_an_authentication_is_found(authentication):
    given = {"ConnectionType": "SALESFORCE", "AuthenticationConfiguration": authentication}

    assert found(given) == [("open-secret", "s/Db")]


@pytest.mark.parametrize(
    "properties",
    [
        {"SECRET_ID": "air/reader", "JDBC_CONNECTION_URL": "jdbc:postgresql://db:5432/air"},
        {"SECRET_ID": {"Ref": "Air"}},
        {"USERNAME": "me", "PASSWORD": RESOLVED},
        {"PASSWORD": MADE},
        {"PASSWORD": {"Ref": "Hidden"}},
        {"PASSWORD": {"Fn::Sub": "${Hidden}"}},
        {"CONNECTION_URL": f"mongodb://me:{RESOLVED}@db/air"},
        {"JDBC_CONNECTION_URL": f"jdbc:postgresql://db/air?password={RESOLVED}&ssl=true"},
        {"KAFKA_SSL_ENABLED": "true", "KAFKA_SASL_MECHANISM": "SCRAM-SHA-512"},
        {"KAFKA_CLIENT_KEYSTORE": "s3://bucket/keystore.jks"},
        # What Glue puts in from the secret of a connector's connection.
        {
            "JDBC_CONNECTION_URL": '[["default=jdbc:snowflake://x/?user=${user}'
            '&password=${password}"],","]',
            "SECRET_ID": "air/reader",
        },
        {"CONNECTION_URL": "mongodb://${Username}:${Password}@db/air"},
    ],
)
def test_what_names_a_secret_or_is_resolved_at_the_deployment_is_right(properties):
    hidden = {"Parameters": {"Hidden": {"Type": "String", "NoEcho": True}}}

    assert found(with_properties(**properties), **hidden) == []


def test_authentication_by_the_arn_of_a_secret_is_right():
    authentication = {
        "AuthenticationType": "OAUTH2",
        "SecretArn": "arn:aws:secretsmanager:eu-west-1:111122223333:secret:air-a1b2c3",
        "OAuth2Properties": {
            "OAuth2GrantType": "CLIENT_CREDENTIALS",
            "TokenUrl": "https://login.example.com/token",
            "TokenUrlParametersMap": {"audience": "air"},
        },
    }

    assert found({"ConnectionType": "X", "AuthenticationConfiguration": authentication}) == []


def found_in(kind, properties, **template):
    templates = {"s": {"Resources": {"It": {"Type": kind, "Properties": properties}}, **template}}
    problem_list = problems(read_graph(templates))
    assert "geheim" not in repr(problem_list)
    return [problem.text for problem in problem_list if problem.rule == "open-secret"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("--password", "geheim"),
        ("--db_pass", {"Fn::Sub": "geheim"}),
        ("--db_pass", {"Fn::Sub": ["${Word}", {"Word": "geheim"}]}),
        ("--db_pass", {"Fn::FindInMap": ["Words", "dev", "db"]}),
        ("--db_pass", {"Fn::Base64": "geheim"}),
        ("--db_pass", {"Fn::Join": ["-", ["geheim", {"Ref": "AWS::Region"}]]}),
        ("--url", {"Fn::Join": ["", ["jdbc:mysql://me:geheim@", {"Ref": "Host"}, "/air"]]}),
        ("--password", {"Fn::If": ["IsProd", "geheim", {"Ref": "AWS::NoValue"}]}),
        ("--password", {"Ref": "Host"}),
        ("--anything", {"Ref": "Hidden"}),
        ("--anything", {"Fn::Sub": "me:${Hidden}"}),
        ("--anything", RESOLVED),
        ("--anything", MADE),
        ("--settings", '{"db": {"db_pass": "geheim"}}'),
    ],
)
def test_a_secret_in_an_argument_is_found_also_behind_a_function(name, value):
    given = {"Host": {"Type": "String"}, "Hidden": {"Type": "String", "NoEcho": True}}

    texts = found_in("AWS::Glue::Job", {"DefaultArguments": {name: value}}, Parameters=given)

    assert [name in text for text in texts] == [True]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("--db_secret_id", {"Ref": "Air"}),
        ("--secret", {"Ref": "Air"}),  # of a secret that is the ARN
        ("--password", {"Ref": "AWS::NoValue"}),
        ("--url", {"Fn::Sub": "jdbc:postgresql://${Host}:5432/air"}),
        ("--host", {"Ref": "Host"}),
        ("--secret_arn", {"Fn::ImportValue": "air-secret"}),
        ("--token_table", {"Fn::Join": ["", [{"Ref": "AWS::AccountId"}, "-tokens"]]}),
    ],
)
def test_an_argument_that_names_a_place_is_right(name, value):
    given = {"Host": {"Type": "String"}}

    assert not found_in("AWS::Glue::Job", {"DefaultArguments": {name: value}}, Parameters=given)


RULE, SCHEDULE = "AWS::Events::Rule", "AWS::Scheduler::Schedule"


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        (RULE, {"Targets": [{"Arn": "a", "Input": '{"Arguments": {"--password": "geheim"}}'}]}),
        (RULE, {"Targets": [{"InputTransformer": {"InputTemplate": '{"db_pass": "geheim"}'}}]}),
        (RULE, {"Targets": [{"HttpParameters": {"HeaderParameters": {"x-api-key": "geheim"}}}]}),
        (RULE, {"Targets": [{"Input": '[{"Name": "DB_PASSWORD", "Value": "geheim"}]'}]}),
        (RULE, {"Targets": [{"Input": {"Fn::Sub": '{"password": "geheim", "r": "${R}"}'}}]}),
        (RULE, {"Targets": [{"Input": RESOLVED}]}),
        (SCHEDULE, {"Target": {"Input": '{"Arguments": {"--token": "geheim"}}'}}),
        (
            "AWS::Events::Connection",
            {"AuthParameters": {"BasicAuthParameters": {"Password": "geheim"}}},
        ),
        (
            "AWS::Glue::Trigger",
            {"Actions": [{"JobName": "one", "Arguments": {"--password": {"Fn::Sub": "geheim"}}}]},
        ),
        ("AWS::Glue::Workflow", {"DefaultRunProperties": {"password": {"Fn::Sub": "geheim"}}}),
    ],
)
def test_a_secret_in_what_starts_something_is_found(kind, properties):
    assert len(found_in(kind, properties)) == 1


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        (RULE, {"Targets": [{"Arn": "a", "Input": '{"Arguments": {"--secret_id": "air"}}'}]}),
        (RULE, {"Targets": [{"InputTransformer": {"InputPathsMap": {"token": "$.detail.token"}}}]}),
        (SCHEDULE, {"Target": {"Input": '{"Name": "orders"}', "RoleArn": {"Ref": "R"}}}),
        (
            "AWS::Events::Connection",
            {"AuthParameters": {"BasicAuthParameters": {"Password": RESOLVED}}},
        ),
    ],
)
def test_what_starts_something_may_name_a_secret(kind, properties):
    assert found_in(kind, properties) == []
