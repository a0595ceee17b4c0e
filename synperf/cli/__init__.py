"""The command line. A command exists because its file is in `commands/`; only the called one is imported."""

from .app import main, run

__all__ = ["main", "run"]
