"""The inboxes that the configuration names, as sources: the one place that puts their parts together (S1, S3)."""

from contextlib import AsyncExitStack
from dataclasses import replace

import httpx2

from bot.clock import Clock
from bot.config import Config
from bot.engine.observing import Tracks
from bot.engine.ports import Source
from bot.sources.github.api import GitHubApi
from bot.sources.github.poller import GitHubNotifications
from bot.sources.mail.imap import open_folder
from bot.sources.mail.poller import MailPoller
from bot.sources.mail.source import MailSource


async def sources(config: Config, *, clock: Clock, tracks: Tracks, stack: AsyncExitStack) -> list[Source]:
    """Return what is asked for items: each is a source of its own, and fails alone (B4).

    Args:
        config: Names them.
        clock: Theirs.
        tracks: Whether the buffer holds an active item of a thread; asked from worker threads.
        stack: Closes what they hold open.
    """
    found: list[Source] = []
    if inbox := config.github_inbox:
        client = await stack.enter_async_context(httpx2.AsyncClient())
        api = GitHubApi(client, base_url=inbox.api_url, token=inbox.token.get_secret_value, clock=clock)
        agents = replace(config.github, tracks=tracks)
        found.append(GitHubNotifications(api, agents=agents, clock=clock, full_every=inbox.full_every))
    if mail := config.mail_inbox:
        mailbox = replace(mail.mailbox, tracks=tracks)
        poller = MailPoller(mail.account, mailbox, clock=clock, opener=open_folder)
        found.append(MailSource(poller, name=mailbox.source))
    return found
