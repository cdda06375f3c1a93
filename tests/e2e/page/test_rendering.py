"""Text and blocks as a person expects to see them, and outside text that can do nothing."""

import pytest
from playwright.async_api import expect
from support.browser import serious_findings, tab

from .conftest import JOB, button, plain, words

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

_SHOWN = """async (texts) => {
  const { mrkdwn } = await import('/page/static/mrkdwn.js');
  return texts.map((text) => {
    const holder = document.createElement('div');
    holder.append(...mrkdwn(text));
    return holder.innerHTML;
  });
}"""
MRKDWN = {
    "plain": "<p>plain</p>",
    "*bold* _it_ ~no~": "<p><strong>bold</strong> <em>it</em> <s>no</s></p>",
    "*_both_*": "<p><strong><em>both</em></strong></p>",
    "snake_case_name 2*3*4": "<p>snake_case_name 2*3*4</p>",  # marks inside words are none
    "* not bold *": "<p>* not bold *</p>",  # nor marks beside spaces
    "`*code* &lt;b&gt;`": "<p><code>*code* &lt;b&gt;</code></p>",
    "a\nb": "<p>a<br>b</p>",
    "&gt; said\n&gt; so\nyes": "<blockquote>said<br>so</blockquote><p>yes</p>",
    "```\nx = 1\n```": '<pre tabindex="0"><code>x = 1</code></pre>',
    "&amp;lt; is &lt;": "<p>&amp;lt; is &lt;</p>",  # decoded once
    ":tada: :no_such_one:": "<p>🎉 :no_such_one:</p>",
    "<@U00000002> <!here>": '<p><span class="mention">@robin</span> <span class="mention me">@here</span></p>',
    "<!subteam^S00000001>": '<p><span class="mention">@operators</span></p>',
    "<https://example.org/a?b=1&amp;c=2|the run>": (
        '<p><a href="https://example.org/a?b=1&amp;c=2" title="https://example.org/a?b=1&amp;c=2" target="_blank"'
        ' rel="noopener noreferrer">the run</a></p>'
    ),
    "<javascript:alert(1)|click>": "<p>click</p>",  # no link at all
    "<!date^0^{date_num}|then>": None,  # the reader's own format: anything but the code
}  # fmt: skip
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<https://example.org|<img src=x onerror=alert(1)>>",
    "<javascript:alert(document.domain)|open>",
    '"><svg onload=alert(1)>',
]


async def test_mrkdwn(page):
    shown = await page.evaluate(_SHOWN, list(MRKDWN))
    wanted = [html if html is not None else got for html, got in zip(MRKDWN.values(), shown, strict=True)]
    assert shown == wanted
    assert "{date_num}" not in shown[-1]


def hostile_post(text):
    blocks = [
        {"type": "section", "text": words(text), "fields": [words(text), plain(text)]},
        {"type": "header", "text": plain(text)},
        {"type": "context", "elements": [words(text), {"type": "image", "image_url": text, "alt_text": text}]},
        {"type": "actions", "elements": [button("x", text) | {"url": "javascript:alert(1)"}]},
    ]
    attachments = [{"text": text, "title": text, "title_link": "javascript:alert(1)", "color": "red;x:url(//e)"}]
    return {"text": text, "blocks": blocks, "attachments": attachments}


async def test_outside_text_stays_text(page, desk):
    """Whatever is posted, in text, blocks and labels: no element, no script, no request, no dialog comes of it."""
    for text in HOSTILE:
        await desk.web.chat_postMessage(channel=desk.tasks, text=text)
        await desk.web.chat_postMessage(channel=desk.tasks, **hostile_post(text))
    items = page.get_by_role("main").get_by_role("listitem")
    await expect(items).to_have_count(2 * len(HOSTILE))
    assert await items.locator("img, script, svg[onload], [onerror], [href^='javascript']").count() == 0


async def test_blocks(page, desk):
    """Fields, context, dividers and menus are there, and choosing from a menu tells the app what was chosen."""
    options = [{"text": plain(name), "value": name.lower()} for name in ("Later", "Never")]
    blocks = [
        {"type": "header", "text": plain("Report :rocket:")},
        {"type": "section", "fields": [words("*Open*\n3"), words("*Stale*\n0")]},
        {"type": "divider"},
        {"type": "section", "text": words("Pick"),
         "accessory": {"type": "overflow", "action_id": "pick", "options": options}},
        {"type": "context", "elements": [words("see https://example.org/a, `https://example.org/b`")]},
        {"type": "context", "elements": [words("as https://example.org/c is") | {"verbatim": True}]},
        {"type": "actions", "elements": [{"type": "static_select", "action_id": "choose", "options": options}]},
        {"type": "video", "title": plain("v")},
    ]  # fmt: skip
    await desk.web.chat_postMessage(channel=desk.tasks, text="report", blocks=blocks)
    item = page.get_by_role("main").get_by_role("listitem")
    await expect(item.get_by_role("heading", name="Report 🚀")).to_be_visible()
    await expect(item.get_by_role("separator")).to_be_visible()
    await expect(item.get_by_text("a block of type video is not shown here")).to_be_visible()
    await expect(item.get_by_role("link")).to_have_text(["https://example.org/a"])
    await item.get_by_role("button", name="More actions").first.click()
    await page.get_by_role("menuitem", name="Never").click()
    await item.get_by_role("combobox").select_option("Later")
    await expect(page.get_by_text("chosen: never, later", exact=True)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious(browser, sandbox, desk, scheme):
    """In the channel, with a menu, in a thread, in a form with faults, in a question, in the Home tab."""
    await sandbox.do(
        "act/post", user="robin", channel="646-tasks", text="`code` <@U00000001> ~x~\n```\nfence\n```\n> q"
    )
    ts = await desk.post_digest()
    await sandbox.do("act/post", user="robin", channel="646-tasks", text=f"[ACK {JOB}]", thread_ts=ts)
    await desk.post_escalation(desk.tasks)
    await sandbox.do("act/command", user="alex", channel="646-tasks", text="/buffer status")
    async with tab(browser, f"{sandbox.url}/?as=alex", scheme=scheme) as page:
        await expect(page.get_by_text("Only visible to you")).to_be_visible()
        assert await serious_findings(page) == []
        await page.locator(f'main [data-ts="{ts}"]').hover()
        await page.locator(f'main [data-ts="{ts}"]').get_by_role("button", name="More actions").click()
        assert await serious_findings(page) == []
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("menu")).to_have_count(0)
        await page.get_by_role("link", name="1 reply").click()
        await expect(page.get_by_role("textbox", name="Reply in thread")).to_be_focused()
        assert await serious_findings(page) == []
        await page.get_by_role("main").get_by_role("button", name="RESULT").click()
        await page.get_by_role("dialog").get_by_role("button", name="Send").click()
        await expect(page.get_by_text("Please fill this in.")).to_be_visible()
        assert await serious_findings(page) == []
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)  # it has a button Close, too
        await page.get_by_role("button", name="Close", exact=True).click()
        await expect(page.get_by_role("dialog", name="Close this job?")).to_be_visible()
        assert await serious_findings(page) == []
        await page.keyboard.press("Escape")
        await page.goto(f"{sandbox.url}/app/{sandbox.workspace.world.app('digestbot').id}/home")
        await expect(page.get_by_role("heading", name="Open jobs")).to_be_visible()
        assert await serious_findings(page) == []
