"""Commands that answer a question by a formula; each shows one of `synperf/calculators/`."""
