"""`berth defrag --plan` against a real server whose agents are emulated, and its plan carried out."""

import subprocess

import harness
import pytest
from explain_test import berth, berth_json, define_shared, register

DONE = 0
USAGE = 2
NO_PLAN = 3


@pytest.fixture
def halves():
    """Two machines of one GPU each, with a task that shares on either."""
    with harness.running_server("--emulate-agents") as server:
        ecs = server.client()
        for family, mib in (("left", 10000), ("pad", 12000), ("right", 11000)):
            define_shared(server, family, mib)
        ecs.register_task_definition(
            family="whole",
            containerDefinitions=[
                {
                    "name": "app",
                    "image": "i",
                    "memory": 64,
                    "resourceRequirements": [{"type": "GPU", "value": "1"}],
                }
            ],
        )
        register(ecs)
        ecs.run_task(taskDefinition="left")
        pad = ecs.run_task(taskDefinition="pad")["tasks"][0]["taskArn"]
        register(ecs)
        ecs.run_task(taskDefinition="right")
        stop(ecs, pad)
        yield server


def stop(ecs, task):
    ecs.stop_task(task=task)
    harness.wait_until(
        "the task is STOPPED",
        lambda: ecs.describe_tasks(tasks=[task])["tasks"][0]["lastStatus"] == "STOPPED",
    )


def test_a_plan_makes_room_when_it_is_carried_out(halves):
    ecs = halves.client()
    assert ecs.run_task(taskDefinition="whole")["failures"]

    plan = berth_json(halves, "defrag", "--plan", "--task-definition", "whole", code=DONE)

    assert plan["outcome"] == "MOVES" and len(plan["moves"]) == 1
    move = plan["moves"][0]
    stop(ecs, move["taskArn"])
    again = ecs.run_task(taskDefinition=move["taskDefinitionArn"])["tasks"][0]
    assert again["containerInstanceArn"] == move["to"]["containerInstanceArn"]
    task = ecs.run_task(taskDefinition="whole")["tasks"][0]
    assert task["containerInstanceArn"] == plan["placements"][0]["containerInstanceArn"]


def test_a_plan_is_printed_for_people(halves):
    text = berth(halves, "defrag", "--plan", "--task-definition", "whole", code=DONE).stdout
    assert "1 move would make room:" in text
    assert "left:1" in text or "right:1" in text  # the instances' ids decide
    assert "Fragmented GPU memory: 3862 of 24174 MiB (16.0 %)" in text

    none = berth(
        halves, "defrag", "--plan", "--task-definition", "whole", "--moves", "0", code=NO_PLAN
    ).stdout
    assert "No plan of at most 0 moves makes room." in none
    assert "Without moves 0 of 1 would fit." in none

    ready = berth(halves, "defrag", "--plan", "--task-definition", "left", code=DONE).stdout
    assert "There is room as it is: no task has to move." in ready


def test_an_empty_cluster_has_nothing_to_lower():
    with harness.running_server("--emulate-agents") as server:
        register(server.client())
        text = berth(server, "defrag", "--plan", code=DONE).stdout
        assert "No task has been placed yet" in text


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--plan", "--moves", "21"], "--moves"),
        (["--plan", "--count", "2"], "--task-definition"),
        (["--plan", "--task-definition", "left", "--count", "101"], "--count"),
    ],
)
def test_what_cannot_be_planned_is_named(arguments, names):
    done = subprocess.run(
        [harness.BERTH, "defrag", *arguments],
        capture_output=True, text=True, timeout=60, check=False,
    )
    assert done.returncode == USAGE
    assert names in done.stderr


def test_without_plan_it_moves_nothing_and_says_what_to_do():
    done = subprocess.run(
        [harness.BERTH, "defrag"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == USAGE
    assert "Berth never moves tasks by itself" in done.stderr
