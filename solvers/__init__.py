"""Integers in, integers out: problems, their rules, solvers with a proven bound, and the checker."""
