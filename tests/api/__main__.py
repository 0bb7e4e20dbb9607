"""Store the public interface as it is now: ``make api``."""

from __future__ import annotations

from .listing import PARTS, listing, missing_packages, stored_file

for part in PARTS:
    missing = missing_packages(part)
    if missing:
        print(f"{part} is left as it was: it needs {', '.join(missing)}.")
    else:
        stored_file(part).write_text(listing(part), encoding="utf-8")
