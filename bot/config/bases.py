"""Base addresses of servers that we call."""

from urllib.parse import urlsplit


def wrong_with_base(url: str) -> str:
    """Return what is wrong with an address that others are built on, in words that follow its name; or nothing."""
    try:
        parts = urlsplit(url)
        port_fits = parts.port is None or parts.port > 0
    except ValueError:
        return "is no address"
    if parts.scheme not in {"http", "https"}:
        return "must begin with https:// or http://"
    if not parts.hostname or not port_fits or any(character.isspace() for character in url):
        return "is no address"
    if parts.query or parts.fragment or parts.username is not None or parts.password is not None:
        return "must have no query, fragment, name or password"
    return ""
