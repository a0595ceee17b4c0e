"""`python -m synperf` is the command line, and so is the script `synperf`."""

import gc
import os
import sys


def main() -> None:
    """Runs the arguments of the process and exits; Ctrl-C while the command line is still imported is one line too."""
    # numpy would start threads as it is imported: that takes longer than many a command, and matrices here are small
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(100_000, 20, 50)  # tables make many rows and no cycles: looking for some takes a quarter more time
    try:
        from .cli import main as run  # takes longer than many a command

        run()
    except KeyboardInterrupt:
        print("synperf: interrupted", file=sys.stderr)
        sys.exit(130)  # 128 + SIGINT


if __name__ == "__main__":
    main()
