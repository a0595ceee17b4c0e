"""The one part that is compiled; everything else is in pyproject.toml.

Where there is no compiler it is left out, and traces are decoded by Python, in about twice the time.
"""

from setuptools import Extension, setup

setup(
    ext_modules=[Extension("synperf.traces._tokens", ["synperf/traces/tokens.c"], py_limited_api=True, optional=True)],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},  # one wheel for every Python from 3.11 on
)
