"""AWS's wire protocols: requests validated and answers shaped by botocore's service models."""
