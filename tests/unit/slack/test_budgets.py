"""Our own budgets of calls (O18, O19; reference 1.2, 11.4-5)."""

import asyncio

import pytest
from support.clocks import FakeClock
from support.waiting import turns

import bot.slack.budgets as budgets_module
from bot.errors import SlackRateLimitedError
from bot.slack.budgets import PER_MINUTE, UNLISTED, Budgets


async def taken(budgets: Budgets, method: str, times: int, channel: str = "") -> int:
    """Take as often as it goes without waiting, and return how often that was."""
    for number in range(times):
        try:
            await budgets.take(method, channel)
        except SlackRateLimitedError:
            return number
    return times


@pytest.mark.parametrize("method", PER_MINUTE)
async def test_a_minute_never_sees_more_than_slack_allows(method):
    """Burst and steady rate together stay within a quarter above the plan, which is a fifth below Slack's limit."""
    clock = FakeClock()
    budgets = Budgets(clock=clock, wait_max=0)
    total = 0
    for _ in range(60):
        total += await taken(budgets, method, 500)
        clock.advance(1)
    assert PER_MINUTE[method] * 0.9 <= total <= PER_MINUTE[method] * 1.25


async def test_reads_of_an_unlisted_app_are_one_a_minute():
    """Reference 1.3."""
    clock = FakeClock()
    budgets = Budgets(clock=clock, per_minute=UNLISTED, wait_max=0)
    assert await taken(budgets, "conversations.replies", 5) == 1
    clock.advance(59)
    assert await taken(budgets, "conversations.replies", 5) == 0
    clock.advance(1)
    assert await taken(budgets, "conversations.replies", 5) == 1


async def test_a_turn_that_comes_soon_is_waited_for():
    clock = FakeClock()
    budgets = Budgets(clock=clock, wait_max=2)
    assert await taken(budgets, "chat.update", 10) == 10
    waiting = asyncio.create_task(budgets.take("chat.update"))
    await turns(2)
    assert not waiting.done()
    clock.advance(1.5)
    await waiting


async def test_a_turn_that_comes_late_is_refused_with_its_time():
    """A caller is never kept longer than the bound: it has a lease."""
    budgets = Budgets(clock=FakeClock(), wait_max=1)
    await taken(budgets, "chat.update", 10)
    with pytest.raises(SlackRateLimitedError) as caught:
        await budgets.take("chat.update")
    assert caught.value.retry_after == pytest.approx(1.5)


async def test_a_limit_holds_for_everybody_until_it_ends():
    """O19: the pause is the method's, not the message's, and no other method's."""
    clock = FakeClock()
    budgets = Budgets(clock=clock, wait_max=5)
    budgets.hold("chat.postMessage", 30)
    for channel in ("C1", "C2", "C3"):
        with pytest.raises(SlackRateLimitedError) as caught:
            await budgets.take("chat.postMessage", channel)
        assert caught.value.retry_after == 30
    await budgets.take("chat.update")
    clock.advance(30)
    await budgets.take("chat.postMessage", "C1")


async def test_who_waits_when_a_limit_comes_does_not_call():
    """O19: nobody walks into the limit that another one found."""
    clock = FakeClock()
    budgets = Budgets(clock=clock, wait_max=5)
    await taken(budgets, "chat.update", 10)
    waiting = asyncio.create_task(budgets.take("chat.update"))
    await turns(2)
    budgets.hold("chat.update", 60)
    clock.advance(1.5)
    with pytest.raises(SlackRateLimitedError):
        await waiting


async def test_a_channel_takes_one_post_a_second_after_a_few():
    budgets = Budgets(clock=FakeClock(), wait_max=0)
    assert await taken(budgets, "chat.postMessage", 9, "C1") == 3
    assert await taken(budgets, "chat.postMessage", 9, "C2") == 3


async def test_channels_that_rest_are_forgotten(monkeypatch):
    """The buckets stay bounded over any number of channels."""
    monkeypatch.setattr(budgets_module, "CHANNELS_MAX", 10)
    clock = FakeClock()
    budgets = Budgets(clock=clock, wait_max=60)
    for number in range(30):
        await budgets.take("chat.postMessage", f"C{number}")
        clock.advance(5)
    assert len(budgets._channels) <= 10
