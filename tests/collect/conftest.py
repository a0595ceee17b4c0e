"""Without torch or polars there is nothing to test here."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") and find_spec("polars") else ["test_*.py"]
