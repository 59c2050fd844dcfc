"""Parse trees of texts: the rules, groups and properties that read each byte; and texts that have two trees."""
