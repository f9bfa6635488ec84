"""The terminal debugger: a recorded trial, step by step, with another trial beside it. Needs the extra ``debug``."""
