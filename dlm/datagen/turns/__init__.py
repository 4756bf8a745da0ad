"""What can happen in one turn of a dialogue with an agent's own tools."""
