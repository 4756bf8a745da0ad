"""Model families: how each writes its config and names its weights. One module per family."""
