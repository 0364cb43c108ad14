"""Says where the command is now; to be removed after a release."""

import sys

if __name__ == "__main__":
    sys.exit("benchmarks.budget is now scripts.budget: python -m scripts.budget")
