"""Glue Studio's transform Parse JSON Column, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.local_glue.frames.studio import attach
from tidemark.local_glue.frames.studio_values import with_parsed_json

attach("gs_parse_json", with_parsed_json, DynamicFrame)
