"""Every payload of the case files against the words of its manifest (SPEC S1, B3, B5, P1)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.buffer.items import Draft, Ignored, Rejected, Signal, SubjectClosed, dedup_key, first_priority
from bot.sources.github.agents import Agents
from bot.sources.github.notifications import read_notifications
from bot.sources.github.webhooks import read_webhook

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "cases" / "github"
AGENTS = Agents(
    logins={"user-02": "646"},
    teams={"org-99/infra-oncall": "opm", "org-99/infra-on-call": "opm"},
)
NOBODY = Agents()

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the case files are not here: {FOLDER}")


def payload(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def manifest() -> dict[str, dict[str, Any]]:
    if not FOLDER.is_dir():
        return {}
    return {row["file"]: row for row in json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))}


def read(name: str, agents: Agents = AGENTS) -> list[Signal]:
    if name.startswith("n"):
        return read_notifications(payload(name), agents=agents, recipient="user-02")
    return read_webhook(manifest()[name]["event"], payload(name), agents=agents)


@dataclass(frozen=True)
class Item:
    """What an item must look like; a field that is none is not compared."""

    thread_id: str
    kind: str
    marker: str = ""
    priority: int | None = None
    author: str | None = None
    agent: str | None = None
    key: str | None = None
    says: str | None = None
    url: str | None = None

    def matches(self, draft: Draft) -> None:
        assert (draft.thread_id, draft.kind, draft.marker) == (self.thread_id, self.kind, self.marker)
        assert self.priority in {None, draft.priority or first_priority(draft.kind)}
        assert self.author in {None, draft.author}
        assert self.agent in {None, draft.agent}
        assert self.key in {None, draft.event_key}
        assert self.says is None or self.says in draft.summary
        assert self.url in {None, draft.url}


@dataclass(frozen=True)
class Over:
    thread_id: str
    key: str = ""
    reason: str = "subject closed"


@dataclass(frozen=True)
class Nothing:
    reason: str = "action not followed"


REPO = "github:user-01/repo-01"
COMMENT = f"{REPO}:comment:492700400"
OPENED = f"{REPO}#1:opened"
NOISE = Nothing("event not followed")


def issue(says: str) -> list[Item]:
    return [Item("issue-1", "notification", key=OPENED, says=says)]


# file -> what it becomes. The comment quotes the words of `expect` that the row encodes.
EXPECTED: dict[str, list[Item | Over | Nothing]] = {
    # "one item, key = repo+issue number; latest_comment url kept"; user-01 is none of ours: no tracked thread
    "01_issue_comment.created.json": [
        Item(
            "issue-1",
            "notification",
            author="user-01",
            key=COMMENT,
            url="https://github.com/user-01/repo-01/issues/1#issuecomment-492700400",
        )
    ],
    # "same dedupe key as a comment on that issue"
    "02_issue_comment.created_variant.json": [Item("issue-1", "notification", author="user-01", key=COMMENT)],
    # "must not open a second job"; chosen: an edit that names nobody new is ignored
    "03_issue_comment.edited.json": [Nothing("edited")],
    # "one job"
    "05_issues.opened.json": issue("Spelling error in the README file"),
    # "old key closed/moved, new key followed": closed here; the new one is user-02's own, so no news to it
    "07_issues.transferred.json": [Over("issue-1", reason="transferred"), Nothing("own action")],
    # asks for the "priority: assign"
    "08_issues.assigned.json": [
        Item("issue-1", "notification", priority=2, key=f"{REPO}#1:assigned:user-01:2019-05-15", says="assigned")
    ],
    # "no job"
    "13_issues.locked.json": [Nothing()],
    # "noise"
    "14_issues.demilestoned.json": [Nothing()],
    # "one job if routed"
    "15_pull_request.opened.json": [Item("pr-2", "notification", key=f"{REPO}#2:opened")],
    # says "reason=review_requested"
    "16_pull_request.review_requested_user.json": [Item("pr-2", "review_request", "?", 4, "user-01", "646")],
    # "withdraw pending nudge": of this request alone
    "17_pull_request.review_request_removed.json": [
        Over("pr-2", f"{REPO}#2:review_requested:user-02", "review request withdrawn")
    ],
    # "nudge after close is a defect"
    "18_pull_request.closed_unmerged.json": [Over("pr-2")],
    # "no new job"
    "19_pull_request.synchronize.json": [Nothing()],
    # "suppress review nudge": the requests are taken back, the talk stays
    "20_pull_request.converted_to_draft.json": [Over("pr-2", f"{REPO}#2:review_requested", "converted to draft")],
    # "restore priority": the reviewers are asked again
    "21_pull_request.ready_for_review.json": [Item("pr-2", "review_request", "?", 4, agent="646")],
    # "no new job"
    "24_pull_request_review.dismissed.json": [Nothing()],
    # "hunk never parsed as command": only the body is read. user-02 reviews nothing here
    "25_pull_request_review_comment.created.json": [
        Item("pr-2", "notification", key=f"{REPO}:review_comment:284312630", says="Maybe you should use more emoji")
    ],
    # "as issue_comment.deleted": the comment's item goes, the thread stays
    "26_pull_request_review_comment.deleted.json": [
        Over("pr-2", f"{REPO}:review_comment:284312630", "comment deleted")
    ],
    # "close matching job"
    "27_pull_request_review_thread.resolved.json": [Over("pr-118", f"{REPO}:review_comment:820867280", "resolved")],
    # "re-open once": one key however often it comes; tracked, since user-02 is asked for a review
    "28_pull_request_review_thread.unresolved.json": [
        Item(
            "pr-2",
            "reply",
            agent="646",
            key=f"{REPO}:review_comment:284312630:unresolved:2019-05-15T15:20:38+00:00",
        )
    ],
    # "key from node/discussion number"; written by user-02 itself
    "29_discussion.created.json": [Nothing("own action")],
    # "close/annotate"
    "30_discussion.answered.json": [Over("discussion-4", reason="answered")],
    # "follow"
    "31_discussion.transferred.json": [
        Over("discussion-4", reason="transferred"),
        Item("discussion-1", "notification", key="github:user-01/repo-03#1:opened"),
    ],
    # "one job on the discussion"; written by user-02 itself, see the test with nobody configured
    "32_discussion_comment.created.json": [Nothing("own action")],
    # "ci_activity priority; repeats for same suite collapse": by the suite's thread
    "34_check_run.completed_failure.json": [Item("suite-118578147", "notification", priority=2, says="failed")],
    # "no KeyError"
    "36_workflow_run.completed.json": [Nothing("nothing failed")],
    # "higher priority than success": somebody has to approve it
    "37_workflow_run.action_required.json": [Item("run-289782451", "review_request", "?", 4)],
    # "noise"
    "38_workflow_job.in_progress_by_bot.json": [Nothing()],
    # "approval_requested analogue"
    "39_workflow_job.waiting.json": [
        Item("run-4747967848", "review_request", "?", key=f"{REPO}:approval:4747967848:1")
    ],
    # "mention text in a title is not a mention event": the reviewers are another team, so it is news only
    "40_deployment_review.requested.json": [Item("run-5453085689", "notification", agent="646")],
    # "title falls back to tag_name"
    "41_release.published.json": [
        Item("release-0.0.1", "broadcast", priority=1, key=f"{REPO}:release:17372790", says="published: 0.0.1")
    ],
    # "one job": the key of 41
    "42_release.prereleased.json": [Item("release-0.0.1", "broadcast", key=f"{REPO}:release:17372790")],
    # "security"
    "44_code_scanning_alert.created.json": [Item("code-scanning-10", "notification", says="security")],
    # "same dependency+range as dependabot alert: dedupe": see test_the_two_alerts_of_one_dependency_are_one
    "45_repository_vulnerability_alert.create.json": [
        Item("advisory-ghsa-hg78-4f6x-99wq-rack", "notification", says="rack")
    ],
    # "close"
    "46_repository_vulnerability_alert.dismiss.json": [
        Over("advisory-ghsa-qqgx-2p2h-9c37-many_versioned_gem", reason="alert closed")
    ],
    # "close"
    "48_security_advisory.withdrawn.json": [Over("advisory-ghsa-8v27-2fg9-7h62", reason="alert closed")],
    # 'render "unknown"': of a success nothing is rendered; see test_a_failed_status_names_its_author
    "49_status.null_author.json": [Nothing("nothing failed")],
    # "ignored safely"
    "50_installation_repositories.requester_null.json": [NOISE],
    # "no job"
    "52_push.json": [NOISE],
    # "old and new keys unified; links updated": chosen, GitHub redirects the old links, new items have the new name
    "53_repository.renamed.json": [NOISE],
    # "as renamed"
    "54_repository.transferred.json": [NOISE],
    # "routing table refresh": teams are configuration, nothing to refresh
    "55_team_add.json": [NOISE],
    # "no KeyError on team.slug"
    "56_membership.removed_deleted_team.json": [NOISE],
    # "noise"
    "58_star.created.json": [NOISE],
    # "noise"
    "59_merge_group.checks_requested.json": [NOISE],
    # "no KeyError"
    "60_organization.member_invited.json": [NOISE],
    # 'render "ghost"; job created'
    "70_issue_comment.null_users.json": [Item("issue-1", "notification", author="ghost", key=COMMENT)],
    # "no user lookup for @types; low priority"
    "71_pull_request.bot_author_at_scope_title.json": [
        Item("pr-2", "notification", priority=1, author="dependabot[bot]", agent="", says="bump @types/react from")
    ],
    # "isolate when rendering": here the words stay as they are
    "72_issues.title_rtl_arabic_mixed.json": issue("Error , Arabic reading and writing from right to left"),
    "73_issues.title_hebrew_digits.json": issue("(17.7.21)"),
    # "leading [quality] is not a reply verb": kept, defused where it is shown
    "74_issues.title_cjk_fullwidth_brackets.json": issue("[quality] server/experiment ID"),
    # "no mojibake"
    "75_issues.title_japanese.json": issue("Slack アカウントが"),
    # "escaped; not parsed as a reply": where it is shown
    "76_issues.title_backticks_slack_token.json": issue("`HEARTBEAT_OK`"),
    # "id extraction must only accept our prefix": the title stays
    "77_issues.title_looks_like_job_id.json": issue("[NV-1561]"),
    # "&lt; &gt; escaped": where it is shown, never twice
    "78_issues.title_angle_brackets.json": issue("<eof>"),
    # "JSON built by a serialiser"
    "81_issues.title_double_quotes.json": issue('"j" + Date.now()'),
    # "truncate" where it is shown: 256 characters pass whole
    "82_issues.title_very_long.json": issue("so that we stay within limits"),
    # "truncate on grapheme": the joiners survive
    "83_issues.title_zwj_emoji.json": issue("\U0001f468\U0001f3fb\u200d\U0001f469"),
    # "our own parser must not close": an item is data and has no verb
    "84_issues.title_contains_reply_tag.json": issue("[RESULT ml-20260101-0001] done"),
    # "nobody pinged": escaped where it is shown
    "85_issues.title_bang_channel_link_spoof.json": issue("<!channel>"),
    # "strip bidi controls per row"
    "86_issues.title_bidi_override.json": issue("Fix gnihton before release (do not merge)"),
    # "strip C0 controls, collapse whitespace"
    "87_issues.title_nul_and_newline.json": issue("UI Updates second line"),
    # asks to "render (untitled) + number"
    "88_issues.title_empty_after_strip.json": issue("issue #1 opened: (untitled)"),
    # "escaped snippet": where it is shown
    "89_review_comment.body_with_bang_channel.json": [Item("pr-2", "notification", says="`<!channel>`")],
    # gives "one job (team_mention)"; "tags in a GitHub body are never replies"
    "90_issue_comment.team_mention_quote_code.json": [
        Item("issue-1", "mention", "?", 5, agent="opm", says="@org-99/infra-oncall @user-02 can you look?")
    ],
    # "team routing"
    "91_pull_request.review_requested_team.json": [Item("pr-2", "review_request", "?", 4, agent="opm")],
    # "late review_requested must not re-open": see test_a_closing_is_newer_than_the_request_it_overtakes
    "92_pull_request.closed_merged.json": [Over("pr-2")],
    # "one item"
    "n02_repository_invitation.json": [Item("notification-9002", "notification", url="https://github.com/org/repo")],
    # read rows give "no job"
    "n05_dependabot_bumps_private.json": [Nothing("already read")] * 3,
    # "tolerate missing keys": all seven have an address, so all seven are read
    "n06_cli_sparse_reasons.json": [
        Item("issue-594", "mention", "?", key="github:user-01/repo-01:comment:1070788734"),
        Item("issue-2090", "reply", key="github:org-02/repo-02:comment:1069309546"),
        Item("issue-110", "mention", "?", key="github:user-03/repo-03#110:opened"),
        Item("issue-4113", "mention", "?"),
        Item("issue-1096", "mention", "?"),
        Item("issue-150", "reply"),
        Item("pr-5277", "review_request", "?", key="", url="https://github.com/org-02/repo-02/pull/5277"),
    ],
    # "item links to the repository page"
    "n09_discussion_null_urls.json": [Item("notification-9001", "notification", url="https://github.com/org/repo")],
    # "two items, notification priority"
    "n11_ci_activity_checksuite.json": [
        Item("notification-9011", "notification", priority=2),
        Item("notification-9012", "notification", priority=2),
    ],
    # "api->html url mapping keyed on host"
    "n12_ghes_release_and_pr.json": [
        Item("release-id-3", "broadcast", url="https://github.example.org/org-01/notifications-test/releases"),
        Item(
            "pr-4",
            "notification",
            url="https://github.example.org/org-01/notifications-test/pull/4#issuecomment-21",
        ),
    ],
    # "one job, highest-priority reason wins": one dedup key, see test_two_reasons_of_one_subject_share_a_dedup_key
    "n14_state_change_assign_invitation.json": [
        Item("issue-7", "notification", says="state change"),
        Item("issue-7", "notification", agent="646", says="assign"),
        Item("notification-9103", "notification"),
        Item("notification-9104", "review_request", "?", 4),
    ],
}


def check(signal: Signal, wanted: Item | Over | Nothing) -> None:
    if isinstance(wanted, Item):
        assert isinstance(signal, Draft), signal
        wanted.matches(signal)
    elif isinstance(wanted, Over):
        assert isinstance(signal, SubjectClosed), signal
        assert (signal.thread_id, signal.event_key, signal.reason) == (wanted.thread_id, wanted.key, wanted.reason)
        assert signal.event_at is not None
    else:
        assert signal == Ignored(reason=wanted.reason)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_payload_becomes_what_its_manifest_expects(name: str):
    """S1, B3, P1: event and reason decide kind and marker; nothing raises."""
    signals = read(name)
    assert len(signals) == len(EXPECTED[name])
    for signal, wanted in zip(signals, EXPECTED[name], strict=True):
        check(signal, wanted)


def test_every_file_of_the_manifest_has_a_row():
    """A case file that nobody reads would be a hole."""
    assert set(manifest()) - {"delivery_headers.json"} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(name for name in EXPECTED if not name.startswith("n")))
def test_nobody_configured_loses_nothing(name: str):
    """B3: with no login configured the routing rules decide, so whatever is work stays an item."""
    for signal in read(name, NOBODY):
        assert not isinstance(signal, Rejected)
        assert signal != Ignored(reason="own action")
        assert not isinstance(signal, Draft) or signal.marker in {"", "?"}


def test_a_comment_under_a_discussion_is_one_item():
    """Case 32: "one job on the discussion"."""
    [draft] = read("32_discussion_comment.created.json", NOBODY)
    Item("discussion-90", "reply", author="user-02", key=f"{REPO}:discussion_comment:544078").matches(draft)
    assert draft.labels == ("is:private",)


@pytest.mark.parametrize(
    "case", payload("delivery_headers.json") if FOLDER.is_dir() else [], ids=lambda c: c["case"][0]
)
def test_content_and_not_the_delivery_id_tells_happenings_apart(case: dict[str, Any]):
    """B5: one GUID twice and one body under two GUIDs are one happening; two bodies under one GUID are two."""
    files = {"issue_comment": "01_issue_comment.created.json", "issues": "05_issues.opened.json"}
    keys = {
        draft.event_key
        for header in case["headers"]
        for draft in read_webhook(header["X-GitHub-Event"], payload(files[header["X-GitHub-Event"]]), agents=AGENTS)
    }
    assert len(keys) == (2 if case["expect"].startswith("both") else 1)


def test_a_closing_is_newer_than_the_request_it_overtakes():
    """Case 92: by the time at the source the late request is recognised, whatever arrives first."""
    [closed], [late] = read("92_pull_request.closed_merged.json"), read("16_pull_request.review_requested_user.json")
    assert (closed.source, closed.thread_id) == (late.source, late.thread_id)
    assert late.event_at < closed.event_at


def test_two_reasons_of_one_subject_share_a_dedup_key():
    """Case n14: the buffer makes them one and keeps the higher priority."""
    first, second = read("n14_state_change_assign_invitation.json")[:2]
    assert len({dedup_key(row.source, row.thread_id, row.author) for row in (first, second)}) == 1


def test_an_assignment_and_its_later_notification_share_a_key():
    """Case 08: "idempotent with later notification reason=assign"."""
    [webhook] = read("08_issues.assigned.json")
    row = {
        "id": "1",
        "unread": True,
        "reason": "assign",
        "updated_at": "2019-05-15T15:31:00Z",
        "subject": {"title": "x", "url": "https://api.github.com/repos/user-01/repo-01/issues/1", "type": "Issue"},
        "repository": {"full_name": "user-01/repo-01"},
    }
    [notification] = read_notifications([row], agents=AGENTS, recipient="user-01")
    assert notification.event_key == webhook.event_key
    assert notification.thread_id == webhook.thread_id


def test_a_failed_status_names_its_author():
    """Case 49: the commit's author is null and reads `unknown`."""
    [draft] = read_webhook("status", payload("49_status.null_author.json") | {"state": "failure"}, agents=AGENTS)
    assert draft.summary == "repo-01 CI failed: default on commit 6113728 by unknown"


def test_the_two_alerts_of_one_dependency_are_one():
    """Case 45: the Dependabot alert of the same advisory and package has the same thread and key."""
    [legacy] = read("45_repository_vulnerability_alert.create.json")
    dependabot = {
        "action": "created",
        "repository": {"full_name": "user-01/repo-01"},
        "alert": {
            "number": 7,
            "dependency": {"package": {"name": "rack"}},
            "security_advisory": {"ghsa_id": "GHSA-hg78-4f6x-99wq", "severity": "medium"},
        },
    }
    [draft] = read_webhook("dependabot_alert", dependabot, agents=AGENTS)
    assert (draft.thread_id, draft.event_key) == (legacy.thread_id, legacy.event_key)


def _mutations(value: Any, depth: int) -> list[tuple[Any, ...]]:
    paths: list[tuple[Any, ...]] = []
    if depth and isinstance(value, dict):
        for key, inner in value.items():
            paths += [(key,), *((key, *rest) for rest in _mutations(inner, depth - 1))]
    if depth and isinstance(value, list):
        for index, inner in enumerate(value[:3]):
            paths += [(index,), *((index, *rest) for rest in _mutations(inner, depth - 1))]
    return paths


def _mutated(value: Any, path: tuple[Any, ...], replacement: Any) -> Any:
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(path) > 1:
        copy[path[0]] = _mutated(value[path[0]], path[1:], replacement)
    elif replacement is _mutated:
        del copy[path[0]]
    else:
        copy[path[0]] = replacement
    return copy


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_no_missing_null_or_wrong_value_makes_a_reader_raise(name: str):
    """S1, B4: missing objects, nulls and values of another type are ordinary; at depth 1 to 3, key by key."""
    whole = payload(name)
    event = manifest()[name]["event"]
    for path in _mutations(whole, 3):
        for replacement in (_mutated, None, [], "x", -1):
            broken = _mutated(whole, path, replacement)
            signals = (
                read_notifications(broken, agents=AGENTS)
                if name.startswith("n")
                else read_webhook(event, broken, agents=AGENTS)
            )
            assert all(isinstance(signal, Draft | SubjectClosed | Ignored | Rejected) for signal in signals)
            assert signals or broken == []
