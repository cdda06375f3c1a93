"""The use cases, one agent noun a module: intake, composer, courier, harvester, sweeper, janitor, health.

Each turns an input into a pure decision and commits it in one transaction with what is to be said; the courier alone
speaks to Slack. `beat` is the one periodic loop.
"""
