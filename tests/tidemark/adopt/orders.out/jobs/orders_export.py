import sys

from awsglue.utils import getResolvedOptions

print(getResolvedOptions(sys.argv, ["source_path"])["source_path"])  # noqa: T201
