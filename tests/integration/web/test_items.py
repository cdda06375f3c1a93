"""`POST /v1/items` (SPEC S4, §11): over both databases."""

import json

import pytest
import sqlalchemy as sa

from bot.engine.intake import CHUNK
from bot.errors import StoreUnavailableError
from state import records, tables

ROW = {"source": "github:acme/api", "thread_id": "pr-1", "content_summary": "review it", "kind": "mention"}


def row(number, **more):
    return {**ROW, "thread_id": f"pr-{number}", **more}


async def test_one_object_is_one_item(face):
    """S4: one, with its agent by the rules and its marker by the kind."""
    data = await face.data("POST", "/v1/items", by="ci", json=ROW)
    assert (data["stored"], data["merged"], data["rejected"]) == (1, 0, [])
    (item,) = (await face.office.items()).values()
    assert [item.id] == data["ids"]
    assert (item.marker, item.priority, item.agent) == ("?", 5, "opm")


async def test_many_objects_are_many_items(face):
    """S4: one or many; what belongs to one key merges as everywhere (B5)."""
    await face.data("POST", "/v1/items", by="ci", json=[row(1), row(2), row(1, content_summary="again")])
    states = {one.content_summary: one.state for one in (await face.office.items()).values()}
    assert states["again"] == "new"
    count = sa.select(tables.items.c.state, sa.func.count()).group_by(tables.items.c.state)
    found = await face.office.deps.store.read(lambda connection: dict(tuple(one) for one in connection.execute(count)))
    assert found == {"new": 2, "merged": 1}


async def test_json_lines_are_many_items(face):
    """B2: the schema's JSON Lines are taken as they are; blank lines say nothing."""
    lines = json.dumps(row(1)) + "\n\n" + json.dumps(row(2)) + "\n"
    data = await face.data(
        "POST", "/v1/items", by="ci", content=lines, headers={"content-type": "application/x-ndjson; charset=utf-8"}
    )
    assert (data["stored"], data["ignored"]) == (2, [{"row": 2, "reason": "blank line"}])


async def test_an_authenticated_marker_counts(face):
    """P1: `!` by an authenticated client is urgent, and does not wait for the beat (B14)."""
    await face.data("POST", "/v1/items", by="ci", json=row(1, marker="!"))
    (item,) = (await face.office.items()).values()
    assert item.marker == "!"
    assert face.office.deps.bells.items.is_set()


async def test_bad_rows_are_named_and_the_rest_goes_in(face):
    """§11: malformed item: quarantined with its reason, the rest ingested, counted; 422 with row numbers."""
    rows = [row(1), {"source": "x"}, row(3, content_summary="the third"), 7, row(5, priority=9)]
    answer = await face.ask("POST", "/v1/items", by="ci", json=rows)
    assert answer.status_code == 422
    body = answer.json()
    assert [one["row"] for one in body["error"]["rows"]] == [2, 4, 5]
    assert "thread_id: missing" in body["error"]["rows"][0]["reason"]
    assert body["data"]["stored"] == 2
    assert len(await face.office.items()) == 2
    assert await face.office.deps.store.read(records.quarantined) == 3
    assert (await face.office.deps.store.read(records.totals))["quarantined_row"] == 3


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[" * 100_000])
async def test_no_json_is_one_bad_row(face, content):
    """§11: a malformed payload is quarantined too, and said."""
    error = await face.fault(422, "POST", "/v1/items", by="ci", content=content)
    assert [one["row"] for one in error["rows"]] == [1]
    assert await face.office.deps.store.read(records.quarantined) == 1


async def test_nothing_is_nothing(face):
    """An empty list, or an empty body, brings nothing and is no mistake."""
    for content in (b"", b"[]"):
        assert (await face.data("POST", "/v1/items", by="ci", content=content))["stored"] == 0


async def test_more_than_ten_thousand_rows_are_refused(face):
    """§11: too many rows: 413, and nothing of it is stored."""
    lines = b"{}\n" * 10_001
    error = await face.fault(
        413, "POST", "/v1/items", by="ci", content=lines, headers={"content-type": "application/x-ndjson"}
    )
    assert error["code"] == "too_many_rows"
    assert await face.office.deps.store.read(records.quarantined) == 0


async def test_more_than_a_mebibyte_is_refused(face):
    """§11: oversized body: 413."""
    big = json.dumps([row(1, content="x" * 1024 * 1024)])
    await face.fault(413, "POST", "/v1/items", by="ci", content=big)
    assert await face.office.items() == {}


async def test_a_repeated_key_brings_nothing_again(face):
    """S4: `Idempotency-Key`, over more rows than one transaction takes."""
    rows, headers = [row(number) for number in range(2 * CHUNK + 20)], {"idempotency-key": "k-1"}
    first = await face.data("POST", "/v1/items", by="ci", json=rows, headers=headers)
    again = await face.data("POST", "/v1/items", by="ci", json=rows, headers=headers)
    assert first == again
    assert first["stored"] == len(rows)
    count = sa.select(sa.func.count()).select_from(tables.items)
    assert await face.office.deps.store.read(lambda connection: connection.execute(count).scalar_one()) == len(rows)


async def test_a_request_that_was_cut_off_goes_on_where_it_ended(face, monkeypatch):
    """S4 with §10 promise 6: what was stored before the cut is not stored again."""
    rows, headers = [row(number) for number in range(2 * CHUNK + 20)], {"idempotency-key": "k-1"}
    store, calls = face.office.deps.store, 0
    write = type(store).write

    async def failing(self, operation, **more):
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StoreUnavailableError("the disk is full")
        return await write(self, operation, **more)

    monkeypatch.setattr(type(store), "write", failing)
    answer = await face.ask("POST", "/v1/items", by="ci", json=rows, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unavailable")
    assert "retry-after" in answer.headers
    done = await face.data("POST", "/v1/items", by="ci", json=rows, headers=headers)
    # What was cut off had waited in the spool (B4).
    assert (done["stored"], done["already_stored"]) == (CHUNK + 20, CHUNK)
    counted = sa.select(sa.func.count()).select_from(tables.transitions)
    assert await store.read(lambda connection: connection.execute(counted).scalar_one()) == 0  # nothing merged


async def test_a_key_for_something_else_is_a_conflict(face):
    """S4: one key names one request."""
    headers = {"idempotency-key": "k-1"}
    await face.data("POST", "/v1/items", by="ci", json=row(1), headers=headers)
    assert (await face.fault(409, "POST", "/v1/items", by="ci", json=row(2), headers=headers))["code"] == "conflict"


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer wrong", "Basic ci-token-0123456789", "Bearer ci-token-0123456789x"]
)
async def test_nobody_known_is_401_and_counted(face, authorization):
    """§11: bad bearer: 401, no body logged, counted."""
    headers = {} if authorization is None else {"authorization": authorization}
    answer = await face.ask("POST", "/v1/items", by="", json=ROW, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert face.office.deps.bells.counted["http.unauthorized"] == 1
    assert await face.office.items() == {}


async def test_an_agent_brings_no_items(face):
    """§12: each token has one role."""
    error = await face.fault(403, "POST", "/v1/items", by="646", json=ROW)
    assert error["hint"] == "this needs operator or source"
