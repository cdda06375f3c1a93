"""B8, B9, B10: rate limits, cooldowns, backoff."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.buffer.limits import WINDOWS, Action, Backoff, Clearance, Window, backed_off, can_act, cooldown, free_slot

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)
SLACK = WINDOWS[Action.SLACK_MESSAGE]
REVIEWS = WINDOWS[Action.GITHUB_REVIEW]


def ago(seconds):
    return NOW - timedelta(seconds=seconds)


def ahead(seconds):
    return NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("action", "actions", "seconds"),
    [("github_comment", 1, 20), ("github_review", 3, 3600), ("slack_message", 1, 10), ("email_reply", 5, 3600)],
)
def test_the_defaults_are_the_documented_ones(action, actions, seconds):
    """B8: the windows by the names that settings and commands use."""
    assert WINDOWS[Action(action)] == Window(actions=actions, per=timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("window", "recent", "free"),
    [
        (SLACK, [], NOW),
        (SLACK, [ago(9)], ahead(1)),
        (SLACK, [ago(10)], NOW),  # the window is half open: exactly at its end it is free
        (REVIEWS, [ago(10), ago(20)], NOW),
        (REVIEWS, [ago(20), ago(10), ago(600)], ahead(3000)),  # the oldest of three leaves first, whatever the order
        (REVIEWS, [ago(1), ago(2), ago(3), ago(4)], ahead(3597)),  # one too many: two must leave
        (REVIEWS, [ago(4000), ago(20), ago(10)], NOW),  # old ones do not count
        (SLACK, [ahead(3)], ahead(13)),  # another machine's clock is a little ahead
        (SLACK, [ahead(86_400)], NOW),  # ours went back by a day: it must not block for that day
    ],
)
def test_the_rolling_window(window, recent, free):
    """B8: at most N in any span; else the moment when the next one fits."""
    assert free_slot(window, recent, NOW) == free


BACKOFF = Backoff(pause=timedelta(seconds=40), until=ahead(40))


@pytest.mark.parametrize(
    ("state", "clearance", "clear_at"),
    [
        ({}, "clear", NOW),
        ({"recent": [ago(4)]}, "rate limited", ahead(6)),
        ({"backoff": BACKOFF}, "rate limited", ahead(40)),
        ({"cooldown_until": ahead(90)}, "thread cooldown active", ahead(90)),
        # both: named after the platform, and clear when the last of them ends
        ({"recent": [ago(4)], "cooldown_until": ahead(90)}, "rate limited", ahead(90)),
        ({"recent": [ago(4)], "backoff": BACKOFF}, "rate limited", ahead(40)),
        # over is over
        ({"cooldown_until": NOW}, "clear", NOW),
        ({"backoff": Backoff(pause=timedelta(seconds=1), until=ago(1))}, "clear", NOW),
    ],
)
def test_can_act_answers_with_the_time_when_it_is_clear(state, clearance, clear_at):
    """B8: clear, rate limited or thread cooldown active, and until when."""
    verdict = can_act(**{"window": SLACK, "recent": [], "now": NOW, **state})
    assert (verdict.clearance, verdict.clear_at) == (clearance, clear_at)
    assert verdict.clear == (verdict.clearance is Clearance.CLEAR)


@pytest.mark.parametrize(
    ("window", "margin", "actions", "seconds"),
    [
        (SLACK, 1.0, 1, 10),
        (SLACK, 0.8, 1, 12.5),  # a single one is spread
        (REVIEWS, 0.8, 2, 3600),  # fewer where there are some to spare
        (WINDOWS[Action.EMAIL_REPLY], 0.8, 4, 3600),
        (Window(actions=100, per=timedelta(seconds=1)), 0.29, 29, 1),  # no victim of binary fractions
        (REVIEWS, 0.1, 1, 12_000),
    ],
)
def test_the_safety_margin(window, margin, actions, seconds):
    """B8: 80 % leaves room for other programs on the account."""
    assert window.narrowed(margin) == Window(actions=actions, per=timedelta(seconds=seconds))


@pytest.mark.parametrize("margin", [0, -1, 1.1, float("nan")])
def test_a_margin_is_a_share(margin):
    """B8: more than the whole limit, or none of it, is a mistake."""
    with pytest.raises(ValueError, match="share"):
        SLACK.narrowed(margin)


@pytest.mark.parametrize(("actions", "seconds"), [(0, 10), (1, 0)])
def test_a_window_allows_something(actions, seconds):
    """B8: a limit of nothing would hold posts for ever."""
    with pytest.raises(ValueError, match="at least one"):
        Window(actions=actions, per=timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("previous", "window", "retry_after", "pause"),
    [
        (None, SLACK, 0, 20),  # the window's interval, doubled
        (20, SLACK, 0, 40),
        (40, SLACK, 0, 80),
        (None, SLACK, 30, 30),  # at least Retry-After
        (30, SLACK, 0, 60),  # and on from there
        (3000, SLACK, 0, 3600),  # at most an hour
        (None, REVIEWS, 0, 3600),
        (None, SLACK, 86_400, 3600),
    ],
)
def test_backoff_doubles(previous, window, retry_after, pause):
    """B10: a 429 doubles the pause; at least Retry-After, at most 1 h."""
    before = Backoff(pause=timedelta(seconds=previous), until=NOW) if previous else None
    made = backed_off(before, window=window, now=NOW, retry_after=timedelta(seconds=retry_after))
    assert made == Backoff(pause=timedelta(seconds=pause), until=ahead(pause))


def test_cooldown_is_an_hour_and_shorter_by_option():
    """B9: 60 min, configurable, by priority where the operator says so."""
    assert cooldown(5) == timedelta(minutes=60)
    assert cooldown(5, minutes=30) == timedelta(minutes=30)
    assert [cooldown(p, by_priority={5: 15}) for p in (4, 5)] == [timedelta(minutes=60), timedelta(minutes=15)]
