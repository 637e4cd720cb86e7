"""Glue Studio's transform Explode Array Or Map Into Rows, as a method of frames."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, exploded

attach("gs_explode", exploded, DynamicFrame)
