"""`python -m bot.cli` is the command `digestbot`."""

from bot.cli.main import main

main()
