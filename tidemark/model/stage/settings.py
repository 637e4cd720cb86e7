"""The settings of a stage, each with what AWS and the CDK take for it."""

import difflib
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tidemark.errors import ConfigError, show
from tidemark.model.plain_secrets import shows_secret
from tidemark.model.schedules.schedules import FORM
from tidemark.model.stage.fields import Fields

NEW_REGIONS = "TIDEMARK_NEW_REGIONS"  # of the environment: regions that this version does not know
REGION_NAME = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d")
REGIONS = frozenset(Path(__file__).with_name("regions.txt").read_text("utf-8").split())


def check_region(region: str, where: str) -> None:
    """Refuse a region that is not known."""
    new = os.environ.get(NEW_REGIONS, "").replace(",", " ").split()
    if region in REGIONS or (region in new and REGION_NAME.fullmatch(region)):
        return
    close = difflib.get_close_matches(region, sorted(REGIONS), 1)
    meant = f"did you mean {close[0]}? " if close else ""
    raise ConfigError(
        f"{where} has region {region!r}, which is not known; {meant}allowed: a region of AWS such "
        f"as eu-west-1; for a newer one, set {NEW_REGIONS}={region} in the environment"
    )


NAME_PREFIX = re.compile(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?")
ANY = re.compile(r".+", re.DOTALL)  # the stage checks its meaning
ACCOUNT = re.compile(r"\d{12}")
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
MAX_HOURS = 168  # that CloudWatch looks back, in steps of an hour
POLICY_NAME = re.compile(r"(?=.{1,128}\Z)[\w+=,.@-]+(/[\w+=,.@-]+)*", re.ASCII)  # with its path
# Names become parts of ARNs, where * and ? are wildcards.
CONNECTION = re.compile(r"[^*?:/\s][^*?:/\n]{0,254}")
TAG_NAME = re.compile(r"(?!aws:|tidemark:)[\w .:/=+@-]{1,128}", re.IGNORECASE)
TAG_VALUE = re.compile(r"[\w .:/=+@-]{0,256}")
MAX_TAGS = 48  # of AWS's 50; two are ours
# What CloudWatch Logs takes as RetentionInDays.
RETENTION_DAYS = tuple(
    int(days)
    for days in "1 3 5 7 14 30 60 90 120 150 180 365 400 545 731 1096 1827 2192 2557 2922 3288 "
    "3653".split()
)


def settings(fields: Fields, spelt: Callable[[str], str]) -> dict[str, Any]:
    """Return the settings of a stage, attribute to value: those of cdk.json, or made in code."""
    flag, string, number = fields.flag, fields.optional_string, fields.optional_number
    named: dict[str, Callable[[str], object]] = {
        "account": lambda key: string(key, ACCOUNT, "null or 12 digits in quotes"),
        "region": lambda key: _region(fields, key),
        "schedule": lambda key: string(key, ANY, f"null or {FORM}"),
        "time_zone": lambda key: string(key, ANY, "a name such as Europe/Berlin") or "UTC",
        "termination_protection": flag,
        "metrics": lambda key: flag(key, default=False),
        "alert_email": lambda key: string(key, EMAIL, "null or a mail address"),
        "log_retention_days": lambda key: fields.number_of(key, RETENTION_DAYS, default=30),
        "permissions_boundary": lambda key: string(
            key, POLICY_NAME, "null or the name (no ARN) of an IAM policy"
        ),
        "freshness_hours": lambda key: number(key, 1, MAX_HOURS),
        "dpu_hours_per_day": lambda key: number(key, 1, 1_000_000),
        "monthly_budget_usd": lambda key: number(key, 1, 1_000_000),
        "github_repository": lambda key: string(
            key, REPOSITORY, "null or owner/name of a GitHub repository"
        ),
        "connections": lambda key: fields.names(
            key, CONNECTION, "a list of names of Glue connections, no * ? : /"
        ),
        "vpc_only": lambda key: flag(key, default=False),
        "public_packages": lambda key: flag(key, default=True),
        "tags": lambda key: _tags(fields, key),
        "name_prefix": lambda key: (
            string(key, NAME_PREFIX, "up to 20 lower case letters, digits and -, a letter first")
            or "tidemark"
        ),
    }
    return {attribute: take(spelt(attribute)) for attribute, take in named.items()}


def _region(fields: Fields, key: str) -> str | None:
    region = fields.optional_string(key, REGION_NAME, "null or a region such as eu-west-1")
    if region is not None:
        check_region(region, fields.where)
    return region


def same_but_for_case(names: Iterable[str]) -> tuple[str, str] | None:
    """Return two names that differ in case only, which IAM refuses as tags, if there are any.

    Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
    """
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(name.lower(), name)
        if other != name:
            return other, name
    return None


def camel_case(attribute: str) -> str:
    """Return how cdk.json spells an attribute."""
    first, *rest = attribute.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _tags(fields: Fields, key: str) -> dict[str, str]:
    """Return the tags that AWS takes for any resource."""
    tags = fields.strings(key)
    if len(tags) > MAX_TAGS:
        raise ConfigError(
            f"{fields.where} has {len(tags)} tags; allowed: {MAX_TAGS}; remove some in cdk.json"
        )
    for tag, value in tags.items():
        if not (TAG_NAME.fullmatch(tag) and TAG_VALUE.fullmatch(value)):
            raise ConfigError(
                f"{fields.where} has the tag {show(tag)} with the value {show(value)}; allowed: "
                "names of 1 to 128 and values of up to 256 letters, digits, spaces and _.:/=+-@, "
                "no name that starts with aws: or tidemark:; correct it in cdk.json"
            )
        if shows_secret(tag, value):
            raise ConfigError(
                f"{fields.where} has the tag {show(tag)} with a value that looks like a secret, "
                "which everybody would see; allowed: no secrets; remove it in cdk.json"
            )
    if alike := same_but_for_case(tags):
        raise ConfigError(
            f"{fields.where} has the tags {show(list(alike))}; allowed: names that differ in more "
            "than their case, as IAM wants them; remove one in cdk.json"
        )
    return tags
