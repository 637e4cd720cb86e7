"""Glue Studio's transform UUID, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, with_uuid

attach("gs_uuid", with_uuid, DynamicFrame)
