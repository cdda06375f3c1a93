"""Stories of receipts that Slack takes slowly: no post waits behind them (SPEC P11, B8; §13, item to post)."""

from datetime import timedelta

from support.office import owe_reactions

from bot.engine import claiming, composer, courier
from bot.errors import SlackRateLimitedError
from state.outbox import Lane

MANY = 60


async def test_an_urgent_digest_does_not_wait_behind_a_thousand_receipts(office):
    """P11, B8: receipts have a lane of their own, a few at a time, and rest when Slack says so."""
    tried = []

    async def limited(*_which):
        tried.append(office.clock.now())
        raise SlackRateLimitedError(30)

    office.slack.react = limited
    await owe_reactions(office, MANY)
    await office.bring("the shop is down", marker="!")
    await composer.act_urgent(office.deps)
    await courier.deliver(office.deps)
    assert len(office.slack.posts("digest")) == 1
    for _ in range(20):
        office.clock.advance(1)
        await courier.deliver(office.deps)
    assert len(tried) <= 2 * claiming.ROOM[Lane.RECEIPTS]


async def test_every_receipt_is_given_in_the_end(office):
    """P11: those that were put off come each once."""
    given, allowed = [], [3]

    async def react(_channel, ts, _emoji):
        if not allowed[0]:
            raise SlackRateLimitedError(2)
        allowed[0] -= 1
        given.append(ts)

    office.slack.react = react
    await owe_reactions(office, 12)
    for _ in range(40):
        await courier.deliver(office.deps)
        office.clock.advance(timedelta(seconds=2).total_seconds())
        allowed[0] = 3
    assert sorted(given) == sorted(f"{number}.0" for number in range(12))
