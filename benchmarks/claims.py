"""Says where the command is now; to be removed after a release."""

import sys

if __name__ == "__main__":
    sys.exit("benchmarks.claims is now scripts.claims: python -m scripts.claims")
