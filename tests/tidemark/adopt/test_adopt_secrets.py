"""Secrets that a script or a connection names are declared."""

from __future__ import annotations

import re

from tests.tidemark.adopt.finds import (
    PLAIN,
    found,
)
from tidemark.adopt.adoption import adopt
from tidemark.adopt.jobs import secrets as own
from tidemark.adopt.plan.code import stack_of

SCRIPT = """
import boto3
NAME = "orders/constant"
client = boto3.client("secretsmanager")
client.get_secret_value(SecretId="orders/literal")
client.get_secret_value(SecretId=NAME)
client.get_secret_value(SecretId=args["db"])
client.get_secret_value(SecretId=unknown())
options = {"secretId": "orders/option", "url": "x"}
client.get_secret_value(SecretId="not a secret: it has spaces")
"""


def test_secrets_that_a_script_or_a_connection_names_are_declared():
    job = PLAIN | {
        "DefaultArguments": {"--db": "orders/argument"},
        "Connections": {"Connections": ["office", "other"]},
    }
    adoption = adopt(
        found(
            {"x": job},
            scripts={"x": SCRIPT},
            connections={"office": {"SECRET_ID": "orders/office"}, "other": {"USERNAME": "me"}},
        )
    )

    assert set(adoption.jobs[0].secrets) == {
        f"orders/{one}" for one in ("literal", "constant", "argument", "option", "office")
    }
    text = stack_of(adoption, "x.md", {})
    assert re.search(r'secrets=\[.*"orders/literal".*"orders/office"\]', text)
    spaces = [one for one in adoption.guesses if "it has spaces" in one.what]
    assert ["secrets=" in one.check for one in spaces] == [True]


def test_what_is_taken_for_a_secret_is_what_the_constructs_take():
    from tidemark.constructs.jobs.secrets import ARN, NAME

    arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:a/b-"
    for text in ("a/b", "a b", arn, f"{arn}AbCdEf", "a:b", "", "x" * 513):
        assert bool(own.SECRET.fullmatch(text)) == bool(
            NAME.fullmatch(text) or ARN.fullmatch(text)
        ), text
