#!/usr/bin/env python3
"""Adds up the tests of builds: what was skipped or failed, the ten slowest, how many of each.

    sum_tests.py BUILD...        build/dev build/asan
    sum_tests.py --list BUILD... the names of all tests, sorted: what was tested, to compare

Reads ctest's JUnit files (BUILD/*junit.xml) and, of a room's test program that ran as one test,
its own report (BUILD/gtest/*.xml), whose cases count. The last line is 'N passed, N failed, N skipped'.
"""
import collections
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

Test = collections.namedtuple("Test", "build name outcome seconds")


def read_room(path, room):
    """The cases of one test program, as GoogleTest reports them."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{room}.{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None:
            outcome = "failed"
        elif case.get("result") == "skipped":
            outcome = "skipped"
        elif case.get("status") == "notrun":
            continue  # DISABLED_
        else:
            outcome = "passed"
        yield name, outcome, float(case.get("time", 0))


def read_build(build):
    for path in sorted(build.glob("*junit.xml")):
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name, status = case.get("name"), case.get("status")
            report = build / "gtest" / f"{name}.xml"
            if report.exists():
                cases = list(read_room(report, name.removesuffix("_test")))
                for room_test in cases:
                    yield Test(build.name, *room_test)
                if status == "run" or any(outcome == "failed" for _, outcome, _ in cases):
                    continue
            outcome = {"run": "passed", "notrun": "skipped", "disabled": "skipped"}.get(status, "failed")
            yield Test(build.name, name, outcome, float(case.get("time", 0)))


def main(arguments):
    is_list = arguments[:1] == ["--list"]
    tests = [test for build in arguments[is_list:] for test in read_build(pathlib.Path(build))]
    if is_list:
        print("\n".join(sorted(f"{test.build} {test.name}" for test in tests)))
        return 0
    for test in tests:
        if test.outcome != "passed":
            print(f"{test.outcome}: {test.name} ({test.build})")
    print("the slowest:")
    for test in sorted(tests, key=lambda test: -test.seconds)[:10]:
        print(f"{test.seconds:7.1f} s  {test.name} ({test.build})")
    counts = collections.Counter(test.outcome for test in tests)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
