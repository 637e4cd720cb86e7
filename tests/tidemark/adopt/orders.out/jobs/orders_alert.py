import sys

from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["channel"])
sys.exit(f"orders failed: tell {args['channel']}")
