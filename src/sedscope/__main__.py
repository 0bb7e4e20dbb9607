"""``python -m sedscope``."""

from .cli import main

main()
