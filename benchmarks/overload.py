"""A fleet that is asked for three times what it has: a seeded generator of mixed-vendor problems."""

from __future__ import annotations

from random import Random
from typing import Final

from benchmarks.philly import jobs
from solvers.problem import Mode, Node, Part, Pool, Problem, Task

SLOTS: Final = 168
OVERLOAD: Final = 3
POOLS: Final = (
    # name, vendor, GPUs, speed in percent of the reference model
    ("a100-east", "nvidia", 1600, 100),
    ("a100-west", "nvidia", 800, 100),
    ("h100", "nvidia", 1024, 220),
    ("h200", "nvidia", 512, 260),
    ("l40s", "nvidia", 400, 55),
    ("mi100", "amd", 640, 60),
    ("mi250x", "amd", 1200, 110),
    ("mi300x", "amd", 768, 230),
)
_DURATIONS: Final = tuple(job.duration for job in jobs())
_GANGS: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_PRIORITIES: Final = (0, 1, 1, 2, 2, 2, 3, 3)
_RATES_MICROS: Final = (40_000_000, 12_000_000, 4_000_000, 1_000_000)
"""Worth of a reference device-hour by priority: what a Policy has by default."""
_DELAY: Final = 2_400
_LATE: Final = 20
"""A job loses these parts of its worth an hour: 1 % a day from its submission, and 5 % an hour once it is due."""


def overload(tasks: int, seed: int = 1, *, percent: int = OVERLOAD * 100) -> Problem:
    """Generate `tasks` jobs on 8 pools (one node each) over a week: gangs of 1 to 128, one vendor or both, soft due
    times.

    What could be drawn in many ways is drawn once, from first principles, and not from what is solved well. How long
    jobs run is drawn from the real jobs of the Philly week, scaled until they ask for `percent` of the pools: its long
    tail stays. Gangs are powers of two, each as often: fewer large ones would need jobs longer than the week to
    ask for that much. Few jobs are urgent. Worth, delay and lateness are a Policy's defaults. A job runs at 75 to 125
    percent of a model's speed, on each model at another, as real programs do.
    """
    dice = Random(seed)
    drawn = [_draw(dice) for _ in range(tasks)]
    supply = sum(gpus * speed for _, _, gpus, speed in POOLS) * SLOTS * percent
    demand = sum(gang * hours for gang, hours, _ in drawn) * 10_000
    made = tuple(
        _task(dice, number, gang, max(1, (2 * hours * supply + demand) // (2 * demand)), vendors)
        for number, (gang, hours, vendors) in enumerate(drawn)
    )
    pools = tuple(
        Pool(name=name, resources=("gpu",), nodes=(Node(name=name, capacity=(gpus,)),)) for name, _, gpus, _ in POOLS
    )
    return Problem(slots=SLOTS, pools=pools, tasks=made)


def _draw(dice: Random) -> tuple[int, int, tuple[str, ...]]:
    """Gang, hours on the reference model before scaling, and vendors."""
    hours = dice.choice(_DURATIONS)
    vendors = (("nvidia",), ("nvidia",), ("amd",), ("nvidia", "amd"), ("nvidia", "amd"))[dice.randrange(5)]
    return dice.choice(_GANGS), hours, vendors


def _task(dice: Random, number: int, gang: int, hours: int, vendors: tuple[str, ...]) -> Task:
    priority = dice.choice(_PRIORITIES)
    worth = gang * hours * _RATES_MICROS[priority]
    earliest = max(0, dice.randrange(-SLOTS // 2, SLOTS * 3 // 4))
    shortest = -(-hours * 100 // 260)
    due = earliest + shortest * dice.randrange(2, 6) if dice.randrange(2) else None
    modes = tuple(
        _mode(pool, name, gang, -(-hours * 10_000 // (speed * dice.randrange(75, 126))))
        for pool, (name, vendor, gpus, speed) in enumerate(POOLS)
        if vendor in vendors and gang <= gpus
    )
    return Task(
        name=f"job{number:05d}",
        modes=modes,
        worth_micros=worth,
        since=earliest,
        delay_micros=worth // _DELAY,
        due=due,
        late_micros=worth // _LATE,
        earliest=earliest,
        priority=priority,
    )


def _mode(pool: int, name: str, gang: int, duration: int) -> Mode:
    return Mode(name=name, pool=pool, parts=(Part(count=1, use=(gang,)),), duration=duration, limit=duration)
