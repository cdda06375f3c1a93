"""Slack: messages become signals (SPEC S2, R4, P1). Nothing here does network: the Slack face hears, this reads.

    reading.py    `read_message`: one message, and where it stands -> its signals; pure, never raises

What the specification leaves open, and what was chosen:

* A message is a mention where it names the Slack id of a registered agent (a user, or the user of its bot), else a
  reply where the buffer holds an active item of its thread, else a notification in a listed channel, else nothing.
* A reply in a tracked thread goes to the agent of that thread's item; everything else is routed.
* What an agent says is news to the others only: it does not mention itself, and its own words in a listed channel are
  an item for nobody. Other bots are ordinary authors there.
* A message that carries a verb, or earned a hint, was a reply and is no item; nor is anything in a job's thread, nor
  what we said ourselves. Where verbs are read a channel is not listed as well.
* An edit has the key of its original: it opens no second item, and a mention that was added to what was no item opens
  the first. A deleted message's item stays.
* The key is the message's own (`slack:<team>:<channel>:<ts>`), so that `app_mention` and `message` are one.
* The source is the channel's id, since names change; the summary calls agents and channels by name where Slack does.
"""
