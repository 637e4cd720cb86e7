"""Alerts, alarms and dashboards for the operators of a pipeline."""
