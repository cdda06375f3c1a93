"""GitHub: webhooks and notifications become signals (SPEC S1, B3, B5, P1). Nothing here does network.

    webhooks.py       event -> action -> reader, the table; `read_webhook`
    notifications.py  `read_notifications`, row by row
    threads.py talk.py checks.py releases.py alerts.py    the readers
    deliveries.py     what readers share: said, happened, withdrawn
    subjects.py agents.py mentions.py places.py links.py payload.py signature.py    their vocabulary

What the specification leaves open, and what was chosen:

* A comment is a mention where it names one of ours, a reply where the thread is tracked (one of ours takes part, or
  the caller follows it), else a notification. With no login configured at all, every mention and review request
  counts, every thread is tracked, and the routing rules decide.
* A review request to somebody else is a notification. A run that waits for an approval is a review request.
* Several named agents: one happening is one item, the first has it, all are in `mentions`.
* What an agent did is no news to it: dropped, unless it names another agent. What a machine made of it is news.
* An edit opens nothing, unless it names somebody new; then it has the key of the original.
* A withdrawn review request, an unassignment, a deleted comment, a resolved review thread and a conversion to draft
  take back their own items only (`SubjectClosed.event_key`). Ready for review asks the reviewers again.
* A subject that the payload shows closed yields its closing, never an item; but a mention written after the closing
  is new work.
* Answered discussions and successful runs are over; an unanswered or reopened one is a notification. A transfer closes
  the old thread and opens the new one. A lock, a milestone, a label or a push to a pull request is ignored.
* A renamed repository is ignored: GitHub redirects the old addresses, new items carry the new name.
* What an app opens has priority 1; its mentions and questions count like anybody's.
* A read notification is ignored. Items of private repositories carry the label `is:private`, so that a routing rule
  can keep them where they may be seen. Other such labels: `is:bot is:ci is:draft is:security severity:…`.
* Advisories, which belong to no repository, have the source `github:advisories`. The source does not name the host:
  two servers with the same `owner/repo` are one source, links go to the right host.
* An unsigned payload informs: no marker, no closing.
"""
