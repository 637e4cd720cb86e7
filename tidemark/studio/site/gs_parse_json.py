"""Glue Studio's transform Parse JSON Column, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.columns import with_parsed_json
from tidemark.studio.transforms import attach

attach("gs_parse_json", with_parsed_json, DynamicFrame)
