"""The Glue of this machine on one port: what boto3, the AWS CLI and other clients talk to."""
