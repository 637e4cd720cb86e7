"""What an app keeps outside of its code, and what a change of the app would lose of it."""
