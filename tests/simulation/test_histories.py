"""Random histories of the whole app, each from one seed; the promises of SPEC §10 are checked after every step.

`make simulate SEEDS=n FIRST=seed` runs more of them. A failure names its seed and shows the end of its story.
"""

import os
from collections import Counter

import pytest
from support.simulation_lives import STEPS_MIN, live, live_all

from bot.engine import courier

SEEDS = int(os.environ.get("DIGESTBOT_SIMULATE_SEEDS") or 200)  # noqa: TID251 - parameters of `make simulate`
FIRST = int(os.environ.get("DIGESTBOT_SIMULATE_FIRST") or 1)  # noqa: TID251

# Seeds that found a bug, kept for ever; what each one found.
FOUND: dict[int, str] = {
    1: "items waited for ever behind a digest that nobody sent any more",
    2: "items of a refused informational digest stayed reserved",
    3: "an ACK before the placement left the items new",
    8: "a deleted thread marked the whole channel broken",
    21: "after a 429 the one look came before reads had caught up, and the hint was posted twice",
    23: "a bare address, made a link by Slack, hid our own post from the look for it",
    1005: "our clock ran ahead of Slack's by more than the look reached back: a hint was posted twice",
    49: "a slow read before a post let the next one come too soon behind it",
    1193: "a first message to a person came twice, though its channel was known before the second was sent",
    5016: "a nudge whose thread was being read was sent ten seconds before the one that had superseded it",
}


@pytest.mark.timeout(0)
def test_the_promises_hold_in_random_histories(sqlite_template, tmp_path):
    """§10: promises 1, 2, 3, 5 and 6, and B8, B12, F2–F6, P11, §8 with them."""
    total: Counter[str] = Counter()
    broken = []
    for outcome in live_all(range(FIRST, FIRST + SEEDS), sqlite_template, beside=tmp_path):
        if isinstance(outcome, AssertionError):
            broken.append(outcome)
        else:
            total += outcome
    print(*(f"{name}: {times}" for name, times in sorted(total.items())), sep="\n")  # noqa: T201 - the summary
    if broken:
        raise ExceptionGroup(f"{len(broken)} of {SEEDS} histories broke a promise", broken)
    assert total["crashes"]
    assert total["days"]


def test_a_promise_broken_during_a_post_ends_the_history(sqlite_template, tmp_path, monkeypatch):
    """Promise 5: a courier that no longer reads the thread before a nudge is found out; its own errors hide nothing."""

    async def unread(*_which):
        return True

    monkeypatch.setattr(courier, "_thread_is_read", unread)
    with pytest.raises(AssertionError, match="promise 5"):
        live(10, sqlite_template, beside=tmp_path)


@pytest.mark.parametrize("seed", FOUND)
def test_a_history_that_once_broke_a_promise(seed, sqlite_template, tmp_path):
    """§10: a seed stays with us for what it found; the table says what."""
    assert live(seed, sqlite_template, beside=tmp_path)["steps"] >= STEPS_MIN, FOUND[seed]
