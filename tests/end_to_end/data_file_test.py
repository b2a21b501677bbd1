"""The data file is a reasonable way to look at a cluster: with sqlite3, while the server runs."""

import json
import subprocess

import harness
from harness import container, register, share


def query(server, sql):
    done = subprocess.run(
        ["sqlite3", "-readonly", "-json", str(server.data / "berth.db"), sql],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return json.loads(done.stdout or "[]")


def test_sqlite3_shows_tables_that_a_person_can_read(server, ecs, cluster, agent):
    register(ecs, "kept", container(resourceRequirements=share(1000)))
    arn = ecs.run_task(
        cluster=cluster, taskDefinition="kept", startedBy="somebody", clientToken="token-1"
    )["tasks"][0]["taskArn"]
    harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    tables = {row["name"] for row in query(server, "SELECT name FROM sqlite_schema")}
    assert {"clusters", "task_definitions", "container_instances", "tasks"} <= tables
    (task,) = query(server, "SELECT * FROM tasks")
    assert task["last_status"] == "RUNNING"
    assert task["cluster"] == cluster
    assert "somebody" in task.values()
    assert arn.endswith(task["id"])
    assert {"status": "ACTIVE"} in query(server, f"SELECT status FROM clusters WHERE name = '{cluster}'")


def test_the_data_file_is_whole_after_kill_9(server, ecs, cluster):
    register(ecs, "kept", container())
    server.kill()

    assert query(server, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    assert query(server, "PRAGMA foreign_key_check") == []
    server.start()


def test_a_second_server_on_the_same_data_is_refused(server):
    second = harness.Process(
        server.folder,
        "second",
        ["server", "--listen", "127.0.0.1:0", "--data", str(server.data)],
    )

    harness.wait_until("it ended", lambda: not second.alive())

    assert second.process.returncode == 1
    assert "berth.db" in second.log.read_text()
