"""``python -m replay`` is the command ``trialtape``."""

from .cli import main

if __name__ == "__main__":
    main()
