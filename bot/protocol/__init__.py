"""The digest protocol, pure: job ids, reply reading, the status × verb table, policy, composition, text safety.

Nothing here does I/O, reads a clock or logs; it does not know the buffer, the store or Slack's library.
"""
