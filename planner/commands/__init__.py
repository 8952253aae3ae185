"""The verbs of the command line, one to a module; each module's `command` is the verb."""
