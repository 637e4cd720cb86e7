"""The regions of AWS; a test compares them with those of botocore."""

import difflib
import os
import re

from tidemark.errors import ConfigError

NEW_REGIONS = "TIDEMARK_NEW_REGIONS"  # of the environment: regions that this version does not know
FORM = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d")
TEXT = """
af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1
ap-south-2 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5
ap-southeast-6 ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2
eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1 me-central-1
me-south-1 me-west-1 mx-central-1 sa-east-1 sa-west-1 us-east-1 us-east-2 us-west-1
us-west-2
cn-north-1 cn-northwest-1
eusc-de-east-1
us-iso-east-1 us-iso-west-1
us-isob-east-1 us-isob-west-1
eu-isoe-west-1
us-isof-east-1 us-isof-south-1
us-gov-east-1 us-gov-west-1
"""
REGIONS = frozenset(TEXT.split())


def check_region(region: str, where: str) -> None:
    """Refuse a region that is not known."""
    new = os.environ.get(NEW_REGIONS, "").replace(",", " ").split()
    if region in REGIONS or (region in new and FORM.fullmatch(region)):
        return
    close = difflib.get_close_matches(region, sorted(REGIONS), 1)
    meant = f"did you mean {close[0]}? " if close else ""
    raise ConfigError(
        f"{where} has region {region!r}, which is not known; {meant}allowed: a region of AWS such "
        f"as eu-west-1; for a newer one, set {NEW_REGIONS}={region} in the environment"
    )
