"""Applying a reviewed plan: what it changes of what is there, step by step, so that it can be killed and run again."""
