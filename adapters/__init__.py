"""Capturing: one small module per library turns its calls into Calls, and recorded outcomes back into its objects.

Importing this package imports no network library. What is patched while a trial is active is offered through the
entry-point group ``trialtape.adapters``: objects with ``name``, ``versions()``, ``install()``, ``uninstall()`` and
``patched()``.
"""

from __future__ import annotations

from .functions import tool

__all__ = ["tool"]
