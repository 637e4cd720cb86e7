"""What `tidemark adopt` writes: the stack and the plan to move to it."""
