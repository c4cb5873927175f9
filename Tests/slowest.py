"""Prints the slowest tests of runs, and how much of its limit each has left.

    python3 Tests/slowest.py COUNT WIDTH FILE...

The files are event streams of Swift Testing, version 0; WIDTH is how many tests ran at once. They do not say when a test
without arguments began that waited for its turn: whoever waits longest is next. They say nothing of limits either, so those
are read where the test stands.
"""

import json
import re
import sys


def limit(location):
    """The limit in seconds in the attribute at a place of a source; None without one."""
    with open(location["_filePath"], encoding="utf-8") as file:
        text = "".join(file.readlines()[location["line"] - 1 :])
    depth, end = 0, 0
    for end, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        # Without parentheses the attribute ends with its line.
        if depth == 0 and character in ")\n":
            break
    found = re.search(r"\.timeLimit\(\.minutes\((\d+)\)\)", text[:end])
    return int(found.group(1)) * 60 if found else None


class Run:
    """What a stream says: of each test the seconds of its cases."""

    def __init__(self, path, width):
        self.free, self.waiting, self.begun = width, [], {}
        self.tests, self.seconds = {}, {}
        for line in open(path, encoding="utf-8"):
            record = json.loads(line)
            if record["kind"] == "test":
                self.tests[record["payload"]["id"]] = record["payload"]
            else:
                self.event(record["payload"])

    def event(self, event):
        name, kind, now = event.get("testID"), event["kind"], event["instant"]["absolute"]
        if name is None or self.tests.get(name, {}).get("kind") != "function":
            return
        has_cases = self.tests[name]["isParameterized"]
        case = (name, event["_testCase"]["id"] if "_testCase" in event else None)
        if kind == "testStarted" and not has_cases:
            self.waiting.append(case)
        elif kind == "testCaseStarted":
            self.begun[case] = now
            self.free -= 1
        elif kind == "testCaseEnded" or (kind == "testEnded" and not has_cases):
            if case in self.waiting:
                self.waiting.remove(case)
            else:
                self.free += 1
            self.seconds.setdefault(name, []).append(now - self.begun.pop(case, now))
        while self.free > 0 and self.waiting:
            self.begun[self.waiting.pop(0)] = now
            self.free -= 1

    def slowest(self):
        suites = [test for test in self.tests.values() if test["kind"] == "suite"]
        for name, seconds in self.seconds.items():
            own = [suite for suite in suites if name.startswith(suite["id"] + "/")] + [self.tests[name]]
            yield sum(seconds), max(seconds), name, self.tests[name], own


count, width, files = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
tests = [test for file in files for test in Run(file, width).slowest()]
for whole, longest, name, test, own in sorted(tests, key=lambda test: -test[0])[:count]:
    limits = [seconds for seconds in (limit(test["sourceLocation"]) for test in own) if seconds]
    left = f"{min(limits) - longest:.0f} s of {min(limits)} s are left" if limits else "it has no limit"
    print(f"  {whole:6.1f} s  {name.split('.')[0]}: {test.get('displayName') or test['name']} ({left})")
