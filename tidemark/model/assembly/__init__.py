"""A cloud assembly (cdk.out) as plain data: its stacks, and the jobs and triggers they define."""
