"""The tools that training knows by name, their other names, and the world that they see."""
