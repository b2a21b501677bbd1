"""The suite about itself: how many cases there are, that each has a name of its own and says its rule."""

import json
import pathlib
import re
import subprocess
import sys

CASES_MIN = 250
FOLDER = pathlib.Path(__file__).parent

COLLECT = """
import json, sys, pytest
class Keep:
    def pytest_collection_finish(self, session):
        self.found = [
            (item.nodeid, [mark.args[0] for mark in item.iter_markers("rule")]) for item in session.items
        ]
keep = Keep()
pytest.main(["--collect-only", "-qq", sys.argv[1]], plugins=[keep])
print("\\n" + json.dumps(keep.found))
"""


def collected():
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, str(FOLDER)],
        capture_output=True, text=True, check=True, timeout=60, cwd=FOLDER.parent,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    return [(name, rules) for name, rules in found if "conformance_suite_test" not in name]


def test_every_case_has_a_name_of_its_own_and_a_rule():
    cases = collected()
    names = [name.split("::")[-1] for name, _ in cases]
    without = [name for name, rules in cases if not rules]
    unclear = [
        (name, rules) for name, rules in cases
        for text in rules if not re.match(r"ecs-api\.md \d+(\.\d+)?: \S.*", text)
    ]

    assert without == []
    assert unclear == []
    assert sorted(set(names)) == sorted(names)
    assert len(cases) >= CASES_MIN
