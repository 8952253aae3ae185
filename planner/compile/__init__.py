"""From specs to the integer problem: the horizon, the legal modes, the tasks and the rows."""
