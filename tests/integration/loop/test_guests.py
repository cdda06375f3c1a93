"""Stories of agents without a sidechat, who share the brain's digest (SPEC R3, B7)."""

from support.office import BRAIN


async def test_the_best_item_comes_first_whatever_its_agent_is_called(office):
    """B7, R3: by name, the last agent would wait for ever behind the first."""
    await office.bring("a note", agent="aaron", priority=2)
    await office.bring("a question of weight", agent="zoe", priority=5)
    await office.act()
    (told,) = office.slack.texts("digest", BRAIN)
    assert "a question of weight" in told
