"""Checks that read scripts and templates; nothing here runs them."""
