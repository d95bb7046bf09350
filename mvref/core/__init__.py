"""What every method stands on."""
