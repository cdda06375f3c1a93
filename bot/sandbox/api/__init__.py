"""The Web API: one table of methods, one dispatcher that checks tokens, scopes, limits and faults around them."""
