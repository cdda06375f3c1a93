"""The commands in one place, and the one error boundary."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from bot.cli import (
    acting,
    contract,
    doctoring,
    exporting,
    ingesting,
    jobs,
    linting,
    looking,
    output,
    posting,
    running,
    sending,
    sidechats,
)
from bot.cli.demo.command import demo
from bot.errors import DigestbotError, UsageError

app = typer.Typer(
    name="digestbot",
    help="Turns a flood of engagement signals into few, answerable Slack digests, and sees that each is answered.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # it prints local variables, and with them secrets
    add_completion=False,
)


def _show_version(value: bool) -> None:
    if value:
        output.words(version("digestbot"))
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Options of the program itself."""


app.command("run")(running.run_bot)
app.command("demo")(demo)
app.command("doctor")(doctoring.doctor)
app.command("migrate")(running.migrate_store)
app.command("ingest")(ingesting.ingest)
app.command("export")(exporting.export)
app.command("send")(sending.send)
app.command("status")(looking.status)
app.command("jobs")(looking.jobs_list)
app.command("digest")(looking.digest)
app.command("why")(jobs.why)
app.command("plan")(posting.plan)
app.command("pause")(posting.pause)
app.command("resume")(posting.resume)
app.command("prime")(contract.prime)
app.command("snippet")(contract.snippet)
app.command("lint-reply")(linting.lint_reply)
app.add_typer(jobs.app, name="job")
app.add_typer(acting.app, name="act")
app.add_typer(sidechats.app, name="sidechat")


def main() -> None:
    """Run a command and end with its exit code: 0 ok, 1 error, 2 usage, 3 not found, 4 not allowed, 5 conflict."""
    as_json = "--json" in sys.argv
    try:
        code = app(standalone_mode=False)  # the code of a command that left by itself: typer swallows its Exit
        if isinstance(code, int) and code:
            sys.exit(code)
    except DigestbotError as error:
        output.error(error, as_json=as_json)
        sys.exit(error.exit_code)
    except typer.Exit as left:
        sys.exit(left.exit_code)
    except typer.Abort:
        sys.exit(130)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if not hasattr(error, "format_message"):  # not a usage fault that the parser found
            raise
        output.error(UsageError(error.format_message(), hint="digestbot --help"), as_json=as_json)
        sys.exit(UsageError.exit_code)
