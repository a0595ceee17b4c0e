"""Commands that answer a question by a formula, in a folder for each kind of question; each shows one of
`synperf/calculators/`."""
