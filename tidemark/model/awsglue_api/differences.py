"""Names of awsglue that run here in part, with the differences; others run as on AWS.

Names that do not run at all are in `tidemark.model.awsglue_api.not_yet`. Both are plain data, in
`coverage.json`, by the names in AWS's modules and classes.
"""

import json
from pathlib import Path
from typing import Any

TABLES: dict[str, Any] = json.loads(
    Path(__file__).with_name("coverage.json").read_text(encoding="utf-8")
)
DIFFERS = {
    f"awsglue.{owner}.{name}": difference
    for difference, owners in TABLES["differs"].items()
    for owner, names in owners.items()
    for name in names
}
"""The name of each in AWS's library, and what differs here."""
