"""Everything that the bot says, as Jinja templates; loaded from here in a checkout and in a wheel alike."""
