"""Exact answers for small problems: every rule as CP-SAT constraints, with overflow kept out by construction."""
