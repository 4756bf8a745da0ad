"""Many requests on one model."""
