"""The engagement buffer, pure: items, score and rank, dedup and bursts, states, limits and cooldowns, retention.

Nothing here does I/O, reads a clock or logs; it does not know the digest protocol, the store or any source.
"""
