"""`plan`, `pause`, `resume`: what happens next, and whether anything is posted (SPEC U1)."""

from bot.cli import output
from bot.cli.common import AsJson, with_store
from bot.cli.people import me
from bot.engine import commands
from bot.engine.shapes import Due, Pause
from bot.engine.spans import clock, in_words


def plan(as_json: AsJson = False) -> None:
    """Show what happens next, and when."""
    coming = with_store(lambda deps, _config: commands.plan(deps))
    if as_json:
        output.data([Due.of(one).json_ready() for one in coming])
        return
    rows = [(clock(one.at) if one.at else "held", one.what, one.subject, one.why) for one in coming]
    output.table(("when", "what", "about", "why"), rows, empty="Nothing is due.")


def pause(as_json: AsJson = False) -> None:
    """Stop posting, not reading; every deadline shifts by the length of the pause."""
    paused = with_store(lambda deps, _config: commands.pause(deps, me()))
    if as_json:
        output.data(Pause(paused=True, since=paused.since, seconds=None).json_ready())
    else:
        output.words(f"Paused since {clock(paused.since)}. `digestbot resume` ends it.")


def resume(as_json: AsJson = False) -> None:
    """Post again."""
    was = with_store(lambda deps, _config: commands.resume(deps, me()))
    if as_json:
        output.data(Pause(paused=False, since=None, seconds=was.total_seconds()).json_ready())
    else:
        output.words(f"Posting again; every deadline moved by {in_words(was)}.")
