"""GitHub: webhooks and notifications."""
