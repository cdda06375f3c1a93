"""Fixtures for all tests; each lives with the helper that it belongs to, in `support`."""

pytest_plugins = ["support.databases", "support.logs", "support.office", "support.sandboxes", "support.web"]
