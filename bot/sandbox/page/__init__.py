"""The workspace in a browser: what a person sees at `/` of the sandbox, and can do there.

Its words: the *page* is one HTML document with its modules; a *stream* is one open tab's server-sent events; a *frame*
is one thing that a tab must show anew. Frames carry the present state, never a difference: a tab may apply one twice,
or miss some and read everything again. What a person does goes to the control API; the page itself only shows.
"""

from bot.sandbox.page.serving import Page

__all__ = ["Page"]
