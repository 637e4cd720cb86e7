"""Why the constructs cannot say what older resources have, each with what to do: `reasons.json`.

Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html,
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html
"""

import json
from collections.abc import Mapping
from pathlib import Path

from tidemark.adopt.model import Reason

_TEXT = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
REASONS: Mapping[str, Mapping[str, Reason]] = {
    of: {name: (why, do) for name, (why, do) in reasons.items()}
    for of, reasons in json.loads(_TEXT).items()
}
"""Of fields of jobs, crawlers, triggers and so on, by their names; of `any` by what they say."""
ANY = REASONS["any"]
