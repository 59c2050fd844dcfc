"""The command line: `turnstile generate · check · export`, and the window without a command."""
