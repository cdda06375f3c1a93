"""Thread bursts in the store: many voices of one thread are one item (SPEC B6), whatever else merges them (B5)."""

import json
from datetime import timedelta

import pytest
import sqlalchemy as sa

from state import items, tables

MINUTE = timedelta(minutes=1)


async def thread_of(office, *authors, **draft):
    for author in authors:
        await office.bring(f"{author} says", author=author, thread_id="pr-1", **draft)


async def rows(office):
    def load(connection):
        query = sa.select(tables.items).order_by(tables.items.c.seq)
        return [row._mapping for row in connection.execute(query)]

    return await office.deps.store.read(load)


async def keeper(office):
    (one,) = [row for row in await rows(office) if row["state"] == "new"]
    return one


async def log(office):
    def load(connection):
        query = sa.select(tables.transitions).order_by(tables.transitions.c.seq)
        return [(row.item_id, row._mapping["from"], row.to, row.reason) for row in connection.execute(query)]

    return await office.deps.store.read(load)


async def test_three_voices_become_one_item(office):
    """B6: the keeper is the most recent of equal priority; the others are merged, each step logged once."""
    await thread_of(office, "ana", "bo")
    assert {row["state"] for row in await rows(office)} == {"new"}
    await thread_of(office, "cy")
    kept = await keeper(office)
    assert (kept["content_summary"], kept["participants"]) == ("cy says (3 participants)", 3)
    assert kept["resubmission_count"] == 0  # burst merges do not count (B5)
    merged = [row for row in await rows(office) if row["state"] == "merged"]
    assert {row["merged_into"] for row in merged} == {kept["id"]}
    steps = await log(office)
    assert [(step[1], step[2], step[3]) for step in steps] == [("new", "merged", "burst collapsed")] * 2


async def test_arrivals_raise_the_number_in_place(office):
    """B6: while the keeper is new, arrivals within an hour of the last merge go in; a known voice counts once."""
    await thread_of(office, "ana", "bo", "cy")
    first = (await keeper(office))["id"]
    office.clock.advance(50 * MINUTE)
    await thread_of(office, "dee")
    office.clock.advance(50 * MINUTE)  # an hour after the burst, not after its last merge
    await thread_of(office, "ana")
    kept = await keeper(office)
    assert (kept["id"], kept["content_summary"], kept["participants"]) == (first, "cy says (4 participants)", 4)
    assert json.loads(kept["voices"]) == ["ana", "bo", "cy", "dee"]


async def test_a_burst_that_is_over_takes_no_more(office):
    """B6: an hour of silence ends it."""
    await thread_of(office, "ana", "bo", "cy")
    office.clock.advance(61 * MINUTE)
    await thread_of(office, "dee")
    assert len([row for row in await rows(office) if row["state"] == "new"]) == 2


async def test_the_highest_priority_keeps(office):
    """B6: the keeper has the highest priority; one that comes later takes over, with the strongest marker."""
    await thread_of(office, "ana", "bo", "cy", kind="reply", marker="")
    await office.bring("please review", author="dee", thread_id="pr-1", kind="review_request", marker="?")
    kept = await keeper(office)
    assert (kept["content_summary"], kept["marker"]) == ("please review (4 participants)", "?")


async def test_a_second_message_of_the_keepers_author_carries_the_burst_on(office):
    """B5, B6: the newer instance of the keeper counts once more and still stands for everybody."""
    await thread_of(office, "ana", "bo", "cy")
    office.clock.advance(MINUTE)
    await office.bring("cy insists", author="cy", thread_id="pr-1")
    kept = await keeper(office)
    assert (kept["content_summary"], kept["participants"]) == ("cy insists (3 participants)", 3)
    assert kept["resubmission_count"] == 1
    office.clock.advance(MINUTE)
    await thread_of(office, "dee")
    assert (await keeper(office))["participants"] == 4


async def test_a_title_that_looks_like_ours_is_left_alone(office):
    """B6: only the number that we wrote is replaced."""
    for author in ("ana", "bo", "cy"):
        await office.bring("party (3 participants)", author=author, thread_id="pr-1")
    assert (await keeper(office))["content_summary"] == "party (3 participants) (3 participants)"


@pytest.mark.parametrize("other", [{"thread_id": "pr-2"}, {"source": "github:acme/web"}, {"agent": "opm"}])
async def test_only_one_thread_of_one_agent_is_a_burst(office, other):
    """B1, B6: a thread is source and thread id, and each addressee has his own."""
    await thread_of(office, "ana", "bo")
    await office.bring("elsewhere", **{"author": "cy", "thread_id": "pr-1", **other})
    assert {row["state"] for row in await rows(office)} == {"new"}


async def test_what_a_digest_holds_is_no_member(office):
    """B6, B12: reserved items stay as they were sent."""
    await thread_of(office, "ana")
    await office.act()
    await thread_of(office, "bo", "cy")
    assert [row["state"] for row in await rows(office)] == ["acknowledged", "new", "new"]


async def test_the_digest_shows_the_number_and_a_thousand_voices_are_one_item(office):
    """B6: the burst reaches the agent as one line; its rank follows its marker."""
    await thread_of(office, *[f"author{number}" for number in range(60)])
    await office.act()
    (digest,) = office.slack.posts("digest")
    assert "(60 participants)" in digest.message.text


async def test_a_burst_outlives_the_merged_items(office):
    """B6, B13: the voices are the keeper's own."""
    await thread_of(office, "ana", "bo", "cy")
    kept = await keeper(office)

    def archive(connection):
        connection.execute(sa.delete(tables.items).where(tables.items.c.state == "merged"))
        return items.get(connection, kept["id"])

    await office.deps.store.write(archive)
    await thread_of(office, "ana")
    assert (await keeper(office))["participants"] == 3
