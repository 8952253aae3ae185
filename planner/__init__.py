"""The language of fleets, the plan and the command line."""

TYPE_CHECKING = False

__version__: str

if not TYPE_CHECKING:  # hidden from type checkers, to whom it would make every attribute exist

    def __getattr__(name: str) -> str:
        """Read `__version__` from the installed distribution when it is first asked for."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version

        return version("gpu-fleet-planner")
