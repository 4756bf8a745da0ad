"""The language model: the engine in this process, or a server that speaks OpenAI's API."""
