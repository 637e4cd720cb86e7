"""The folders whose modules a job imports by AWS's names: `awsglue`, `awsgluedq`, `gs_...`."""

from pathlib import Path

_TIDEMARK = Path(__file__).parent
SITES = tuple(_TIDEMARK / room / "site" for room in ("glue_job", "data_quality", "studio"))
