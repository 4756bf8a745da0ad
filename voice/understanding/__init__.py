"""What an English message means, read by rules without a model, and whether calls fit it."""
