"""The one part that is compiled; everything else is in pyproject.toml.

Where there is no compiler it is left out, and traces are decoded by Python, in about twice the time.
"""

from sysconfig import get_config_var
from tempfile import TemporaryDirectory

from setuptools import Extension, setup

# Files of an earlier build would go into the next package, also those that are gone since; commands are found by file.
build = TemporaryDirectory(prefix="synperf-build-")
# One wheel for every Python from 3.11 on, but for those without a lock, which have no stable interface yet.
is_stable = not get_config_var("Py_GIL_DISABLED")
tokens = Extension(
    "synperf.traces._tokens",
    ["synperf/traces/tokens.c"],
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if is_stable else [],
    py_limited_api=is_stable,
    optional=True,
)
setup(
    ext_modules=[tokens],
    options={"bdist_wheel": {"py_limited_api": "cp311"} if is_stable else {}, "build": {"build_base": build.name}},
)
