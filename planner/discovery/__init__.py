"""Discovery: what a host holds, asked of its driver libraries and of the operating system; and specs made of it."""
