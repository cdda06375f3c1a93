"""The machine's clock under people who set it (bug O13; DESIGN "Time")."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.clock import PACE_WHILE_AHEAD, SystemClock

NOON = datetime(2026, 10, 4, 12, tzinfo=UTC)


class Machine:
    """A wall clock that can be set, and elapsed time that cannot."""

    def __init__(self):
        self.wall, self.elapsed = NOON, 100.0

    def clock(self):
        return SystemClock(lambda: self.wall, lambda: self.elapsed)

    def pass_time(self, seconds, *, set_by=0.0):
        self.elapsed += seconds
        self.wall += timedelta(seconds=seconds + set_by)


def test_undisturbed_it_is_the_wall_clock():
    machine = Machine()
    clock = machine.clock()
    machine.pass_time(3600)
    assert clock.now() == machine.wall


def test_set_back_it_goes_on_from_where_it_was_and_is_caught_up_with():
    """O13: at 12:04 somebody sets 10:00; what is due at 12:05 comes a little late, not two hours late."""
    machine = Machine()
    clock = machine.clock()
    machine.pass_time(240)
    assert clock.now() == NOON + timedelta(minutes=4)
    machine.pass_time(0, set_by=-7440)
    assert clock.now() == NOON + timedelta(minutes=4)
    machine.pass_time(60 / PACE_WHILE_AHEAD + 0.001)
    assert clock.now() >= NOON + timedelta(minutes=5)
    machine.pass_time(7440 / (1 - PACE_WHILE_AHEAD))
    assert clock.now() == machine.wall


def test_set_forward_it_follows_at_once():
    """A machine that slept looks the same: what was due meanwhile is due now."""
    machine = Machine()
    clock = machine.clock()
    machine.pass_time(1, set_by=7200)
    assert clock.now() == machine.wall


@given(st.lists(st.tuples(st.floats(0, 5000), st.floats(-5000, 5000)), max_size=30))
def test_it_never_goes_back_nor_faster_than_either_clock(steps):
    """O13: no timer is lost by standing still, none fires early by running ahead of both clocks."""
    machine = Machine()
    clock = machine.clock()
    for seconds, set_by in steps:
        before = clock.now()
        machine.pass_time(seconds, set_by=set_by)
        now = clock.now()
        assert now >= before + timedelta(seconds=seconds * PACE_WHILE_AHEAD) - timedelta(milliseconds=1)
        assert now <= max(machine.wall, before + timedelta(seconds=seconds)) + timedelta(milliseconds=1)
