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
