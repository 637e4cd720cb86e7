"""What is a secret in the open, and what only looks like one: on names and texts."""

import time

import pytest

from tidemark.model.plain_secrets import NotSecret, check_open_strings, reasons, shows_secret


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "jdbc_password",
        "dbPassword",
        "DB_PASSWD",
        "pwd",
        "client_secret",
        "api_key",
        "apiKey",
        "APIKey",
        "slack_token",
        "privateKey",
        "private_key_pem",
        "aws_secret_access_key",
        "secret",
        "credentials",
        "--password",
        "dbpassword",
        "userPasswords",
        "password_prod",
        "db_pass",
        "--pass",
        "smtp_pass",
        "db_pw",
        "pswd",
        "signing_key",
        "auth_key",
        "bearer",
    ],
)
def test_a_name_that_means_a_secret_has_no_open_value(name):
    assert shows_secret(name, "hunter2")


@pytest.mark.parametrize(
    "name",
    [
        "jdbc_secret_id",
        "secret_name",
        "secretArn",
        "password_path",
        "private_key_file",
        "token_column",
        "target_path",
        "primary_key",
        "partition_keys",
        "sort_key",
        "passenger",
        "max_tokens",
        "tokenizer",
        "compass",
        "keyword",
        "secretary",
        "access_key_id",
        "password_policy",
        "passwordMinLength",
        "password_expiry_days",
        "password_hash_algorithm",
        "secret_version",
        "secret_region",
        "secret_manager",
        "token_separator",
        "token_regex",
        "token_count",
        "token_expiry_seconds",
        "credentials_provider",
        "credentials_source",
        "first_pass",
        "pass_count",
        "pass_through",
        "bypass",
        "pw_table",
        "auth_mode",
        "sort_keys",
    ],
)
def test_a_name_that_tells_where_a_secret_is_or_something_else_may_have_a_value(name):
    assert not shows_secret(name, "hunter2")


@pytest.mark.parametrize("text", ["", "true", "False", "none"])
def test_a_switch_is_no_secret(text):
    assert not shows_secret("use_token", text)


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:postgresql://db/air?user=postgres&password=geheim",
        "jdbc:postgresql://db/air?sslpassword=geheim",
        "jdbc:sqlserver://db;databaseName=air;PASSWORD=geheim",
        "jdbc:sqlserver://db:1433;user=sa;password={ge;heim}",
        "jdbc:mysql://me:geheim@db/air",
        "jdbc:mysql://me:12345@db/air",
        "jdbc:mysql://me:ge/heim@db/air",
        "jdbc:mysql://(host=db,user=me,password=geheim)/air",
        "jdbc:oracle:thin:me/geheim@//db:1521/air",
        "jdbc:oracle:oci8:scott/tiger@db",
        "jdbc:snowflake://a.snowflakecomputing.com/?user=me&token=geheim",
        "jdbc:databricks://h:443;AuthMech=3;UID=token;PWD=geheim",
        "jdbc:db2://db:50000/air:user=me;password=geheim;",
        "jdbc:redshift:iam://c:eu/air?AccessKeyID=A&SecretAccessKey=geheim",
        "postgres://me:geheim@db/air",
        "mongodb+srv://me:geheim@db",
        "s3a://KEY:geheim@bucket/x",
        "host=db user=me password=geheim",
        "Driver={ODBC};Server=db;Pwd=geheim",
        "-----BEGIN RSA PRIVATE KEY-----\nMII",
        "{{resolve:secretsmanager:air:SecretString:password}}",
        "https://api/x?api_key=geheim",
        "https://me.blob.core.windows.net/c?sv=1&sig=geheim%3D",
        "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=geheim==",
        '{"user": "me", "password": "geheim"}',
        "https://hooks.slack.com/services/T000/B000/geheim",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.geheim",
        "jdbc:postgresql://h1:5432,me:geheim@h2/db",
        "sk_" + "live_geheim0123456789geheim01",
        "key rk_" + "live_geheim",
        "whsec_" + "geheimgeheimgeheimgeheim",
        "glpat-" + "geheimgeheimgeheim-01",
        "npm_" + "geheim" * 6,
        "hvs." + "geheim" * 10,
        "dapi" + "0123456789abcdef" * 2,
        "sk-proj-" + "geheim" * 5,
        "AKIAIOSFODNN7EXAMPLE:" + "geheim/+AB" * 4,
        "https://bucket.s3.amazonaws.com/x?X-Amz-Credential=a&X-Amz-Signature=0123abcd",
        "Authorization: Basic dXNlcjpnZWhlaW1nZWhlaW0=",
        "load --password geheim --table x",
        "load -x --token geheim",
        "jdbc:postgresql://h/d?user=me&pass=geheim",
        '{"db": {"db_pass": "geheim"}}',
        '[{"jobs": [{"--api_key": "geheim"}]}]',
        '{"Arguments": "{\\"db_pass\\": \\"geheim\\"}"}',
    ],
)
def test_a_secret_in_an_address_is_found_in_every_dialect(text):
    assert shows_secret("anything", text)


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:postgresql://db:5432/air?ssl=true",
        "jdbc:mysql://h1:3306,h2:3306/air",
        "jdbc:oracle:thin:@//db:1521/air",
        "jdbc:oracle:thin:@db:1521:air",
        "jdbc:derby:memory:air;create=true",
        "jdbc:sqlserver://db:1433;databaseName=air;integratedSecurity=true",
        "https://registry:443/@scope/pkg",
        "https://me@host/x",
        "me@example.com",
        "s3://bucket/token=2/x/",
        "2026-11-22T10:00:00",
        "select id, password_changed_at from users",
        "id,password",
        "--x",
        "jdbc:postgresql://h1:5432,h2:5433/db?user=me@corp",
        "jdbc:sqlserver://db:1433;databaseName=air;user=me@corp",
        '{"endpoint":"https://x:443","owner":"me@corp"}',
        "http://a:80,me@corp",
        '{"port":5432,"mail":"me@corp"}',
        "select * from a join b on a.token = b.token",
        "select * from a where token = ?",
        "token == x",
        "sk_live",
        "task_live_orders",
        "jdbc:x://db/air?secretName=air/reader",
        "secret_id=air",
        '{"token_column": "t", "secretArn": "arn:aws:x", "password": ""}',
        '{"secret_id": "air/reader", "use_token": true, "tokens": 5}',
        "{not json",
        "[1, 2",
        "the basic internationalization of a bearer of news",
        "load --password_column c --token-file x",
        "AKIAIOSFODNN7EXAMPLE",
        "https://h/?pass=1",
    ],
)
def test_an_ordinary_text_is_no_secret(text):
    assert not shows_secret("anything", text)


@pytest.mark.parametrize("text", ["arn:aws:kms:eu-west-1:1:key/k", "s3://bucket/key.json"])
def test_the_place_of_a_secret_is_none(text):
    assert not shows_secret("encryption_key", text)


def test_what_is_declared_to_be_no_secret_is_taken_as_its_text():
    texts = {"password": NotSecret("hunter2", reason="a test database"), "other": 7}

    assert check_open_strings("x has", texts) == {"password": "hunter2", "other": 7}
    assert reasons(texts) == {"password": "a test database"}


@pytest.mark.parametrize("part", ["select a from b where c and d ", "a.b-c ", "secret", "://a:1,"])
def test_a_long_text_is_looked_through_in_no_time(part):
    started = time.process_time()

    shows_secret("query", part * 1_000)

    assert time.process_time() - started < 3  # it was minutes
