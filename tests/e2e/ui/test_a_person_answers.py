"""Acceptance C1: one person, one browser, the real bot: read, answer in the thread, press, fill in, ask, close."""

import pytest
from playwright.async_api import expect
from support.browser import serious_findings
from support.waiting import eventually

pytestmark = [pytest.mark.browser]


async def test_a_person_reads_answers_and_closes(bot, page, tmp_path):
    """U1, U2, P11, F4: every way in which a person answers, on the page, nothing serious for axe-core."""
    main, thread = page.get_by_role("main"), page.get_by_role("complementary", name="Thread")

    # Reads the digest, opens its thread, and answers with a verb.
    first = await bot.ask("may we archive the old repository?")
    await expect(main).to_contain_text("may we archive the old repository? [?]")
    (digest,) = bot.said(bot.tasks, first)
    card = main.locator(f'[data-ts="{digest["ts"]}"]')
    await page.screenshot(path=tmp_path / "digest.png")
    assert await serious_findings(page) == []
    await card.hover()
    await card.get_by_role("button", name="Reply in thread").click()
    await thread.get_by_role("textbox", name="Reply in thread").fill(f"[ACK {first}] seen")
    await page.keyboard.press("Enter")
    await expect(thread.get_by_role("button", name="eyes, 1: digestbot")).to_be_visible()
    await expect(card).to_contain_text("acknowledged")
    await expect(card.get_by_role("button", name=f"ACK: {first}")).to_have_count(0)

    # Presses CLAIM, then gives the result by form.
    await card.get_by_role("button", name="CLAIM").click()
    await expect(card).to_contain_text("owner alex")
    await card.get_by_role("button", name="RESULT").click()
    form = page.get_by_role("dialog", name="Result")
    await expect(form.get_by_label("What was done?")).to_be_visible()
    assert await serious_findings(page) == []
    await form.get_by_label("What was done?").fill("…")
    await form.get_by_role("button", name="Send result").click()
    await expect(form).to_contain_text("needs words")
    await form.get_by_label("What was done?").fill("archived, and the links redirect")
    await page.screenshot(path=tmp_path / "form.png")
    await form.get_by_role("button", name="Send result").click()
    await expect(form).to_have_count(0)
    await expect(card).to_contain_text("Closed: RESULT by alex")
    await expect(card.get_by_role("button", name="CLAIM")).to_have_count(0)

    # Types /buffer status.
    await page.get_by_role("textbox", name="Message #646-tasks").fill("/buffer status")
    await page.keyboard.press("Enter")
    answer = page.get_by_role("listitem").filter(has_text="Only visible to you")
    await expect(answer).to_contain_text("closure rate 100%")
    await page.screenshot(path=tmp_path / "status.png")
    assert await serious_findings(page) == []

    # Hands a job over, and closes the escalation with one press.
    second = await bot.ask("who holds the migration lock?")
    await expect(main).to_contain_text("who holds the migration lock?")
    await page.get_by_role("textbox", name="Message #646-tasks").fill(f"/buffer escalate {second}")
    await page.keyboard.press("Enter")
    await eventually(lambda: bot.said(bot.brain, second))
    await page.get_by_role("link", name="main-loop-brain").click()
    (escalation,) = bot.said(bot.brain, second)
    told = page.get_by_role("main").locator(f'[data-ts="{escalation["ts"]}"]')
    await expect(told).to_contain_text("asks for help with this job of 646 in 646 tasks")
    await page.screenshot(path=tmp_path / "escalation.png")
    assert await serious_findings(page) == []
    await told.get_by_role("button", name="NO-ACTION").click()
    await expect(told).to_contain_text("Closed: NO-ACTION by alex")
    await expect(told.get_by_role("button", name="CLAIM")).to_have_count(0)
    await page.screenshot(path=tmp_path / "closed.png")
    outcomes = {job["job_id"]: job["outcome"] for job in await bot.jobs()}
    assert outcomes == {first: "RESULT", second: "NO-ACTION"}
