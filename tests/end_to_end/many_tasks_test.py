"""A server alone with a thousand emulated machines takes a hundred thousand tasks and keeps them.

BERTH_MANY_INSTANCES and BERTH_MANY_TASKS say how many.
"""

import concurrent.futures
import os
import time

import harness
from harness import container, register, share, wait_until

INSTANCES = int(os.environ.get("BERTH_MANY_INSTANCES", "1000"))
TASKS = int(os.environ.get("BERTH_MANY_TASKS", "100000"))
GPUS = 8
CONNECTIONS = 8
PER_CALL = 10
SHARE_MIB = 6000  # 13 to a GPU of 81559 MiB: 104 to a machine


def in_parallel(count, call):
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        return list(pool.map(call, range(count)))


def total_containers(ecs, cluster):
    return sum(
        gpu["containerCount"]
        for instance in harness.describe_instances(ecs, cluster)
        for gpu in instance["gpuDevices"]
    )


def test_a_server_alone_takes_many_tasks_and_has_them_all_after_a_restart():
    with harness.running_server("--emulate-agents") as server, harness.new_cluster(server) as cluster:
        ecs = server.client(connections=CONNECTIONS)
        in_parallel(INSTANCES, lambda n: harness.emulated_instance(ecs, cluster, n, gpus=GPUS))
        register(ecs, "many", container(resourceRequirements=share(SHARE_MIB)))

        def run(_):
            answer = ecs.run_task(cluster=cluster, taskDefinition="many", count=PER_CALL)
            assert answer["failures"] == []
            return [task["taskArn"] for task in answer["tasks"]]

        began = time.monotonic()
        acknowledged = {arn for arns in in_parallel(TASKS // PER_CALL, run) for arn in arns}
        seconds = time.monotonic() - began
        print(f"{TASKS} tasks in {seconds:.1f} s: {TASKS / seconds:.0f} a second, {PER_CALL} a call")
        assert len(acknowledged) == TASKS
        assert total_containers(ecs, cluster) == TASKS

        server.kill()
        began = time.monotonic()
        server.start()
        print(f"loaded again in {time.monotonic() - began:.1f} s")

        assert set(harness.list_all_tasks(ecs, cluster)) == acknowledged
        assert total_containers(ecs, cluster) == TASKS
        (described,) = ecs.describe_clusters(clusters=[cluster])["clusters"]
        assert described["registeredContainerInstancesCount"] == INSTANCES

        def all_running():
            (found,) = ecs.describe_clusters(clusters=[cluster])["clusters"]
            return found["runningTasksCount"] == TASKS

        wait_until("emulated agents have all of them RUNNING", all_running, seconds=120, every=1)


def test_an_emulated_instance_runs_and_stops_a_task():
    with harness.running_server("--emulate-agents") as server, harness.new_cluster(server) as cluster:
        ecs = server.client()
        harness.emulated_instance(ecs, cluster, 1)
        register(ecs, "one", container(resourceRequirements=share(1000)))
        arn = ecs.run_task(cluster=cluster, taskDefinition="one")["tasks"][0]["taskArn"]

        harness.wait_for_task(ecs, cluster, arn, "RUNNING")
        ecs.stop_task(cluster=cluster, task=arn)
        harness.wait_for_task(ecs, cluster, arn, "STOPPED")

        (instance,) = harness.describe_instances(ecs, cluster)
        assert {g["sharingMode"] for g in instance["gpuDevices"]} == {"IDLE"}


def test_without_the_flag_an_instance_without_an_agent_takes_no_tasks(server, ecs, cluster):
    harness.emulated_instance(ecs, cluster, 1)
    register(ecs, "one", container(resourceRequirements=share(1000)))

    answer = ecs.run_task(cluster=cluster, taskDefinition="one")

    assert answer["tasks"] == []
    assert [f["reason"] for f in answer["failures"]] == ["AGENT"]
    (instance,) = harness.describe_instances(ecs, cluster)
    assert instance["agentConnected"] is False


def test_simulated_agents_run_a_fleet_in_one_process(server, ecs, cluster):
    fleet = harness.Agent(
        server,
        cluster,
        "fleet",
        "simulated:8x81559",
        ["--runtime", "simulated", "--instances", "20"],
    )
    fleet.start()
    try:
        harness.wait_for_instances(ecs, cluster, 20)
        register(ecs, "one", container(resourceRequirements=share(40000)))
        arns = []
        for _ in range(10):
            answer = ecs.run_task(cluster=cluster, taskDefinition="one", count=10)
            assert answer["failures"] == []
            arns += [task["taskArn"] for task in answer["tasks"]]
        for arn in arns:
            harness.wait_for_task(ecs, cluster, arn, "RUNNING")
        for arn in arns:
            ecs.stop_task(cluster=cluster, task=arn)
        for arn in arns:
            harness.wait_for_task(ecs, cluster, arn, "STOPPED")
        assert total_containers(ecs, cluster) == 0
    finally:
        fleet.stop()
