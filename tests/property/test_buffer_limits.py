"""B8, B10: never more than the window allows."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.buffer.limits import PAUSE_MAX, Window, backed_off, can_act

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)
WINDOWS = st.builds(
    Window, actions=st.integers(1, 5), per=st.integers(1, 100).map(lambda seconds: timedelta(seconds=seconds))
)


@given(window=WINDOWS, margin=st.floats(0.05, 1), gaps=st.lists(st.floats(0, 60), max_size=40))
def test_never_more_than_n_actions_in_any_window(window, margin, gaps):
    """B8: whoever asks first and acts only when it is clear stays within the platform's limit."""
    allowed, now, done = window.narrowed(margin), NOW, []
    for gap in gaps:
        now += timedelta(seconds=gap)
        verdict = can_act(window=allowed, recent=done, now=now)
        assert verdict.clear == (verdict.clear_at == now)
        if verdict.clear:
            done.append(now)
    for start in done:
        inside = [moment for moment in done if start <= moment < start + window.per]
        assert len(inside) <= window.actions


@given(window=WINDOWS, ages=st.lists(st.floats(0, 200), max_size=12))
def test_it_is_clear_at_the_time_promised_and_not_before(window, ages):
    """B8: the answer's time is exact."""
    recent = [NOW - timedelta(seconds=age) for age in ages]
    verdict = can_act(window=window, recent=recent, now=NOW)
    assert can_act(window=window, recent=recent, now=verdict.clear_at).clear
    if not verdict.clear:
        just_before = verdict.clear_at - timedelta(microseconds=1)
        assert not can_act(window=window, recent=recent, now=just_before).clear


@given(window=WINDOWS, waits=st.lists(st.floats(0, 10_000), min_size=1, max_size=15))
def test_backoff_only_grows_and_stays_within_an_hour(window, waits):
    """B10: doubling, at least Retry-After, at most 1 h."""
    backoff, last = None, timedelta()
    for wait in waits:
        asked = timedelta(seconds=wait)
        backoff = backed_off(backoff, window=window, now=NOW, retry_after=asked)
        assert last <= backoff.pause <= PAUSE_MAX
        assert backoff.pause >= min(asked, PAUSE_MAX)
        last = backoff.pause
