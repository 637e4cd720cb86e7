"""Glue on a port of this machine, for boto3, the AWS CLI and other clients."""
