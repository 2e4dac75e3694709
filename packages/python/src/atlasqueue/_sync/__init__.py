# Written by scripts/unasync.py from _async. Do not edit.
# pyright: reportUnnecessaryIsInstance=false
