"""Mail: raw messages become signals, never raising (SPEC S3, B3-B5, P1).

    reading.py      `read_mail`: one raw mail -> its signals; pure, never raises
    automatic.py    what no person wrote: bounces, answering machines, lists, bulk
    notices.py      GitHub's notification mails, which become GitHub's own signals
    poller.py       the next page of a folder (folders.py, its port; cursors.py, faults.py); imap.py, the real one
    mail.py         a mail taken apart, and the inbox that it came to
    threads.py addresses.py dates.py headers.py           who, when, in which thread, under which key
    bodies.py markup.py quotes.py charsets.py wording.py  which words are the writer's own

What the specification leaves open, and what was chosen:

* A mail whose To names one of ours is a mention. A reply in a tracked thread is a reply, though every reply names
  somebody. Anything else, a copy by Cc or Bcc above all, is a notification. With no address configured at all, each
  mail is to us and each thread tracked, and the routing rules decide.
* Bounces, delivery and read reports, automatic answers and junk are ignored. Machines' own mail (`auto-generated`) is
  a notification, list and bulk mail a broadcast: neither ever asks for an answer, whoever it names.
* What one of ours wrote is no news, unless it is written to another of ours.
* The key is the Message-ID. One without `@` is nobody's name: such a mail is known by a digest of its sender,
  recipients, date, subject and words, and one that has none of these by `(UIDVALIDITY, UID)`.
* The thread is the first id of References, else of In-Reply-To, else the mail's own.
* A message/rfc822 as the whole mail is a forward: its words are read, its id is not. An attached one is not read.
* A digest of a list is one item.
* From that names no one person names nobody (`ghost`); only a missing From is replaced by Sender, then Return-Path.
* A GitHub mail has the source, thread and key of the webhook. It is believed if From and Message-ID are of one host
  and our own server vouches (`authserv_id`); with no such server named, if the top verdict is no failure. One that is
  not believed is a list mail like any other.
* A folder that was never read, or whose UIDs changed, is read from 48 hours before now, or before the last poll; keys
  tell what is known. The folder is only read: no mail is marked as seen.
* Nothing closes by mail, and nothing is urgent by mail.
"""
