"""Nothing to compare with: no paper has this table."""

CLAIMS = {}
