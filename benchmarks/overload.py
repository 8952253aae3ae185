"""A fleet that is asked for three times what it has: a seeded generator of mixed-vendor problems."""

from __future__ import annotations

from random import Random
from typing import Final

from solvers.problem import Mode, Node, Part, Pool, Problem, Task

SLOTS: Final = 168
OVERLOAD: Final = 3
_HOUR_MICROS: Final = 2 * 10**6
_POOLS: Final = (
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
_GANGS: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_RATES: Final = (800, 400, 200, 100)
"""Worth of a reference device-hour by priority, in percent of `_HOUR_MICROS`."""


def overload(tasks: int, seed: int = 1) -> Problem:
    """Generate `tasks` jobs on 8 pools (one node each) over a week: gangs of 1 to 128, one vendor or both, soft due
    times.

    A job runs at 75 to 125 percent of a model's speed, on each model at another, as real programs do.
    """
    dice = Random(seed)
    drawn = [_draw(dice) for _ in range(tasks)]
    supply = sum(gpus * speed for _, _, gpus, speed in _POOLS) * SLOTS * OVERLOAD
    demand = sum(gang * hours for gang, hours, _ in drawn) * 100
    made = tuple(
        _task(dice, number, gang, max(1, hours * supply // demand), vendors)
        for number, (gang, hours, vendors) in enumerate(drawn)
    )
    pools = tuple(
        Pool(name=name, resources=("gpu",), nodes=(Node(name=name, capacity=(gpus,)),)) for name, _, gpus, _ in _POOLS
    )
    return Problem(slots=SLOTS, pools=pools, tasks=made)


def _draw(dice: Random) -> tuple[int, int, tuple[str, ...]]:
    """Gang, hours on the reference model before scaling, and vendors."""
    hours = 2 ** dice.randrange(1, 7) * dice.randrange(50, 100)
    vendors = (("nvidia",), ("nvidia",), ("amd",), ("nvidia", "amd"), ("nvidia", "amd"))[dice.randrange(5)]
    return dice.choice(_GANGS), hours, vendors


def _task(dice: Random, number: int, gang: int, hours: int, vendors: tuple[str, ...]) -> Task:
    priority = dice.choice((0, 1, 1, 2, 2, 2, 3, 3))
    worth = gang * hours * _HOUR_MICROS * _RATES[priority] // 100
    earliest = max(0, dice.randrange(-SLOTS // 2, SLOTS * 3 // 4))
    shortest = -(-hours * 100 // 260)
    due = earliest + shortest * dice.randrange(2, 6) if dice.randrange(2) else None
    modes = tuple(
        _mode(pool, name, gang, -(-hours * 10_000 // (speed * dice.randrange(75, 126))))
        for pool, (name, vendor, gpus, speed) in enumerate(_POOLS)
        if vendor in vendors and gang <= gpus
    )
    return Task(
        name=f"job{number:05d}",
        modes=modes,
        worth_micros=worth,
        since=earliest,
        delay_micros=worth // 1000,
        due=due,
        late_micros=worth // 100,
        earliest=earliest,
        priority=priority,
    )


def _mode(pool: int, name: str, gang: int, duration: int) -> Mode:
    return Mode(name=name, pool=pool, parts=(Part(count=1, use=(gang,)),), duration=duration, limit=duration)
