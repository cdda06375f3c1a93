"""The running bot answers agents by HTTP, beside its sockets (U5, §9)."""

import httpx2
from support.launcher import Bot, free_port
from support.waiting import eventually

TOKENS = "646:agent:agent-token-0123456789"


async def test_an_agent_closes_its_job_by_http(bot, monkeypatch):
    """§9: the verb by `/v1`, on the real server of the real process; the card in Slack shows it."""
    before = Bot.environment.fget
    monkeypatch.setattr(Bot, "environment", property(lambda self: {**before(self), "DIGESTBOT_HTTP_TOKENS": TOKENS}))
    bot.port = free_port()
    bot.furnish()
    await bot.start()
    job_id = await bot.ask("look at this")
    await eventually(lambda: bot.said(bot.tasks, f"[JOB {job_id}]"))
    headers = {"authorization": "Bearer agent-token-0123456789"}
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{bot.port}", headers=headers, trust_env=False) as client:
        assert (await client.get("/readyz")).json() == {"status": "ready", "reasons": []}
        body = {"verb": "RESULT", "text": "looked at"}
        said = await client.post(f"/v1/jobs/{job_id}/replies", json=body)
        assert said.json()["data"]["status"] == "resolved"
        assert (await client.get("/v1/jobs", headers={"authorization": "Bearer wrong"})).status_code == 401
    await eventually(lambda: bot.said(bot.tasks, "Closed: RESULT"))
