"""Server-sent events: every open tab learns what changed, from the same happenings that apps learn of."""

import asyncio
import json
from dataclasses import dataclass, field

from aiohttp import web

from bot.sandbox.page.frames import frames
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import Json

FRAMES_MAX = 1_000  # what may wait for a slow tab; beyond it the tab is cut off and reads everything again
HEARTBEAT_SECONDS = 15.0  # how soon a tab that went away is noticed

_Queue = asyncio.Queue[Json | None]


@dataclass(kw_only=True)
class Streams:
    """All open tabs. Nothing is computed while there is none."""

    workspace: Workspace
    heartbeat: float = HEARTBEAT_SECONDS
    _queues: list[_Queue] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._queues)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one tab until it goes, falls behind, or the sandbox stops."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        queue = self._enter()
        try:
            await response.prepare(request)
            await response.write(b"retry: 500\n\n")
            await self._pump(queue, response)
        except ConnectionResetError:  # the tab was closed: that is how every stream ends
            return response
        finally:
            self._leave(queue)
        return response

    async def stop(self) -> None:
        for queue in self._queues:
            _cut_off(queue)

    def _hear(self, happening: Json) -> None:
        for frame in frames(self.workspace, happening):
            for queue in self._queues:
                if queue.full():
                    _cut_off(queue)
                queue.put_nowait(frame)

    async def _pump(self, queue: _Queue, response: web.StreamResponse) -> None:
        while True:
            try:
                frame = await asyncio.wait_for(queue.get(), self.heartbeat)
            except TimeoutError:
                await response.write(b": still here\n\n")
                continue
            if frame is None:
                return
            await response.write(b"data: " + json.dumps(frame).encode() + b"\n\n")

    def _enter(self) -> _Queue:
        if not self._queues:
            self.workspace.publisher.listeners.append(self._hear)
        queue: _Queue = asyncio.Queue(FRAMES_MAX)
        self._queues.append(queue)
        return queue

    def _leave(self, queue: _Queue) -> None:
        self._queues.remove(queue)
        if not self._queues:
            self.workspace.publisher.listeners.remove(self._hear)


def _cut_off(queue: _Queue) -> None:
    """Let the stream end with its next step: what still waited for the tab is worth nothing any more."""
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(None)
