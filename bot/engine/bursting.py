"""Bursting: many voices in one thread become one item, in the transaction of the last arrival (SPEC B6).

The keeper's `voices` are the distinct authors it stands for. They are stored with it, so that they outlive the merged
items in the archive, and go on to whatever item the keeper is itself merged into by key.
"""

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa

from bot.buffer import bursts
from bot.buffer.bursts import Burst, Member
from bot.buffer.items import MARKERS, Item
from state import items, records
from state.statements import as_json


def collapse(connection: sa.Connection, item: Item, now: datetime) -> Burst:
    """Merge what has become a burst with this arrival, and return what was decided."""
    group = {one.id: one for one in items.members(connection, item, now - bursts.WINDOW)}
    plan = bursts.plan_burst(group.values(), now=now)
    if not plan.merged:
        return plan
    _keep(connection, plan, {one: group[one] for one in (plan.keeper, *plan.merged)}, now)
    items.merge(connection, plan.merged, plan.keeper, reason=plan.reason, now=now)
    detail = {"participants": plan.participants, "merged": list(plan.merged)}
    records.note(connection, plan.keeper, "burst", now, why=plan.reason, detail=detail)
    return plan


def inherit(connection: sa.Connection, keeper: str, gone: Collection[str], now: datetime) -> None:
    """Let a keeper by key go on with the bursts of what was merged into it (B5)."""
    group = items.members_by_id(connection, [keeper, *gone])
    if keeper not in group:
        return
    plan = bursts.inherited(group[keeper], [member for one, member in group.items() if one != keeper])
    if plan.keeper:
        began = max((member.merged_at for member in group.values() if member.merged_at), default=now)
        _keep(connection, plan, group, began)


def _keep(connection: sa.Connection, plan: Burst, group: dict[str, Member], at: datetime) -> None:
    voices = sorted(frozenset().union(*(member.authors for member in group.values())))
    changes = {
        "content_summary": plan.summary,
        "participants": plan.participants,
        "voices": as_json(voices),
        "burst_at": at,
        "marker": plan.marker,
        "tier": MARKERS.index(plan.marker),
    }
    items.change(connection, plan.keeper, changes)
