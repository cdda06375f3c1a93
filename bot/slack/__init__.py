"""The Slack face: what Slack says becomes values, what we say becomes calls; Slack's own words stay in here.

Its words: an *event* is what one payload means to us; the *gateway* makes the calls; a *socket* is one Socket Mode
connection, the *pool* keeps several of them alive; a *gap* is a time in which no socket was live.
"""
