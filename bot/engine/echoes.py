"""Our own messages as Slack shows them: to which row of the outbox one belongs, and where it stands (promise 2)."""

import re

import sqlalchemy as sa

from bot.engine.messages import Message
from bot.engine.targets import TargetKind, kind_of
from bot.protocol.slack_text import undo
from state import outbox

_SELF_LINK = re.compile(r"<https?://[^|>]+\|([^>]+)>")  # what Slack makes of `example.com`: it is read as its label
_DIRECT = "D"  # how the ids of direct messages begin


def same_words(said: str, sent: str) -> bool:
    """Compare as people read: whatever Slack made of links and entities.

    A message about a job is known by its first line, which holds the id; no two kinds begin alike.
    """
    said, sent = undo(_SELF_LINK.sub(r"\1", said)), undo(_SELF_LINK.sub(r"\1", sent))
    if "[JOB " in sent.split("\n", 1)[0]:
        said, sent = said.split("\n", 1)[0], sent.split("\n", 1)[0]
    return said.split() == sent.split() != []


def is_direct(message: Message) -> bool:
    """Whether it stands in a conversation of two."""
    return message.channel.startswith(_DIRECT)


def learn(connection: sa.Connection, message: Message) -> None:
    """Note in which channel a direct message of ours stands, where Slack's answer did not come to tell.

    Slack reads no history by a user's id, and opening the conversation would need a scope more: without this, a first
    message to a person whose answer was lost could not be looked for.
    """
    if not is_direct(message):
        return
    rows = [one for one in outbox.without_channel(connection) if kind_of(one.destination) is TargetKind.PERSON]
    by_key = [one for one in rows if one.idempotency_key == message.outbox_key]
    alike = by_key or [one for one in rows if not message.outbox_key and same_words(message.text, one.text)]
    if len(alike) == 1:  # of two people who were told the same nobody knows whose conversation this is
        outbox.change(connection, alike[0].seq, {"channel": message.channel})
