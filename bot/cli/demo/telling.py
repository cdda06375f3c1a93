"""The timeline of the demo: each message of the workspace as it appears, one line."""

import asyncio
from typing import Final

from rich.console import Console
from rich.markup import escape

from bot.cli.demo.world import World

EVERY_SECONDS: Final = 0.25
LINE_MAX: Final = 150


class Teller:
    """Prints what is said, on stderr where stdout belongs to a program."""

    def __init__(self, made: World, *, as_json: bool) -> None:
        self._made = made
        self._console = Console(stderr=as_json, soft_wrap=True, highlight=False)
        self._seen: set[tuple[str, str, str]] = set()
        self._began = asyncio.get_running_loop().time()

    def say(self, text: str, style: str = "bold") -> None:
        """Print a line of our own."""
        at = asyncio.get_running_loop().time() - self._began
        self._console.print(f"[dim]{at:6.1f} s[/dim]  [{style}]{escape(text)}[/{style}]")

    async def watch(self) -> None:
        """Print messages until cancelled."""
        while True:
            state = await self._made.see("state")
            for channel in state["channels"]:
                await self._channel(channel["id"], channel.get("name") or "direct message")
            await asyncio.sleep(EVERY_SECONDS)  # noqa: TID251 - the demo lives on the real clock

    async def _channel(self, channel: str, name: str) -> None:
        for message in await self._made.messages(channel):
            text = str(message.get("text", ""))
            key = (channel, str(message["ts"]), text)
            if key in self._seen or not text:
                continue
            edited = any((channel, str(message["ts"])) == (one, ts) for one, ts, _ in self._seen)
            self._seen.add(key)
            if message.get("subtype") != "channel_join":
                self._line(name, message, text, edited=edited)

    def _line(self, name: str, message: dict[str, object], text: str, *, edited: bool) -> None:
        lines = text.split("\n")
        shown = lines[-1] if edited and lines[-1].startswith("Closed:") else lines[0]
        place = f"#{name}" + (" ↳" if message.get("thread_ts") not in {None, message["ts"]} else "")
        user = str(message.get("user", ""))
        who = self._made.names.get(user, user)
        mark = "edits: " if edited else ""
        self.say(f"{place:<20} {who:<10} {mark}{shown[:LINE_MAX]}", "default")
