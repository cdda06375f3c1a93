"""A real browser for tests of pages; they skip visibly where no Chromium is installed, and fail where one is required.

`browser` is a fixture for one test. Where many tests run in one event loop they can share one `running_browser()`: its
driver takes longer to start than most tests to run.
"""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright, expect

from .waiting import PATIENCE

ARGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
WAIT_MS = 1_000 * PATIENCE
expect.set_options(timeout=WAIT_MS)
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Return where Chromium is, if it is anywhere."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


@asynccontextmanager
async def running_browser() -> AsyncIterator[Browser]:
    """Start Chromium, or skip the test that asked for it; CI sets DIGESTBOT_REQUIRE_BROWSER, and it fails instead."""
    path = chromium()
    if path is None:
        without = pytest.fail if os.environ.get("DIGESTBOT_REQUIRE_BROWSER") else pytest.skip  # noqa: TID251
        without("no Chromium: install Debian's package `chromium` to run browser tests")
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=path, headless=True, args=list(ARGS))
        yield running
        await running.close()


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Chromium, started for one test."""
    async with running_browser() as running:
        yield running


@asynccontextmanager
async def tab(browser: Browser, url: str, *, scheme: str = "light", width: int = 1280) -> AsyncIterator[Page]:
    """Open a page in a context of its own; a fault of the page, or a request to elsewhere, fails the test."""
    context = await browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light", viewport={"width": width, "height": 860}
    )
    context.set_default_timeout(WAIT_MS)
    page = await context.new_page()
    faults = _watched(page, urlsplit(url).netloc)
    await page.goto(url)
    try:
        yield page
    finally:
        await context.close()
    assert not faults


async def serious_findings(page: Page) -> list[str]:
    """Return what axe-core calls serious or critical about the page as it stands."""
    results = await Axe().run(page)
    return [
        f"{finding['id']}: {finding['help']}: {[node['html'] for node in finding['nodes']]}"
        for finding in results.response["violations"]
        if finding["impact"] in {"serious", "critical"}
    ]


def _watched(page: Page, host: str) -> list[str]:
    faults: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        # A refused request is logged by the browser as an error, however well the page answers it.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            faults.append(f"console: {message.text}")

    def asked(request: Request) -> None:
        if urlsplit(request.url).netloc != host:
            faults.append(f"request to elsewhere: {request.url}")

    page.on("pageerror", lambda error: faults.append(f"page: {error}"))
    page.on("console", hear)
    page.on("request", asked)
    return faults
