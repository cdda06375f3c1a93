"""May an agent act, and what follows when it has: windows, cooldowns, pauses (SPEC B8, B9, B10), on both databases."""

from datetime import timedelta

import pytest
from support.office import Office

from bot.buffer.limits import WINDOWS, Action, Clearance, Window
from bot.engine import limits
from bot.engine.limits import Asked
from bot.engine.settings import Settings
from bot.errors import UsageError

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
THREAD = {"source": "github:acme/api", "thread_id": "pr-1"}


@pytest.fixture
def settings(tmp_path):
    return Settings(
        escalate_to="UROBIN",
        buffer_path=tmp_path / "buffer.jsonl",
        cooldown_minutes_by_priority={5: 10},
        windows={**WINDOWS, Action.EMAIL_REPLY: WINDOWS[Action.EMAIL_REPLY].narrowed(0.8)},
    )


async def check(office, action, **thread):
    asked = Asked(action=action, **thread)
    return await office.deps.store.read(lambda connection: limits.check(office.deps, connection, asked))


async def record(office, action, **thread):
    asked = Asked(action=action, who="646", **thread)
    return await office.deps.store.write(lambda connection: limits.record(office.deps, connection, asked))


async def refuse(office, action, seconds=0.0):
    def operation(connection):
        asked, after = Asked(action=action), timedelta(seconds=seconds)
        return limits.record_refusal(office.deps, connection, asked, retry_after=after)

    return await office.deps.store.write(operation)


@pytest.mark.parametrize(
    ("action", "allowed", "per"),
    [
        ("github_comment", 1, 20 * SECOND),
        ("github_review", 3, HOUR),
        ("slack_message", 1, 10 * SECOND),
        ("email_reply", 4, HOUR),  # five an hour, of which 80 % are used
    ],
)
async def test_each_platform_action_has_its_rolling_window(office, action, allowed, per):
    """B8: clear up to the window, then rate limited until the oldest leaves it."""
    began = office.clock.now()
    for _ in range(allowed):
        assert (await check(office, action)).clear
        await record(office, action)
    answer = await check(office, action)
    assert (answer.clearance, answer.clear_at) == (Clearance.RATE_LIMITED, began + per)
    office.clock.advance(per)
    assert (await check(office, action)).clear


async def test_actions_do_not_touch_each_other(office):
    """B8: a window for each platform action, and the bot's own posts apart."""
    await record(office, "slack_message")
    assert (await check(office, "github_comment")).clear
    await office.bring("a question")
    assert await office.act() == 1  # its digest went out at once
    assert len(office.slack.posts("digest")) == 1


async def test_an_action_on_a_thread_starts_its_cooldown(office):
    """B8, B9: the thread rests, other threads do not; its items wait and come after it."""
    answer = await record(office, "github_review", **THREAD)
    assert answer.clearance is Clearance.COOLING
    assert answer.clear_at == office.clock.now() + HOUR
    assert (await check(office, "github_review", source="github:acme/api", thread_id="pr-2")).clear
    await office.bring("waits", thread_id="pr-1")
    assert await office.act() == 0
    office.clock.advance(HOUR)
    assert await office.act() == 1


async def test_a_weighty_thread_rests_less(office):
    """B9: by option, a shorter cooldown for high priority."""
    await office.bring("a mention", thread_id="pr-1")  # priority 5
    answer = await record(office, "github_review", **THREAD)
    assert answer.cooldown_until == office.clock.now() + 10 * MINUTE


async def test_a_429_doubles_the_pause_and_a_success_resets_it(office):
    """B10: base is the window's interval; at least Retry-After, at most an hour."""
    spans = []
    for seconds in (0, 0, 500, 0, 0, 0, 1e9):
        answer = await refuse(office, "github_comment", seconds)
        spans.append((answer.clear_at - office.clock.now()).total_seconds())
    assert spans == [40, 80, 500, 1000, 2000, 3600, 3600]
    office.clock.advance(HOUR)
    assert (await check(office, "github_comment")).clear
    await record(office, "github_comment")
    office.clock.advance(20 * SECOND)
    assert (await check(office, "github_comment")).clear
    assert ((await refuse(office, "github_comment")).clear_at - office.clock.now()).total_seconds() == 40


async def test_nothing_is_forgotten_by_a_restart(office, store):
    """B8: windows, pauses and cooldowns are rows."""
    await record(office, "github_comment", **THREAD)
    await refuse(office, "email_reply", 60)
    again = Office(store, office.deps.settings)
    again.clock.advance(5 * SECOND)
    assert (await check(again, "github_comment")).clearance is Clearance.RATE_LIMITED
    assert not (await check(again, "email_reply")).clear
    assert (await check(again, "github_review", **THREAD)).clearance is Clearance.COOLING


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        (Asked(action="github_coment"), "did you mean github_comment?"),
        (Asked(action="x"), "one of: github_comment, github_review, slack_message, email_reply"),
        (Asked(action="github_comment", thread_id="pr-1"), "for example: github:acme/api and pr-218"),
    ],
)
async def test_what_cannot_be_asked_is_told(office, asked, hint):
    """U4: clear errors with the nearest valid word."""
    with pytest.raises(UsageError) as raised:
        await office.deps.store.read(lambda connection: limits.check(office.deps, connection, asked))
    assert raised.value.hint == hint


async def test_names_may_be_written_with_dashes(office):
    """U4: as commands are typed."""
    assert (await check(office, "GitHub-Comment")).action is Action.GITHUB_COMMENT


def test_the_window_is_the_settings(settings):
    """B8: the safety margin is in the window that is asked."""
    assert settings.windows[Action.EMAIL_REPLY] == Window(actions=4, per=HOUR)
