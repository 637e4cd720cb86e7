"""The embedded DynamoDB engine as only this process reaches it, and the front that lets jobs in."""
