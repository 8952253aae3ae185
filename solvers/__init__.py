"""Integers in, integers out: problems, their rules, solvers with a proven bound, and the checker.

Importing this loads the standard library only. `solvers.solve.solve` solves, and loads numpy, numba and OR-Tools.
"""

from solvers.problem import Problem
from solvers.rules import Rule
from solvers.solution import Proof, Solution

__all__ = ["Problem", "Proof", "Rule", "Solution"]
