"""`/v1/status`, `plan`, `why`, `buffer`, `pause`, `resume`, `sidechats` (SPEC U1, R1, F7, §8)."""

import pytest

from bot.engine.ports import Room


async def test_status_at_one_glance(face):
    """U1, §8: the same figures as everywhere, and what is open now."""
    await face.office.bring("look", "and look")
    await face.office.act()
    await face.office.bring("wait")
    status = await face.data("GET", "/v1/status", by="646")
    assert (status["actionable_delivered"], status["pending"], status["closure_rate"]) == (1, 1, 0.0)
    assert (status["now"]["open"], status["now"]["waiting"], status["now"]["paused_since"]) == (1, 1, None)


async def test_what_comes_next(face):
    """U1: `plan` lists the next actions with times."""
    await face.office.bring("look")
    await face.office.act()
    job = await face.office.job()
    plan = await face.data("GET", "/v1/plan")
    assert {"nudge"} == {one["what"] for one in plan if one["subject"] == job.job_id}


async def test_why(face):
    """U1: the decision trace in plain words."""
    await face.office.bring("look")
    await face.office.act()
    job = (await face.office.job()).job_id
    assert (await face.data("GET", f"/v1/why/{job}"))["trace"]
    await face.fault(404, "GET", "/v1/why/nothing")


async def test_the_digest_file(face):
    """B11: what the file shows."""
    assert "pending: 0" in (await face.data("GET", "/v1/buffer"))["markdown"]


async def test_pause_and_resume(face):
    """U1: pause stops posting; resuming what is not paused is a conflict."""
    paused = await face.data("POST", "/v1/pause")
    assert (paused["paused"], paused["since"]) == (True, "2026-10-04T21:30:00Z")
    face.office.clock.advance(90)
    assert (await face.data("POST", "/v1/resume"))["seconds"] == 90
    await face.fault(409, "POST", "/v1/resume")
    await face.fault(403, "POST", "/v1/pause", by="646")


async def test_sidechats_come_and_go(face):
    """R1: registered by HTTP as by every face."""
    wanted = {"name": "pip tasks", "channel": "C0PIP", "members": ["U0PIP"], "time_zone": "Europe/London"}
    made = await face.data("POST", "/v1/sidechats", json=wanted)
    assert (made["agent"], made["label"], made["time_zone"]) == ("pip", "pip main chat", "Europe/London")
    names = {one["name"] for one in await face.data("GET", "/v1/sidechats", by="646")}
    assert names == {"646 tasks", "main-loop brain", "pip tasks"}
    assert await face.data("DELETE", "/v1/sidechats/pip tasks") == {"name": "pip tasks", "open_jobs": 0}
    await face.fault(404, "DELETE", "/v1/sidechats/pip tasks")


async def test_a_channel_without_the_bot(face):
    """R1, §11: bot not in channel names the channel and the mend."""
    face.office.slack.rooms["C0PIP"] = Room(id="C0PIP", name="pip", member=False)
    error = await face.fault(409, "POST", "/v1/sidechats", json={"name": "pip tasks", "channel": "C0PIP"})
    assert "/invite" in error["hint"]


@pytest.mark.parametrize("channel", ["pip", "#pip", "https://acme.slack.com/archives/"])
async def test_no_channel(face, channel):
    """R1: a channel's id or a permalink."""
    await face.fault(400, "POST", "/v1/sidechats", json={"name": "pip tasks", "channel": channel})


async def test_open_jobs_are_not_left_behind(face):
    """F7: unregistering asks what becomes of them."""
    await face.office.bring("look")
    await face.office.act()
    await face.fault(409, "DELETE", "/v1/sidechats/646 tasks")
    await face.fault(400, "DELETE", "/v1/sidechats/646 tasks", params={"open_jobs": "keep"})
    gone = await face.data("DELETE", "/v1/sidechats/646 tasks", params={"reroute": "opm"})
    assert gone == {"name": "646 tasks", "open_jobs": 1}


async def test_agents_register_nothing(face):
    """§12: an operator's command."""
    await face.fault(403, "POST", "/v1/sidechats", by="646", json={"name": "x", "channel": "C0X"})


async def test_a_sidechat_is_muted_for_a_while(face):
    """R5: mute holds deliveries; nobody but an operator, and nowhere but in a registered sidechat."""
    path = "/v1/sidechats/646 tasks"
    assert (await face.data("POST", f"{path}/mute", json={"for": "2h"}))["name"] == "646 tasks"
    await face.office.bring("look")
    await face.office.act()
    assert face.office.slack.posts("digest") == []
    assert (await face.data("POST", f"{path}/unmute"))["agent"] == "646"
    await face.office.act()
    assert len(face.office.slack.posts("digest")) == 1
    await face.fault(400, "POST", f"{path}/mute", json={"for": "a while"})
    await face.fault(404, "POST", "/v1/sidechats/nobody/mute", json={})
    await face.fault(403, "POST", f"{path}/mute", by="646", json={})
