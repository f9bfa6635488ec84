"""AgentDojo's suites as suites of one's own, and as environments; needs the extra ``agentdojo``."""

from .suite import agentdojo_suite

__all__ = ["agentdojo_suite"]
