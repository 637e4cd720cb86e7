"""The commands as they are declared: names, options and help; what they do is loaded on call."""
