"""AWS's package of machine learning transforms; each is refused when a script uses it."""

import awsglue  # noqa: F401 (makes every module of AWS importable)
