"""Secrets Manager, SSM, SNS and SQS, by moto: its state is the requests that changed it."""
