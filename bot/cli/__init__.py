"""The command line."""

import sys


def main() -> None:
    sys.exit("nothing here yet")
