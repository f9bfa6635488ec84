"""An agent for a small shop, its tasks, and a stand-in for the provider of its model."""
