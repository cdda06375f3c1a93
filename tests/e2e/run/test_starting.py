"""§11: what a start says when it cannot be, by the command that a user types; and the run lock."""

import json

import pytest

from bot.slack.scopes import SCOPES

RUN = ("run",)


@pytest.mark.parametrize("missing", ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"])
async def test_a_missing_token_is_named(bot, missing):
    """§11: the start names the token and the fix; exit 4."""
    code, out, error = await bot.command(*RUN, **{missing: ""})
    assert (code, out) == (4, "")
    assert missing in error
    assert "OAuth & Permissions" in error or "App-Level Tokens" in error


async def test_a_revoked_token_is_named(bot):
    """§11: Slack's own word, the setting that holds the token, and the fix; exit 4."""
    await bot.sandbox.do("apps/change", app="digestbot", revoked=True)
    code, _, error = await bot.command(*RUN)
    assert code == 4
    assert "SLACK_BOT_TOKEN" in error
    assert "install the app again" in error
    assert bot.sandbox.ready()["bot_token"] not in error


async def test_a_wrong_app_level_token_is_named(bot):
    """§11: the socket's token is told apart from the bot's; exit 4, and no trace for people to read."""
    code, _, error = await bot.command(*RUN, SLACK_APP_TOKEN="xapp-made-up")
    assert code == 4
    assert "SLACK_APP_TOKEN" in error
    assert "Traceback" not in error


async def test_missing_scopes_are_named(bot):
    """§11: each scope by name, and the fix; exit 4."""
    await bot.sandbox.do("apps/change", app="digestbot", scopes=sorted(SCOPES - {"reactions:write", "groups:history"}))
    code, _, error = await bot.command(*RUN)
    assert code == 4
    assert "groups:history, reactions:write" in error
    assert "channels:history" not in error


async def test_a_second_run_on_one_store_names_the_holder(bot):
    """§11: exit 5, who holds it, and the first one is not disturbed; other commands write beside it."""
    await bot.start()
    assert bot.process is not None
    code, _, error = await bot.command(*RUN)
    assert code == 5
    assert f"process {bot.process.pid} on " in error
    assert bot.process.returncode is None

    code, out, error = await bot.command("send", "646", "beside the running bot?", "--json")
    assert (code, error) == (0, "")
    assert json.loads(out)["data"]["job_id"].startswith("ml-646-")
    assert await bot.stop() == 0


async def test_a_dead_holder_does_not_block(bot):
    """§11: the file may still name him; the lock died with him."""
    await bot.start()
    await bot.dispose()
    await bot.start()
    assert await bot.stop() == 0
