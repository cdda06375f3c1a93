"""`run` and `migrate`."""

import asyncio

from bot import app
from bot.cli import output
from bot.cli.common import AsJson, configured
from state.migrate import migrate


def run_bot() -> None:
    """Run the bot: collect, post, read replies, nudge and escalate, until it is stopped (SIGTERM, Ctrl-C)."""
    asyncio.run(app.run(configured(starting=True)))


def migrate_store(as_json: AsJson = False) -> None:
    """Create the store or bring it to this program's schema; a SQLite file is copied first."""
    report = asyncio.run(migrate(configured().database_url))
    backup = str(report.backup) if report.backup else None
    if as_json:
        output.data({"from": report.revision_from, "to": report.revision_to, "backup": backup})
    elif report.revision_from == report.revision_to:
        output.words(f"The store is at schema {report.revision_to} already.")
    else:
        output.words(f"The store is at schema {report.revision_to}." + (f" Copy of before: {backup}" if backup else ""))
