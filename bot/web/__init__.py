"""The HTTP face: one server in the bot's own loop, made of routes that the composition root gives it (SPEC U5).

server.py   the app of routes, what every request passes, and the server that runs it
health.py   /healthz and /readyz
answers.py  errors as JSON, the same shape everywhere
"""
