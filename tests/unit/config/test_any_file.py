"""SPEC §11 as a property: whatever a TOML file says, the answer is a configuration or its faults, never a crash."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.config.checks import across
from bot.config.environment import SECRETS
from bot.config.faults import FaultyConfigError, faults_of
from bot.config.loading import _config, _Surroundings
from bot.config.schema import FileTable, paths

WORDS = sorted({part for path in paths() for part in path.split(".")})
PLAIN = st.one_of(
    st.integers(-(2**63), 2**63), st.floats(), st.booleans(), st.datetimes(), st.dates(), st.times(),
    st.sampled_from(["", "U0123456789", "C0123456789", "646 tasks", "UTC", "xoxb-123-abc", "any", "0.0.0.0", "{}"]),
    st.text(max_size=50),
)  # fmt: skip
KEYS = st.one_of(st.sampled_from(WORDS), st.text(max_size=12))
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))
FILES = st.dictionaries(st.sampled_from([*FileTable.model_fields, "token"]), VALUES, max_size=8)
NOWHERE = _Surroundings(
    home=Path("/nowhere"), database_url="sqlite+aiosqlite:////nowhere/x.db", secrets=dict.fromkeys(
        SECRETS
    ), tokens=(), api_url="https://slack.com/api/", mail_secret=str,
)  # fmt: skip


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(FILES)
def test_any_file_is_a_configuration_or_faults(raw):
    """§11: every fault has a file, words, and no token in it; what passes can be used."""
    faults = across(raw, "file")
    try:
        table = FileTable.model_validate(raw)
    except ValidationError as error:
        faults = [*faults_of(error, raw, "file"), *faults]
        assert faults
    else:
        _config(NOWHERE, None, table, Path("/nowhere/buffer.jsonl"))
    said = FaultyConfigError(faults)
    assert all(fault.file and fault.what for fault in said.faults)
    assert "xoxb-123" not in f"{said} {said.faults}"
