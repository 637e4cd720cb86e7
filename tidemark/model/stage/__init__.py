"""What differs between two deployments, read from the context of cdk.json."""
