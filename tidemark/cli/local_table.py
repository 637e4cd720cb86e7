"""`tidemark local table`: the table of watermarks that submitted scripts use."""

import re

import click

from tidemark.errors import UsageError

# Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
TABLE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
NAMES = "3 to 255 letters, digits, hyphens, underscores and dots"


@click.command()
@click.argument("name", default="glue-watermarks")
def table(name: str) -> None:
    """Create the DynamoDB table NAME for watermarks; glue-watermarks if not given.

    `tidemark run` creates the tables of its app. A script that is submitted without an app needs
    this one. A table that exists stays as it is.
    """
    from tidemark.glue_service.commands import region
    from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
    from tidemark.local_state.home import Home
    from tidemark.local_state.watermark_tables import watermark_table

    if not TABLE_NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of a DynamoDB table; allowed: {NAMES}")
    home = Home.from_environment()
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, region()) as dynamodb:
        created = create_tables(dynamodb, [watermark_table(name)])
    click.echo(f"{'created' if created else 'already there'}: the table {name} of {home.root}")
