"""`demo`: a local Slack workspace, the real bot against it as separate processes, and a story that must be true (U7).

world.py     the workspace, the configuration and the two processes
feeding.py   real input: GitHub's payloads and JSON Lines, through `digestbot ingest`
story.py     the steps, each with what must be true
telling.py   the timeline, as messages appear
command.py   the command
"""
