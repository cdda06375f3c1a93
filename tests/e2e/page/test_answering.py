"""A person answers digests in the browser: by a verb in the thread, by buttons, by a form, by a command."""

import pytest
from playwright.async_api import expect
from support.waiting import eventually

from .conftest import JOB, RESULT_FORM, plain

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_digest_is_answered_in_its_thread(page, desk, sandbox):
    """The reply goes where it belongs, and its receipt shows without a reload."""
    ts = await desk.post_digest()
    main, thread = page.get_by_role("main"), page.get_by_role("complementary", name="Thread")
    await expect(main).to_contain_text("can you look at the failing deploy of <api>? [?]")
    await main.locator(f'[data-ts="{ts}"]').hover()
    await main.get_by_role("button", name="Reply in thread").click()
    await thread.get_by_role("textbox", name="Reply in thread").fill(f"[ACK {JOB}] seen")
    await page.keyboard.press("Enter")
    await expect(thread.get_by_role("button", name="white_check_mark, 1: digestbot")).to_be_visible()
    await expect(main.get_by_role("link", name="1 reply")).to_be_visible()
    reply = sandbox.see("messages", channel=desk.tasks, thread_ts=ts)["messages"][-1]
    assert (reply["text"], reply["thread_ts"], reply["user"]) == (f"[ACK {JOB}] seen", ts, "U00000001")


async def test_a_press_changes_the_card_and_keeps_the_keyboard(page, desk):
    """The pressed button is gone afterwards; the keyboard is on the message that had it."""
    ts = await desk.post_digest()
    claim = page.get_by_role("button", name="CLAIM")
    await claim.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("acknowledged, owner @alex, CLAIM")).to_be_visible()
    await expect(claim).to_have_count(0)
    await expect(page.locator(f'main [data-ts="{ts}"]')).to_be_focused()


async def test_a_result_is_given_by_form(page, desk):
    """What is missing is said at its field, by the page and by the app alike; then the card says what was sent."""
    await desk.post_digest()
    await page.get_by_role("button", name="RESULT").click()
    form = page.get_by_role("dialog", name="Result")
    field, send = form.get_by_label("Result", exact=True), form.get_by_role("button", name="Send")
    await expect(field).to_be_focused()
    await send.click()
    await expect(field).to_have_accessible_description("What was done, in words. Please fill this in.")
    await field.fill("…")
    await send.click()
    await expect(form.get_by_text("A result needs words.")).to_be_visible()
    await expect(field).to_be_focused()
    await field.fill("deployed and checked")
    await form.get_by_label("Kind").select_option("Fixed")
    await send.click()
    await expect(form).to_have_count(0)
    await expect(page.get_by_text("resolved, RESULT: deployed and checked")).to_be_visible()
    await expect(page.get_by_text("Closed: RESULT by alex")).to_be_visible()


async def test_a_form_comes_from_a_messages_menu_and_forms_stack(page, desk):
    """A message shortcut opens the form; another one comes on top of it and goes back to it; Escape leaves."""
    ts = await desk.post_digest()
    await page.locator(f'main [data-ts="{ts}"]').hover()
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Answer this digest · digestbot").click()
    first, second = page.get_by_role("dialog", name="Result"), page.get_by_role("dialog", name="One more")
    await first.get_by_label("Result", exact=True).fill("more")
    await first.get_by_role("button", name="Send").click()
    await expect(second).to_contain_text("Nothing else is needed.")
    await second.get_by_role("button", name="Back").click()
    await expect(first).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_an_app_renews_an_open_form(page, desk, sandbox):
    """What was typed into a field that remains stays, and so does the keyboard."""
    trigger = sandbox.workspace.tickets.trigger("U00000001")
    view = (await desk.web.views_open(trigger_id=trigger, view=RESULT_FORM))["view"]
    field = page.get_by_role("dialog", name="Result").get_by_label("Result", exact=True)
    await field.fill("half a sent")
    renewed = RESULT_FORM | {"title": plain("Results"), "blocks": [RESULT_FORM["blocks"][1]]}
    await desk.web.views_update(view_id=view["id"], view=renewed)
    field = page.get_by_role("dialog", name="Results").get_by_label("Result", exact=True)
    await expect(field).to_have_value("half a sent")
    await expect(field).to_be_focused()
    await expect(page.get_by_label("Kind")).to_have_count(0)


async def test_a_command_answers_only_who_typed_it(page, desk, sandbox):
    """The answer is private, aloud, and can be dismissed; another person does not see it."""
    await page.get_by_role("textbox", name="Message #646-tasks").fill("/buffer status")
    await page.keyboard.press("Enter")
    answer = page.get_by_role("listitem").filter(has_text="Only visible to you")
    await expect(answer).to_contain_text("Open 1 · stale 0 · closure 100 % (status)")
    await expect(page.locator("#announcer")).to_contain_text("Only visible to you, digestbot: Open 1")
    await page.get_by_label("Acting as").select_option("Robin Example")
    await expect(page.get_by_role("textbox", name="Message #646-tasks")).to_be_visible()
    await expect(answer).to_have_count(0)
    (typed,) = sandbox.see("envelopes", kind="slash_commands")["envelopes"]
    assert (typed["payload"]["user_name"], typed["payload"]["channel_id"]) == ("alex", desk.tasks)


@pytest.mark.parametrize(("typed", "words"), [("/buffet status", "/buffet is not a valid command")])
async def test_a_mistyped_command_is_given_back(page, typed, words):
    """Nothing is lost: the composer says what is wrong and keeps what was typed."""
    composer = page.get_by_role("textbox", name="Message #646-tasks")
    await composer.fill(typed)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert").filter(has_text=words)).to_be_visible()
    await expect(composer).to_have_value(typed)


async def test_an_escalation_is_closed_after_a_question(page, desk, sandbox):
    """The dangerous button asks first, the harmless answer has the keyboard, and the card changes in place."""
    await desk.post_escalation(sandbox.workspace.world.channel("ops").id)
    await expect(page.get_by_role("link", name="ops 1 unread")).to_be_visible()
    await page.get_by_role("link", name="ops").click()
    question = page.get_by_role("dialog", name="Close this job?")
    close = page.get_by_role("button", name="Close", exact=True)
    await close.click()
    await expect(question.get_by_role("button", name="Not yet")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(close).to_be_focused()
    assert not sandbox.see("envelopes", kind="interactive")["envelopes"]
    await close.click()
    await question.get_by_role("button", name="Close it").click()
    await expect(page.get_by_text("Closed by a human.")).to_be_visible()
    await expect(page.get_by_role("link", name="ops", exact=True)).to_be_visible()


async def test_the_home_tab_renews_itself(page, desk):
    """Opening it tells the app; what the app publishes after a press shows at once."""
    await page.get_by_role("link", name="digestbot").click()
    await page.get_by_role("link", name="Home").click()
    await expect(page.get_by_role("heading", name="Open jobs")).to_be_visible()
    await page.get_by_role("button", name="Seen").click()
    await expect(page.get_by_text("Nothing is open.")).to_be_visible()


async def test_an_app_that_is_silent_is_reported(page, desk, sandbox):
    """A person is not left waiting without a word."""
    await desk.post_digest()
    await sandbox.do("settings", ack_seconds=0.05)
    await sandbox.do("faults/set", kind="silent_socket")
    await page.get_by_role("button", name="CLAIM").click()
    await expect(page.get_by_role("region", name="Notices")).to_contain_text("The app did not answer in time")
    await eventually(lambda: sandbox.see("envelopes", kind="interactive", status="lost")["envelopes"])
