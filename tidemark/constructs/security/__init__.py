"""Keys, encryption, and reasons to acknowledge findings of checkers."""
