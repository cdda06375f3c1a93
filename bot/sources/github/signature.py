"""GitHub's signature over a webhook's raw body (SPEC S1, §12)."""

import hashlib
import hmac
from typing import Final

HEADER: Final = "X-Hub-Signature-256"
_PREFIX: Final = "sha256="


def is_signed(body: bytes, signature: str | None, secrets: tuple[str, ...]) -> bool:
    """Return whether the header's value is ours over exactly these bytes, in constant time.

    Args:
        body: The body as it came over the wire; parsed and written again it would not verify.
        signature: The value of `X-Hub-Signature-256`, or none.
        secrets: The secrets in force; two while one is being replaced. None, or an empty one, signs nothing.
    """
    given = (signature or "").strip().encode("utf-8", "replace")
    verdicts = [hmac.compare_digest(sign(body, secret).encode(), given) for secret in secrets if secret]
    return any(verdicts)  # all were computed: which secret fits does not show in the time taken


def sign(body: bytes, secret: str) -> str:
    """Return the header's value for a body."""
    return _PREFIX + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
