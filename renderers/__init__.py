"""Plan in, text out: one renderer for each back end."""
