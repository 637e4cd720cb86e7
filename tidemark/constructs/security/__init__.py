"""Keys, encryption, and the reasons why a finding of a checker is none."""
