"""EventBridge on this machine: events, the rules that match them, and their targets."""
