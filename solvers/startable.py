"""Which starts an empty fleet could take: what closures and foreign use rule out before any price is asked."""

from __future__ import annotations

import numpy as np

from solvers.arrays import Arrays, Ints, Tables
from solvers.columns import DOMAIN_AT, OPEN, SHAPE
from solvers.compiled import compiled
from solvers.occupancy import State, empty_state
from solvers.starts import close_for_domains, close_for_parts


def startable_slots(tables: Tables) -> Ints:
    """Give `startable[shape, slot]`: 1 where a mode of that shape could start if nothing planned ran (a shape: pool,
    eligible nodes, parts, duration and limit). Never 0 where one can start: the bound rests on it.
    """
    a = tables.arrays
    shapes = int(a.mode[:, SHAPE].max(initial=-1)) + 1
    starts = np.zeros((shapes, a.slots), dtype=np.int64)
    _, first = np.unique(a.mode[:, SHAPE], return_index=True)
    mark_all(a, empty_state(tables, 1), first.astype(np.int64), starts, 0)
    return starts


@compiled
def mark_all(a: Arrays, st: State, modes: Ints, starts: Ints, low: int) -> None:
    """Write the open starts of each mode's shape."""
    for mode in modes:
        st.line[OPEN, :] = 1
        if a.mode[mode, DOMAIN_AT] >= 0:
            close_for_domains(a, st, mode, low, a.slots - 1, 0)
        else:
            close_for_parts(a, st, mode, low, a.slots - 1)
        for slot in range(a.slots):
            starts[a.mode[mode, SHAPE], slot] = st.line[OPEN, slot]
