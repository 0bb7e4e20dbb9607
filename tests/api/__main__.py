"""Store the public interface as it is now: ``make api``."""

from __future__ import annotations

from importlib.util import find_spec

from .listing import NEEDED, PARTS, listing, stored_file

for part in PARTS:
    missing = [package for package in NEEDED.get(part, ()) if find_spec(package) is None]
    if missing:
        print(f"{part} is left as it was: it needs {', '.join(missing)}.")
    else:
        stored_file(part).write_text(listing(part), encoding="utf-8")
