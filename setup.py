"""The one part that is compiled; everything else is in pyproject.toml.

Where there is no compiler it is left out, and traces are decoded by Python, in about twice the time.
"""

from tempfile import TemporaryDirectory

from setuptools import Extension, setup

# Files of an earlier build would go into the next package, also those that are gone since; commands are found by file.
build = TemporaryDirectory(prefix="synperf-build-")

setup(
    ext_modules=[Extension("synperf.traces._tokens", ["synperf/traces/tokens.c"], py_limited_api=True, optional=True)],
    options={
        "bdist_wheel": {"py_limited_api": "cp311"},  # one wheel for every Python from 3.11 on
        "build": {"build_base": build.name},
    },
)
