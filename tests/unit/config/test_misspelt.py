"""SPEC §11 as a property: any misspelt keys are exactly the faults, each with the key that was meant."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.config.checks import across
from bot.config.faults import faults_of
from bot.config.schema import FileTable, table_of

FILE = Path(__file__).parents[3] / "deploy/digestbot.example.toml"
EXAMPLE = tomllib.loads(FILE.read_text(encoding="utf-8"))


def keys_of(value, table, place=()):
    """The places of the example's keys that the schema names (logins and priorities are anybody's words)."""
    for key, inner in value.items():
        yield (*place, key)
        below = table_of(table.model_fields[key].annotation)
        if below is None:
            continue
        if isinstance(inner, list):
            for number, entry in enumerate(inner):
                yield from keys_of(entry, below, (*place, key, number))
        else:
            yield from keys_of(inner, below, (*place, key))


# `name` and the targets are told apart by their words alone: with one of them missing others cannot be judged.
PLACES = [place for place in keys_of(EXAMPLE, FileTable) if place[-1] not in {"escalate_to", "name"}]


def doubled(key, at):
    return key[: at + 1] + key[at:]


def dropped(key, at):
    return key[:at] + key[at + 1 :]


def swapped(key, at):
    return key[:at] + key[at : at + 2][::-1] + key[at + 2 :]


@st.composite
def slips(draw):
    """Some places, each with a slip of the finger; none below another, since an unknown table hides its keys."""
    chosen = draw(st.lists(st.sampled_from(PLACES), unique=True, min_size=1, max_size=8))
    apart = [one for one in chosen if not any(one != other and one[: len(other)] == other for other in chosen)]
    return {place: draw(slip(place[-1])) for place in apart}


@st.composite
def slip(draw, key):
    wrong = draw(st.sampled_from([doubled, dropped, swapped]))(key, draw(st.integers(0, len(key) - 2)))
    return wrong if wrong != key else doubled(key, 0)


def with_slips(value, wrong, place=()):
    if isinstance(value, dict):
        return {wrong.get((*place, key), key): with_slips(inner, wrong, (*place, key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_slips(inner, wrong, (*place, number)) for number, inner in enumerate(value)]
    return value


def said(place):
    text = ""
    for part in place:
        text += f" #{part + 1}" if isinstance(part, int) else f".{part}" if text else part
    return text


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(slips())
def test_misspelt_keys_are_exactly_the_faults(wrong):
    """§11: nearest valid key; a key that is missing only because it is misspelt is no second fault."""
    raw = with_slips(EXAMPLE, wrong)
    with pytest.raises(ValueError) as caught:
        FileTable.model_validate(raw)
    found = faults_of(caught.value, raw, "file") + across(raw, "file")
    assert {(fault.key, fault.what, fault.nearest) for fault in found} == {
        (said((*place[:-1], slip)), "there is no such key", said(place)) for place, slip in wrong.items()
    }


def test_the_example_has_no_fault():
    """§11: the example is what it says."""
    FileTable.model_validate(EXAMPLE)
    assert across(EXAMPLE, "file") == []
