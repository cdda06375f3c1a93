"""A local Slack workspace: Web API, Socket Mode, events, interactivity, page, scripted agents, faults (SPEC U7).

It plays Slack, so it knows nothing of the program that talks to it. It keeps Slack's limits (sizes, rates, placement
rules, retry schedules) and misbehaves when told to, in the ways that Slack is known to misbehave.

Its words: an *app* has a bot user and tokens; the *world* is the workspace's state; a *draft* becomes a *message*; an
*envelope* carries one payload to one app; a *fault* is a misbehaviour switched on by the control API.
"""

from bot.sandbox.server import Sandbox
from bot.sandbox.settings import Settings

__all__ = ["Sandbox", "Settings"]
