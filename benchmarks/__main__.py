"""`python -m benchmarks NAME` runs one benchmark, `python -m benchmarks all` each in its own process.

The last line of output is one JSON object; `all` also writes `benchmarks/RESULTS.md`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.results import results_page

RESULTS = Path(__file__).parent / "RESULTS.md"


def main() -> int:
    """Run what the command line names."""
    from benchmarks.suite import BENCHMARKS
    from solvers.solve import Effort

    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=[*BENCHMARKS, "all"])
    parser.add_argument("--effort", choices=[effort.value for effort in Effort], help="default: the goal's own")
    parser.add_argument("--no-peers", action="store_true", help="leave out baselines that take minutes")
    wish = parser.parse_args()
    extra = ["--no-peers"] if wish.no_peers else []
    if wish.name == "all":
        return _all(list(BENCHMARKS), extra)
    benchmark, effort = BENCHMARKS[wish.name]
    outcome = benchmark(Effort(wish.effort) if wish.effort else effort, not wish.no_peers)
    print(outcome.as_json())
    return 0


def _all(names: list[str], extra: list[str]) -> int:
    lines = []
    for name in names:
        print(f"==> {name}", file=sys.stderr)
        ran = subprocess.run(
            [sys.executable, "-m", "benchmarks", name, *extra], check=True, stdout=subprocess.PIPE, text=True
        )
        lines.append(ran.stdout.splitlines()[-1])
        print(lines[-1], flush=True)
    RESULTS.write_text(results_page([json.loads(line) for line in lines]))
    print(json.dumps({"bench": "all", "benches": len(lines), "results": RESULTS.name}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
