"""`berth export` of a live server, and `berth simulate` on what it wrote."""

import csv
import json
import subprocess

import harness
from defrag_test import stop
from explain_test import berth, define_shared, id_of, register

GPU_MIB = harness.GPU_MIB


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_what_is_exported_is_what_the_server_has_and_can_be_simulated(tmp_path):
    nodes, tasks = tmp_path / "nodes.csv", tmp_path / "tasks.csv"
    with harness.running_server("--emulate-agents") as server:
        ecs = server.client()
        instances = [register(ecs, gpus=2), register(ecs)]
        define_shared(server, "train", 9000)
        ecs.register_task_definition(
            family="whole",
            containerDefinitions=[
                {
                    "name": "app",
                    "image": "i",
                    "cpu": 256,
                    "memory": 64,
                    "resourceRequirements": [{"type": "GPU", "value": "1"}],
                }
            ],
        )
        first = ecs.run_task(taskDefinition="train")["tasks"][0]["taskArn"]
        second = ecs.run_task(taskDefinition="whole")["tasks"][0]["taskArn"]
        stop(ecs, first)

        berth(server, "export", "--nodes", str(nodes), "--tasks", str(tasks), code=0)

    written = {row["name"]: row for row in rows_of(nodes)}
    assert set(written) == {id_of(arn) for arn in instances}
    assert written[id_of(instances[0])]["gpu_memory_mib"] == f"{GPU_MIB}|{GPU_MIB}"
    assert written[id_of(instances[0])]["cpu_units"] == "8192"
    assert written[id_of(instances[1])]["gpu_memory_mib"] == str(GPU_MIB)
    assert all(row["gpu_sharing"] == "yes" for row in written.values())

    shared, whole = rows_of(tasks)  # in the order in which they arrived
    assert shared["name"] == id_of(first) and whole["name"] == id_of(second)
    assert (shared["gpu_kind"], shared["gpus"], shared["gpu_memory_mib"]) == ("shared", "1", "9000")
    assert float(shared["ended_at"]) >= float(shared["arrived_at"])
    assert (whole["gpu_kind"], whole["gpus"], whole["gpu_memory_mib"]) == ("dedicated", "1", "0")
    assert whole["ended_at"] == "" and whole["cpu_units"] == "256"

    simulated = subprocess.run(
        [harness.BERTH, "simulate", "--nodes", str(nodes), "--tasks", str(tasks),
         "--policy", "best-fit,fgd", "--seeds", "42", "--output", "json"],
        capture_output=True, text=True, timeout=60, check=True,
    )
    runs = json.loads(simulated.stdout)
    assert [run["policy"] for run in runs] == ["best-fit", "fgd"]
    assert all(run["arrived"] >= 2 for run in runs)


def test_one_file_for_nodes_and_tasks_is_refused(tmp_path):
    path = tmp_path / "both.csv"
    with harness.running_server() as server:
        refused = berth(server, "export", "--nodes", str(path), "--tasks", str(path), code=2)

    assert "they are two files" in refused.stderr
    assert not path.exists()
