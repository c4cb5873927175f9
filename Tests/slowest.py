"""Prints the slowest tests of a run, and how much of its limit each has left.

    python3 Tests/slowest.py COUNT FILE...

The files are event streams of Swift Testing. They say nothing of limits, so those are read where the test stands.
"""

import json
import re
import sys


def limit(location):
    """The limit in seconds in the attribute at a place of a source; None without one."""
    with open(location["filePath"], encoding="utf-8") as file:
        lines = file.read().split("\n")[location["line"] - 1 :]
    text = "\n".join(lines)
    depth, end = 0, 0
    for end, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        # Without parentheses the attribute ends with its line.
        if depth == 0 and character in ")\n":
            break
    found = re.search(r"\.timeLimit\(\.minutes\((\d+)\)\)", text[:end])
    return int(found.group(1)) * 60 if found else None


def run(path):
    """The tests of a stream: seconds, name and limit."""
    tests, begun = {}, {}
    for line in open(path, encoding="utf-8"):
        record = json.loads(line)
        payload = record["payload"]
        if record["kind"] == "test":
            tests[payload["id"]] = payload
        elif payload["kind"] in ("testStarted", "testEnded") and "testID" in payload:
            test, moment = tests.get(payload["testID"]), payload["instant"]["absolute"]
            if payload["kind"] == "testStarted":
                begun[payload["testID"]] = moment
            elif test and test["kind"] == "function":
                suites = [s for s in tests.values() if s["kind"] == "suite" and test["id"].startswith(s["id"] + "/")]
                limits = [l for l in map(lambda t: limit(t["sourceLocation"]), suites + [test]) if l]
                room = test["id"].split(".")[0]
                name = test.get("displayName") or test["name"]
                yield moment - begun[payload["testID"]], f"{room}: {name}", min(limits, default=None)


count, files = int(sys.argv[1]), sys.argv[2:]
for seconds, name, most in sorted((t for f in files for t in run(f)), key=lambda t: -t[0])[:count]:
    left = f"{most - seconds:.0f} s of {most} s left" if most else "no limit"
    print(f"  {seconds:6.1f} s, {left}: {name}")
