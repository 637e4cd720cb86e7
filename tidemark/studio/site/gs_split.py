"""Glue Studio's transform Split String, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, with_split

attach("gs_split", with_split, DynamicFrame)
