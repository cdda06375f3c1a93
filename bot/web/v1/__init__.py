"""Version 1 of the HTTP interface: every verb and every command (SPEC §9, U5).

One module a noun; each gives a table of endpoints. `docs/http.md` and `/v1/openapi.json` say what they take and answer.
"""

from typing import Final

from starlette.routing import Route

from bot.engine.deps import Deps
from bot.web import endpoints, openapi
from bot.web.gate import Gate
from bot.web.v1 import actions, github, items, jobs, overview, sidechats
from bot.web.v1.github import Webhook

ENDPOINTS: Final = (
    *items.ENDPOINTS,  # the most used first: routes are tried in their order
    *overview.ENDPOINTS,
    *jobs.ENDPOINTS,
    *sidechats.ENDPOINTS,
    *actions.ENDPOINTS,
)


def routes(deps: Deps, gate: Gate, webhook: Webhook) -> list[Route]:
    """Return all routes of this version."""
    return [
        *endpoints.routes(ENDPOINTS, deps=deps, gate=gate),
        github.route(deps, webhook),
        openapi.route(ENDPOINTS),
    ]
