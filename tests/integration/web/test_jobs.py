"""`/v1/jobs…` and `/v1/digests` (SPEC §9, U1, P6): every answer is held against the published document."""

from datetime import timedelta

import pytest

from bot.engine.messages import Author

ME = Author(user="U646", team="T1", name="646")


@pytest.fixture
async def job(face):
    """A delivered job of 646."""
    await face.office.bring("look at this")
    await face.office.act()
    return (await face.office.job()).job_id


async def say(face, job, verb, text="", *, by="646", key=""):
    headers = {"idempotency-key": key} if key else {}
    path = f"/v1/jobs/{job}/replies"
    return await face.ask("POST", path, by=by, json={"verb": verb, "text": text}, headers=headers)


async def test_an_agent_sees_and_closes_its_job(face, job):
    """§9: every verb by HTTP; the loop closes as in Slack."""
    (listed,) = await face.data("GET", "/v1/jobs", by="646", params={"agent": "646"})
    assert (listed["job_id"], listed["status"], listed["class"]) == (job, "pending", "actionable")
    said = await face.data("POST", f"/v1/jobs/{job}/replies", by="646", json={"verb": "CLAIM"})
    assert (said["effect"], said["status"], said["owner"]) == ("claimed", "acknowledged", "U646")
    said = await face.data("POST", f"/v1/jobs/{job}/replies", by="646", json={"verb": "RESULT", "text": "done it"})
    assert (said["effect"], said["status"]) == ("closed", "resolved")
    detail = await face.data("GET", f"/v1/jobs/{job}", by="646")
    assert (detail["result_text"], [one["verb"] for one in detail["replies"]]) == ("done it", ["CLAIM", "RESULT"])
    assert [one["summary"] for one in detail["items"]] == ["look at this"]
    assert await face.data("GET", "/v1/jobs", by="646") == []


async def test_the_token_is_who_the_agent_is_in_slack(face, job):
    """§9, P6: what he claimed in his thread he may claim by HTTP; another agent is a second claimer."""
    await face.office.say(f"[CLAIM {job}] mine", author=ME)
    assert (await say(face, job, "CLAIM", by="646")).status_code == 200
    answer = await say(face, job, "CLAIM", by="pip")
    assert answer.status_code == 409
    assert "646" in answer.json()["error"]["message"]


async def test_a_repeated_key_counts_once(face, job):
    """§10 promise 3: a reply takes effect at most once, however often it arrives."""
    for _ in range(2):
        assert (await say(face, job, "RESULT", "part one", key="r-1")).status_code == 200
    assert (await face.data("GET", f"/v1/jobs/{job}"))["result_text"] == "part one"


@pytest.mark.parametrize(
    ("verb", "text", "status", "words"),
    [
        ("RESULT", "", 400, "a RESULT needs words"),
        ("RESULT", "<text>", 400, "a RESULT needs words"),
        ("DONE", "", 400, "verb: Input should be 'ACK'"),
    ],
)
async def test_verbs_that_say_nothing(face, job, verb, text, status, words):
    """P6: an empty result is not recorded."""
    answer = await say(face, job, verb, text)
    assert answer.status_code == status
    assert words in answer.json()["error"]["message"]


async def test_an_unknown_job_names_the_nearest(face, job):
    """§11: unknown job: 404 with the nearest open one."""
    answer = await say(face, job[:-1] + "9", "ACK")
    assert answer.status_code == 404
    assert job in answer.json()["error"]["hint"]
    await face.fault(404, "GET", "/v1/jobs/ml-nobody-20261004-213000")


async def test_a_closed_job_takes_no_second_closing(face, job):
    """§11: wrong state: 409; it is kept as a late reply (P6)."""
    await say(face, job, "NO-ACTION")
    answer = await say(face, job, "DECLINE", "not mine", by="pip")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")


async def test_statuses_choose(face, job):
    """U1: the list is of open jobs unless another status is named."""
    await say(face, job, "NO-ACTION")
    for status, count in {"": 0, "resolved": 1, "all": 1, "pending,resolved": 1, "escalated": 0}.items():
        assert len(await face.data("GET", "/v1/jobs", params={"status": status})) == count
    error = await face.fault(400, "GET", "/v1/jobs", params={"status": "closed"})
    assert "resolved" in error["hint"]


async def test_operators_move_clocks(face, job):
    """U1: snooze, nudge and escalate, by an operator's token."""
    before = (await face.office.job()).due_at
    snoozed = await face.data("POST", f"/v1/jobs/{job}/snooze", json={"for": "2h"})
    assert snoozed["due_at"] == (before + timedelta(hours=2)).isoformat().replace("+00:00", "Z")
    assert (await face.data("POST", f"/v1/jobs/{job}/nudge"))["nudges_sent"] in {0, 1}
    assert (await face.data("POST", f"/v1/jobs/{job}/escalate"))["status"] == "escalated"
    await face.fault(409, "POST", f"/v1/jobs/{job}/escalate")


@pytest.mark.parametrize("span", ["soon", "-2h", "8d", "2"])
async def test_snoozing_for_no_span(face, job, span):
    """U1: at most 7 days, and the fault is named."""
    await face.fault(400, "POST", f"/v1/jobs/{job}/snooze", json={"for": span})


@pytest.mark.parametrize("what", ["snooze", "nudge", "escalate", "reroute", "settle"])
async def test_agents_move_no_clocks(face, job, what):
    """§12: changing commands need an operator."""
    await face.fault(403, "POST", f"/v1/jobs/{job}/{what}", by="646", json={})


async def test_a_job_is_rerouted(face, job):
    """F7, F9: an open job moves to another sidechat."""
    assert (await face.data("POST", f"/v1/jobs/{job}/reroute", json={"to": "opm"}))["job_id"] == job
    assert (await face.office.job()).sidechat == "main-loop brain"
    await face.fault(404, "POST", f"/v1/jobs/{job}/reroute", json={"to": "nobody"})


async def test_what_was_declined_is_settled(face, job):
    """F9: declining closes the job, not the matter; an operator lets it rest."""
    await say(face, job, "DECLINE", "not mine")
    assert (await face.data("POST", f"/v1/jobs/{job}/settle"))["outcome"] == "DECLINE"
    await face.fault(409, "POST", f"/v1/jobs/{job}/settle")


async def test_a_digest_is_sent_once(face):
    """P1: `send` by HTTP, with its own marker, timeout and nudges; once for each key (S4)."""
    body = {"to": "646", "text": "check the deploy", "marker": "urgent", "timeout": 60, "nudges": 0}
    sent = [await face.data("POST", "/v1/digests", json=body, headers={"idempotency-key": "d"}) for _ in range(2)]
    assert sent[0] == sent[1]
    job = await face.office.job(sent[0]["job_id"])
    assert (job.urgent, job.reply_timeout, job.reply_nudges) == (True, 60.0, 0)
    assert (await face.data("POST", "/v1/digests", json={"to": "646", "text": "fyi", "marker": "none"}))[
        "job_id"
    ] is None


@pytest.mark.parametrize(
    ("body", "status"),
    [({"to": "nobody", "text": "x"}, 404), ({"to": "646"}, 400), ({"to": "646", "text": "x", "marker": "!"}, 400)],
)
async def test_digests_to_nobody(face, body, status):
    """§11: what is wrong is named."""
    await face.fault(status, "POST", "/v1/digests", json=body)


async def test_agents_send_no_digests(face):
    """§12: an operator's command."""
    await face.fault(403, "POST", "/v1/digests", by="646", json={"to": "pip", "text": "x"})
