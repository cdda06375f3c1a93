"""What people press and fill in (U2, P9, P11, F9), through real sockets and Slack's own payloads."""

import pytest
from support.waiting import eventually

from bot.engine import commands
from bot.errors import StoreUnavailableError
from bot.protocol.verbs import Status, Verb
from bot.slack.listeners import Listeners
from state import records

from .conftest import actions

ALL = ["reply:ACK", "reply:CLAIM", "reply:RESULT", "reply:DECLINE", "reply:NO-ACTION"]


async def test_a_claim_by_press_is_one_reply_and_the_card_says_whose_it_is(desk):
    """U2, P11: one press, one reply by that person; the card changes in place and its text stays byte for byte."""
    job = await desk.digest("may we archive it?")
    card = desk.about(job)
    assert actions(card) == ALL
    pressed = await desk.press("alex", card, "reply:CLAIM")
    assert pressed["acked"]
    claimed = await desk.job(job.job_id)
    assert (claimed.status, claimed.owner) == (Status.ACKNOWLEDGED, desk.user("alex"))
    after = desk.about(job)
    assert (after["ts"], after["text"]) == (card["ts"], card["text"])
    assert actions(after) == ["reply:RESULT", "reply:DECLINE", "reply:NO-ACTION"]
    assert "owner Alex Example" in str(after["blocks"]) or "owner alex" in str(after["blocks"])
    (said,) = await desk.deps.store.read(lambda connection: records.replies_to(connection, job.job_id))
    assert (said.verb, said.author, said.via) == (Verb.CLAIM, desk.user("alex"), "button")


async def test_a_press_that_comes_twice_counts_once(desk):
    """U2, §10 promise 3: the same payload delivered again, as after a lost acknowledgement, changes nothing."""
    job = await desk.digest("is it ours?")
    await desk.press("alex", desk.about(job), "reply:ACK")
    (envelope,) = desk.sandbox.see("envelopes", kind="interactive")["envelopes"]

    async def ack(*_args, **_named):
        return None

    await Listeners(deps=desk.deps).press(ack, envelope["payload"], ack)
    replies = await desk.deps.store.read(lambda connection: records.replies_to(connection, job.job_id))
    assert len(replies) == 1


async def test_one_press_closes_and_takes_the_buttons_away(desk):
    """P6, P11: NO-ACTION closes at once; the footer says by whom, and nothing is left to press."""
    job = await desk.digest("did finance replace the card?")
    await desk.press("alex", desk.about(job), "reply:NO-ACTION")
    assert (await desk.job(job.job_id)).outcome is Verb.NO_ACTION
    card = desk.about(job)
    assert actions(card) == []
    assert card["text"].splitlines()[-1].startswith("Closed: NO-ACTION by ")


async def test_a_result_is_given_by_form(desk):
    """U2: the form opens at once, an empty result is refused beside its field, words close the job."""
    job = await desk.digest("is the deploy fixed?")
    await desk.press("alex", desk.about(job), "reply:RESULT")
    await desk.view("alex", "Result")
    refused = await desk.submit("alex", text="…")
    assert refused["response"]["response_action"] == "errors"
    assert "needs words" in refused["response"]["errors"]["text"]
    assert (await desk.job(job.job_id)).status is Status.PENDING
    await desk.submit("alex", text="deployed & checked")
    closed = await desk.job(job.job_id)
    assert (closed.outcome, closed.result_text) == (Verb.RESULT, "deployed & checked")
    assert desk.sandbox.see("views", user=desk.user("alex"))["views"] == []


async def test_a_decline_is_handed_on_and_the_matter_rests_by_a_press(desk):
    """F9, U2: the reason is optional; the brain gets it with buttons, and one press ends the matter for all to see."""
    job = await desk.digest("pick the icon set")
    await desk.press("alex", desk.about(job), "reply:DECLINE")
    await desk.view("alex", "Decline")
    await desk.submit("alex", text="design work")
    told = desk.about(job, "main-loop-brain", "declined by")
    assert "design work" in told["text"]
    assert actions(told) == ["matter:reroute", "matter:close"]
    await desk.press("alex", told, "matter:close", "main-loop-brain")
    after = desk.about(job, "main-loop-brain", "declined by")
    assert actions(after) == []
    assert "Settled: nothing more is done, by" in after["text"]


async def test_a_declined_matter_is_given_to_another_sidechat(desk):
    """F9: declining closes the job, not the matter: it becomes a job of somebody else's, once."""
    job = await desk.digest("pick the icon set")
    await desk.press("alex", desk.about(job), "reply:DECLINE")
    await desk.view("alex", "Decline")
    await desk.submit("alex", text="")
    told = desk.about(job, "main-loop-brain", "declined by")
    await desk.press("alex", told, "matter:reroute", "main-loop-brain")
    await desk.view("alex", "Reroute")
    await desk.submit("alex", choice="pip main")
    (fresh,) = [one for one in desk.messages("pip-main") if "pick the icon set" in one["text"]]
    assert fresh["text"].startswith("[main-loop] [JOB ml-pip-")
    assert "given on as ml-pip-" in desk.about(job, "main-loop-brain", "declined by")["text"]


async def test_an_escalation_is_closed_by_one_press_where_it_was_sent(desk):
    """F4, U2: it can be understood alone, has buttons, and every copy of it goes quiet when it is closed."""
    job = await desk.digest("who holds the migration lock?")
    await desk.buffer("robin", f"escalate {job.job_id}")
    person = await desk.direct("robin")
    card = desk.about(job, person)
    for words in ("who holds the migration lock?", "646 tasks", "Tried: 0 of 2 nudges", "Thread: <http"):
        assert words in card["text"]
    await desk.press("robin", card, "reply:NO-ACTION", person)
    assert (await desk.job(job.job_id)).status is Status.RESOLVED
    for place in (person, "main-loop-brain", "646-tasks"):
        shown = desk.about(job, place)
        assert actions(shown) == []
        assert shown["text"].splitlines()[-1].startswith("Closed: NO-ACTION by ")


async def test_a_stranger_is_told_privately_and_changes_nothing(desk):
    """P9, U2: somebody of another workspace presses: a private explanation, at the button and in the form alike."""
    job = await desk.digest("may we archive it?")
    await desk.sandbox.do("users/create", name="guest", team_id="T0STRANGER")
    await desk.sandbox.do("channels/join", channel="646-tasks", user="guest")
    pressed = await desk.press("guest", desk.about(job), "reply:CLAIM")
    assert pressed["acked"]
    assert "not of this workspace" in (await eventually(lambda: desk.told("guest")))[-1]
    await desk.press("guest", desk.about(job), "reply:RESULT")
    refused = await desk.view("guest", "Not possible")
    assert "not of this workspace" in str(refused["blocks"])
    assert (await desk.job(job.job_id)).status is Status.PENDING
    assert await desk.deps.store.read(lambda connection: records.replies_to(connection, job.job_id)) == []


async def test_a_second_claimer_is_told_whose_it_is(desk):
    """P6: claimed by somebody else; nothing changes, and only he is told."""
    job = await desk.digest("may we archive it?")
    card = desk.about(job)
    await desk.press("alex", card, "reply:CLAIM")
    await desk.sandbox.do(
        "act/shortcut",
        user="robin",
        app="digestbot",
        channel=desk.channel("646-tasks"),
        ts=card["ts"],
        callback_id="digestbot_reply",
    )
    await desk.view("robin", "Answer this digest")
    await desk.submit("robin", choice="CLAIM")
    refused = await desk.view("robin", "Not possible")
    assert f"{job.job_id} is claimed by" in str(refused["blocks"])
    assert (await desk.job(job.job_id)).owner == desk.user("alex")


async def test_the_shortcut_answers_from_inside_a_thread(desk):
    """U2: commands do not work in threads, so a message's menu does: on any message of the job's thread."""
    job = await desk.digest("may we archive it?")
    tasks, card = desk.channel("646-tasks"), desk.about(job)
    said = await desk.sandbox.do("act/post", user="alex", channel=tasks, text="hm", thread_ts=card["ts"])
    await desk.sandbox.do(
        "act/shortcut", user="alex", app="digestbot", channel=tasks, ts=said["ts"], callback_id="digestbot_reply"
    )
    await desk.view("alex", "Answer this digest")
    await desk.submit("alex", choice="RESULT", text="archived")
    assert (await desk.job(job.job_id)).result_text == "archived"


async def test_the_shortcut_elsewhere_explains(desk):
    """U2: on a message of no digest it says what to choose instead."""
    tasks = desk.channel("646-tasks")
    said = await desk.sandbox.do("act/post", user="alex", channel=tasks, text="lunch?")
    await desk.sandbox.do(
        "act/shortcut", user="alex", app="digestbot", channel=tasks, ts=said["ts"], callback_id="digestbot_reply"
    )
    refused = await desk.view("alex", "Not possible")
    assert "belongs to no digest" in str(refused["blocks"])


async def test_a_late_result_by_form_is_kept_and_said_to_be_late(desk):
    """P6: the outcome stays, the words are kept, and who sent them learns it."""
    job = await desk.digest("may we archive it?")
    card = desk.about(job)
    await desk.press("robin", card, "reply:RESULT")
    await desk.view("robin", "Result")
    await desk.press("alex", card, "reply:NO-ACTION")
    await desk.submit("robin", text="archived it")
    assert "kept as a late one" in str((await desk.view("robin", "Not possible"))["blocks"])
    late = (await desk.deps.store.read(lambda connection: records.replies_to(connection, job.job_id)))[-1]
    assert (late.text, late.effect) == ("archived it", "late")
    assert (await desk.job(job.job_id)).outcome is Verb.NO_ACTION


@pytest.mark.parametrize("action", ["reply:CLAIM"])
async def test_what_cannot_be_stored_is_not_acknowledged(desk, monkeypatch, action):
    """U2: Slack does not repeat a press, so the person must see that it failed: no acknowledgement."""

    async def down(*_args, **_named):
        raise StoreUnavailableError("locked")

    job = await desk.digest("may we archive it?")
    monkeypatch.setattr(commands, "reply", down)
    pressed = await desk.press("alex", desk.about(job), action)
    assert not pressed["acked"]
    assert "could not be stored" in desk.told("alex")[-1]
