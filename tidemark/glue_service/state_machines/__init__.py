"""Step Functions: state machines, and executions that moto's interpreter runs and a record keeps."""
