"""From API addresses to pages that a person can open, on whatever host they live (SPEC S1).

`api.github.com` serves the pages of `github.com`, `api.tenant.ghe.com` those of `tenant.ghe.com`, and an own server
keeps its API under `/api/v3`.
"""

from typing import Final
from urllib.parse import urlsplit

from bot.sources.github.places import Place, place_from_url

_PAGES: Final = {
    "issue": "issues/{n}",
    "pull_request": "pull/{n}",
    "discussion": "discussions/{n}",
    "commit": "commit/{n}",
    "release": "releases",  # a page goes by tag, which the address does not tell
    "run": "actions/runs/{n}",
}
_FRAGMENTS: Final = {
    "comment": "#issuecomment-{id}",
    "review_comment": "#discussion_r{id}",
    "review": "#pullrequestreview-{id}",
    "discussion_comment": "#discussioncomment-{id}",
    "commit_comment": "#commitcomment-{id}",
}


def web_host(url: str) -> str:
    """Return the host of the pages that belong to an API address."""
    try:
        host = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:  # an address such as `http://[`
        return ""
    return host.removeprefix("api.") if host == "api.github.com" or host.endswith(".ghe.com") else host


def page_of(subject_url: str, latest_url: str = "") -> str:
    """Return the page of a subject, at its latest comment where there is one; empty where the address tells none."""
    subject, latest, host = place_from_url(subject_url), place_from_url(latest_url), web_host(subject_url)
    page = _PAGES.get(subject.sort)
    if not page or not host:
        return ""
    return f"https://{host}/{subject.repository}/{page.format(n=subject.id)}{_fragment(latest)}"


def _fragment(latest: Place) -> str:
    return _FRAGMENTS.get(latest.sort, "").format(id=latest.id)
