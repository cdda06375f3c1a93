"""R2: which agent an item is for."""

import pytest

from bot.buffer.items import Draft
from bot.buffer.routing import Reason, Route, Rule, route


def draft(source="github:acme/api", **rest):
    return Draft(source=source, thread_id="t", author="ann", summary="x", kind="mention", **rest)


@pytest.mark.parametrize(
    ("rule", "subject", "matches"),
    [
        (Rule(agent="a", source="github:*"), draft(), True),
        (Rule(agent="a", source="github:*"), draft("slack:dev"), False),
        (Rule(agent="a", repository="acme/*"), draft(), True),
        (Rule(agent="a", repository="ACME/api"), draft(), True),  # names ignore case
        (Rule(agent="a", repository="acme/*"), draft("email:acme/x"), False),  # a mailbox is no repository
        (Rule(agent="a", mailbox="support"), draft("email:support"), True),
        (Rule(agent="a", mailbox="support"), draft("slack:support"), False),
        (Rule(agent="a", label="bug*"), draft(labels=("docs", "Bug: UI")), True),
        (Rule(agent="a", label="bug"), draft(), False),
        (Rule(agent="a", mention="@pip"), draft(mentions=("pip",)), True),
        (Rule(agent="a", mention="ci[bot]"), draft(mentions=("ci[bot]",)), True),  # a name, not a set of letters
        (Rule(agent="a", repository="acme/*", label="bug"), draft(labels=("docs",)), False),  # all must match
        (Rule(agent="a"), draft(), True),  # a rule that asks nothing is a default
    ],
)
def test_a_rule_matches_all_that_it_asks_for(rule, subject, matches):
    """R2: source pattern, repository, mailbox, label, mention."""
    assert rule.matches(subject) is matches


RULES = (Rule(agent="pip", label="bug"), Rule(agent="opm", source="github:*"))


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (draft(labels=("bug",)), Route(agent="pip", reason=Reason.RULE, rule=0)),  # both match: the first wins
        (draft(), Route(agent="opm", reason=Reason.RULE, rule=1)),
        (draft("slack:dev"), Route(agent="646", reason=Reason.DEFAULT)),
        (draft(labels=("bug",), agent="zed"), Route(agent="zed", reason=Reason.NAMED)),  # the row says whom
    ],
)
def test_the_first_match_wins(subject, expected):
    """R2: first match wins, a default last."""
    assert route(subject, RULES, default="646") == expected
