"""The command line `digestbot` (SPEC U4): answers on stdout, errors and logs on stderr, an exit code a kind."""

from bot.cli.main import main

__all__ = ["main"]
