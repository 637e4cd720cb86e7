"""The state that an app keeps outside of its code, and the losses by a change of the app."""
