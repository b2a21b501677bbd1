"""The suite about itself: how many cases there are, that each has a name of its own and says its rule."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

CASES_MIN = 250
# The sections of ecs-api.md by number, each with the last of its subsections; 0: it has none.
SECTIONS = {
    0: 0, 1: 4, 2: 5, 3: 0, 4: 7, 5: 6, 6: 7, 7: 11, 8: 4, 9: 9, 10: 2, 11: 0, 12: 2, 13: 0, 14: 0,
    15: 0, 16: 0, 17: 0, 18: 0, 19: 0,
}
RULE = re.compile(r"ecs-api\.md (\d+)(?:\.(\d+))?: \S.*")
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


def names_a_rule(text):
    """Whether it says which section, one that is there, and what that says."""
    named = RULE.match(text)
    if named is None or int(named[1]) not in SECTIONS:
        return False
    return named[2] is None or 1 <= int(named[2]) <= SECTIONS[int(named[1])]


@pytest.mark.parametrize("text, good", [
    ("ecs-api.md 4.3: a rule", True),
    ("ecs-api.md 3: a rule", True),
    ("ecs-api.md 3.1: a rule", False),
    ("ecs-api.md 4.8: a rule", False),
    ("ecs-api.md 20: a rule", False),
    ("ecs-api.md 4.3: ", False),
    ("ecs-api.md 4.3", False),
])
def test_a_rule_names_a_section_that_is_there(text, good):
    assert names_a_rule(text) == good


def test_every_case_has_a_name_of_its_own_and_a_rule():
    cases = collected()
    names = [name.split("::")[-1] for name, _ in cases]
    without = [name for name, rules in cases if not rules]
    unclear = [
        (name, rules) for name, rules in cases
        for text in rules if not names_a_rule(text)
    ]

    assert without == []
    assert unclear == []
    assert sorted(set(names)) == sorted(names)
    assert len(cases) >= CASES_MIN
