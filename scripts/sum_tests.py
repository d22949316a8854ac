#!/usr/bin/env python3
"""Adds up ctest's JUnit files and names what was skipped: 'N passed, N failed, N skipped'."""
import sys
import xml.etree.ElementTree as ElementTree

passed = failed = skipped = 0
for path in sys.argv[1:]:
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.get("status") == "run":
            passed += 1
        elif case.get("status") in ("notrun", "disabled"):
            skipped += 1
            print(f"skipped: {case.get('name')} ({path})")
        else:
            failed += 1
            print(f"failed: {case.get('name')} ({path})")
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed or not passed else 0)
