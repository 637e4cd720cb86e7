"""Glue Studio's transform Autobalance Processing, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, rebalanced

attach("gs_repartition", rebalanced, DynamicFrame)
