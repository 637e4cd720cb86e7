"""Step Functions: state machines, and executions that moto interprets and a record keeps."""
