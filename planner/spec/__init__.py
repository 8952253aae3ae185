"""The specification language: one frozen model for each kind of document."""
