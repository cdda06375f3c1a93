"""What a person sees of the workspace as it changes, and does with messages."""

import asyncio

import pytest
from playwright.async_api import expect
from support.browser import tab
from support.waiting import eventually

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_messages_arrive_and_are_read_aloud(page, sandbox):
    """A new message shows at once, with its author and their words in the live region."""
    await sandbox.do("act/post", user="robin", channel="646-tasks", text="the *deploy* is green")
    await expect(page.get_by_role("main").get_by_text("the deploy is green")).to_be_visible()
    await expect(page.locator("#announcer")).to_contain_text("robin in #646-tasks: the deploy is green")


async def test_unread_marks_come_and_go(page, sandbox):
    """They count what others wrote, in channels and in DMs that did not exist before, and go when it is read."""
    await sandbox.do("act/post", user="robin", channel="ops", text="one")
    await sandbox.do("act/post", user="alex", channel="ops", text="my own")
    await expect(page.get_by_role("link", name="ops 1 unread")).to_be_visible()
    dm = await sandbox.do("dms/open", user="alex", app="digestbot")
    await sandbox.do("act/app_post", app="digestbot", channel=dm["id"], text="psst")
    await page.get_by_role("link", name="digestbot 1 unread").click()
    await expect(page.get_by_role("main").get_by_text("psst")).to_be_visible()
    await expect(page.get_by_role("link", name="digestbot", exact=True)).to_be_visible()


async def test_an_own_message_is_edited_and_deleted(page, sandbox, desk):
    """Editing starts from what was typed, deleting asks first; the edit is marked."""
    composer = page.get_by_role("textbox", name="Message #646-tasks")
    await composer.fill("hello @robin")
    await composer.press("Enter")
    item = page.get_by_role("listitem").filter(has_text="hello @robin")
    await item.hover()
    await item.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Edit message").click()
    editor = page.get_by_role("textbox", name="Edit message")
    await expect(editor).to_have_value("hello @robin")
    await editor.fill("goodbye @robin")
    await editor.press("Enter")
    await expect(page.get_by_text("(edited)")).to_be_visible()
    (message,) = sandbox.see("messages", channel=desk.tasks)["messages"]
    assert message["text"] == "goodbye <@U00000002>"
    await page.get_by_role("listitem").filter(has_text="goodbye").get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Delete message").click()
    await page.get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("goodbye")).to_have_count(0)


async def test_an_edit_survives_what_happens_meanwhile(page, sandbox, desk):
    """A message that is being edited is not redrawn under its author's hands; Escape leaves it as it was."""
    said = await sandbox.do("act/post", user="alex", channel="646-tasks", text="draft")
    item = page.locator(f'main [data-ts="{said["ts"]}"]')
    await item.hover()
    await item.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Edit message").click()
    editor = page.get_by_role("textbox", name="Edit message")
    await editor.fill("half a sent")
    await sandbox.do("act/react", user="robin", channel="646-tasks", ts=said["ts"], name="eyes")
    await sandbox.do("act/post", user="robin", channel="646-tasks", text="after it")
    await expect(page.get_by_text("after it", exact=True)).to_be_visible()
    await expect(editor).to_have_value("half a sent")
    await editor.press("Escape")
    await expect(item.get_by_role("button", name="eyes, 1: robin")).to_be_visible()
    await expect(item).to_be_focused()


async def test_reactions_are_given_and_taken_back(page, sandbox):
    said = await sandbox.do("act/post", user="robin", channel="646-tasks", text="react to me")
    item = page.locator(f'main [data-ts="{said["ts"]}"]')
    await item.hover()
    await item.get_by_role("button", name="Add a reaction").click()
    await page.get_by_role("menuitem", name="tada").click()
    mine = item.get_by_role("button", name="tada, 1: alex", pressed=True)
    await mine.click()
    await expect(mine).to_have_count(0)


async def test_a_reply_is_sent_to_the_channel_too(page, sandbox, desk):
    """A broadcast reply shows in both places, each time saying so."""
    ts = (await sandbox.do("act/post", user="robin", channel="646-tasks", text="who is on it?"))["ts"]
    await page.locator(f'main [data-ts="{ts}"]').hover()
    await page.get_by_role("button", name="Reply in thread").click()
    thread = page.get_by_role("complementary", name="Thread")
    await thread.get_by_label("Also send to the channel").check()
    await thread.get_by_role("textbox", name="Reply in thread").fill("I am")
    await page.keyboard.press("Enter")
    await expect(thread.get_by_text("Also sent to the channel")).to_be_visible()
    await expect(page.get_by_role("main").get_by_text("replied to a thread: “who is on it?”")).to_be_visible()
    await expect(thread.get_by_label("Also send to the channel")).not_to_be_checked()


async def test_the_keyboard_reaches_everything(page, desk, sandbox):
    """Arrow keys move among messages, Escape closes a menu and a thread, and the keyboard is where it was."""
    await sandbox.do("act/post", user="robin", channel="646-tasks", text="first")
    ts = await desk.post_digest()
    card = page.locator(f'main [data-ts="{ts}"]')
    await expect(card).to_be_visible()
    await page.get_by_role("region", name="Messages").focus()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("listitem").filter(has_text="first")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(card).to_be_focused()
    more = card.get_by_role("button", name="More actions")
    await more.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("menuitem").first).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(more).to_be_focused()
    await card.get_by_role("button", name="Reply in thread").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("textbox", name="Reply in thread")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("complementary", name="Thread")).to_have_count(0)
    await expect(card).to_be_focused()


async def test_a_permalink_opens_its_message(browser, sandbox, desk):
    """The address of a reply opens the channel, the thread beside it, and that reply."""
    parent = await sandbox.do("act/post", user="alex", channel="646-tasks", text="parent")
    reply = await sandbox.do("act/post", user="robin", channel="646-tasks", text="reply", thread_ts=parent["ts"])
    async with tab(browser, reply["permalink"]) as page:
        thread = page.get_by_role("complementary", name="Thread")
        await expect(thread.locator(f'[data-ts="{reply["ts"]}"]')).to_be_focused()
        await sandbox.do("act/post", user="robin", channel="ops", text=f"see {parent['permalink']}")
        await page.get_by_role("link", name="ops").click()
        await expect(thread).to_have_count(0)
        await page.get_by_role("main").get_by_role("link", name=parent["permalink"]).click()
        await expect(page.locator(f'main [data-ts="{parent["ts"]}"]')).to_be_focused()
        await page.go_back()
        await expect(page.get_by_role("heading", name="#ops")).to_be_visible()


async def test_what_was_missed_is_read_again(page, sandbox):
    """A stream that breaks comes back by itself, and what is being typed stays."""
    await page.get_by_role("textbox", name="Message #646-tasks").fill("half a sent")
    await sandbox.page.stop()
    await sandbox.do("act/post", user="robin", channel="646-tasks", text="meanwhile")
    await expect(page.get_by_role("main").get_by_text("meanwhile")).to_be_visible()
    await expect(page.get_by_role("textbox", name="Message #646-tasks")).to_have_value("half a sent")


async def test_a_read_overtakes_nothing(page, sandbox):
    """A message that arrives while its channel is being read is not wiped away by the answer from before it."""
    arrival = (
        "new Promise(heard => { const s = new EventSource('/page/stream'); s.onmessage = () => heard(s.close()) })"
    )

    async def late(route):
        answer = await route.fetch()
        waiting = asyncio.ensure_future(page.evaluate(arrival))
        await eventually(lambda: len(sandbox.page.streams) == 2)
        await sandbox.do("act/post", user="robin", channel="ops", text="just now")
        await waiting
        await route.fulfill(response=answer)

    await sandbox.do("act/post", user="robin", channel="ops", text="long ago")
    await page.route("**/page/read/messages?channel=*", late)
    await page.get_by_role("link", name="ops").click()
    await expect(page.get_by_role("main").get_by_text("long ago")).to_be_visible()
    await expect(page.get_by_role("main").get_by_text("just now")).to_be_visible()


async def test_what_was_begun_waits_in_its_place(page):
    """A draft is there again when its author comes back to the channel, and only there."""
    await page.get_by_role("textbox", name="Message #646-tasks").fill("half a sent")
    await page.get_by_role("link", name="ops").click()
    await expect(page.get_by_role("textbox", name="Message #ops")).to_have_value("")
    await page.get_by_role("link", name="646-tasks").click()
    await expect(page.get_by_role("textbox", name="Message #646-tasks")).to_have_value("half a sent")


async def test_a_thread_whose_message_is_deleted_closes(page, sandbox):
    said = await sandbox.do("act/post", user="robin", channel="646-tasks", text="never mind")
    await page.locator(f'main [data-ts="{said["ts"]}"]').hover()
    await page.get_by_role("button", name="Reply in thread").click()
    await expect(page.get_by_role("complementary", name="Thread")).to_be_visible()
    await sandbox.do("act/delete", channel="646-tasks", ts=said["ts"])
    await expect(page.get_by_role("complementary", name="Thread")).to_have_count(0)


async def test_a_deleted_message_leaves_its_thread(page, sandbox):
    """What had replies stays as an empty place without an author, so that they can still be read."""
    said = await sandbox.do("act/post", user="robin", channel="646-tasks", text="never mind")
    await sandbox.do("act/post", user="alex", channel="646-tasks", text="too late", thread_ts=said["ts"])
    await sandbox.do("act/delete", channel="646-tasks", ts=said["ts"])
    left = page.get_by_role("main").get_by_role("listitem").filter(has_text="This message was deleted.")
    await expect(left).not_to_contain_text("robin")
    await left.get_by_role("link", name="1 reply").click()
    await expect(page.get_by_role("complementary", name="Thread")).to_contain_text("too late")


async def test_channels_are_joined_and_archived(page, sandbox):
    """Who is no member reads and may join; nobody writes in an archived channel."""
    await sandbox.do("channels/create", name="quiet", members=["robin"])
    await sandbox.do("act/post", user="robin", channel="quiet", text="only me here")
    await page.get_by_role("link", name="quiet").click()
    await expect(page.get_by_text("only me here")).to_be_visible()
    await page.get_by_role("button", name="Join the channel").click()
    await expect(page.get_by_role("textbox", name="Message #quiet")).to_be_visible()
    await sandbox.do("channels/archive", channel="quiet")
    await expect(page.get_by_text("This channel is archived.")).to_be_visible()


async def test_long_histories_come_in_pages(browser, sandbox):
    for number in range(105):
        await sandbox.do("act/post", user="robin", channel="646-tasks", text=f"line {number}")
    async with tab(browser, f"{sandbox.url}/?as=alex") as page:
        await expect(page.get_by_text("line 104", exact=True)).to_be_in_viewport()
        await expect(page.get_by_text("line 0", exact=True)).to_have_count(0)
        await page.get_by_role("button", name="Show earlier messages").click()
        await expect(page.get_by_text("line 0", exact=True)).to_have_count(1)
        await expect(page.get_by_role("button", name="Show earlier messages")).to_have_count(0)


async def test_a_narrow_window_shows_one_pane(browser, sandbox, desk):
    """At 700 pixels the thread takes the channel's place; nothing sticks out sideways."""
    ts = await desk.post_digest()
    await sandbox.do("act/post", user="robin", channel="646-tasks", text="here", thread_ts=ts)
    async with tab(browser, f"{sandbox.url}/?as=alex", width=700) as page:
        await page.get_by_role("link", name="1 reply").click()
        await expect(page.get_by_role("complementary", name="Thread")).to_be_visible()
        await expect(page.get_by_role("main")).to_be_hidden()
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.get_by_role("button", name="Back to the channel").click()
        await expect(page.get_by_role("button", name="CLAIM")).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
