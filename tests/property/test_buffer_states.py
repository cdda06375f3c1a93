"""B12: no history leaves the table."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from bot.buffer.items import State
from bot.buffer.states import TERMINAL, IllegalTransition, transition

NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)
PATH = [State.NEW, State.ACKNOWLEDGED, State.ACTED, State.COOLDOWN, State.EXPIRED]


@given(wishes=st.lists(st.sampled_from(State), max_size=30))
def test_whatever_is_wished_an_item_only_goes_forward(wishes):
    """B12: new → acknowledged → acted → cooldown → expired, or an early end; nothing leaves an end."""
    state = State.NEW
    for wish in wishes:
        try:
            step = transition("i", state, wish, now=NOW, reason="wish")
        except IllegalTransition:
            continue
        assert state not in TERMINAL
        assert step.to_state is State.MERGED or PATH.index(step.to_state) > PATH.index(state)
        state = step.to_state
