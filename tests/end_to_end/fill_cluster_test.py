"""RunTask until full, over three machines of two GPUs each, then everything back."""

import collections
import random

import harness
from harness import container, register, share, whole

GPUS_PER_INSTANCE = 2
SEED = 20260

# Mixed sizes, so that gaps of every kind are left over.
KINDS = {
    "whole-1": whole(1),
    "whole-2": whole(2),
    "share-3000": share(3000),
    "share-7500": share(7500, 50),
    "share-11000": share(11000, 25),
    "share-22587": share(22587),
}


def gpu_use_by_tasks(tasks):
    """What DescribeTasks says is on each GPU: (mode, memory, containers)."""
    use = collections.defaultdict(lambda: ["IDLE", 0, 0])
    for task in tasks:
        for one in task["containers"]:
            for gpu in one.get("gpuIds", []):
                strategy = one.get("gpuSharingStrategy")
                entry = use[gpu]
                entry[0] = "NVIDIA_MPS" if strategy else "DEDICATED"
                entry[1] += strategy["nvidiaMps"]["memory"] if strategy else 0
                entry[2] += 1
    return use


def check_totals(ecs, cluster, tasks):
    """Both sides tell the same story, and no GPU holds more than it has."""
    use = gpu_use_by_tasks(tasks)
    for instance in harness.describe_instances(ecs, cluster):
        for gpu in instance["gpuDevices"]:
            mode, memory, containers = use[gpu["gpuId"]]
            total = gpu["totalMemoryInMiB"]
            remaining = 0 if mode == "DEDICATED" else total - memory
            assert remaining >= 0, f"over-committed: {gpu}"
            assert gpu == {
                "gpuId": gpu["gpuId"],
                "sharingMode": mode,
                "totalMemoryInMiB": total,
                "remainingMemoryInMiB": remaining,
                "containerCount": containers,
            }
            assert mode != "DEDICATED" or containers == 1
        on_it = [t for t in tasks if t["containerInstanceArn"] == instance["containerInstanceArn"]]
        free = {r["name"]: r.get("integerValue") for r in instance["remainingResources"]}
        has = {r["name"]: r.get("integerValue") for r in instance["registeredResources"]}
        assert has["MEMORY"] - free["MEMORY"] == sum(int(t["memory"]) for t in on_it)
        assert has["CPU"] - free["CPU"] == sum(int(t["cpu"]) for t in on_it)
        idle = {g["gpuId"] for g in instance["gpuDevices"] if g["sharingMode"] == "IDLE"}
        left = next(r for r in instance["remainingResources"] if r["name"] == "GPU")
        assert set(left["stringSetValue"]) == idle
        assert instance["runningTasksCount"] + instance["pendingTasksCount"] == len(on_it)


def test_what_is_placed_adds_up_and_everything_comes_back(server, ecs, cluster):
    agents = [
        harness.Agent(
            server, cluster, f"machine-{n}", f"simulated:{GPUS_PER_INSTANCE}x{harness.GPU_MIB}"
        )
        for n in range(3)
    ]
    with harness.running_agents(server, cluster, *agents):
        for name, requirement in KINDS.items():
            register(ecs, name, container(cpu=10, memory=8, resourceRequirements=requirement))
        order = random.Random(SEED)
        full, failures = set(), []
        while len(full) < len(KINDS):
            kind = order.choice(sorted(set(KINDS) - full))
            answer = ecs.run_task(
                cluster=cluster, taskDefinition=kind, count=order.randint(1, 3), startedBy=kind
            )
            failures += answer["failures"]
            if answer["failures"]:
                full.add(kind)
            check_totals(
                ecs, cluster, harness.describe_tasks(ecs, cluster, harness.list_all_tasks(ecs, cluster))
            )

        assert {f["reason"] for f in failures} == {"RESOURCE:GPU"}
        assert all("MiB" in f["detail"] or "GPU" in f["detail"] for f in failures)
        arns = harness.list_all_tasks(ecs, cluster)
        assert len(arns) >= 6
        for arn in arns:
            harness.wait_for_task(ecs, cluster, arn, "RUNNING")
        check_totals(ecs, cluster, harness.describe_tasks(ecs, cluster, arns))
        running = harness.docker_containers(cluster)
        assert len(running) == len(arns)

        for arn in arns:
            ecs.stop_task(cluster=cluster, task=arn)
        for arn in arns:
            harness.wait_for_task(ecs, cluster, arn, "STOPPED")

        for instance in harness.describe_instances(ecs, cluster):
            assert instance["remainingResources"] == instance["registeredResources"]
            for gpu in instance["gpuDevices"]:
                assert gpu["sharingMode"] == "IDLE"
                assert gpu["remainingMemoryInMiB"] == harness.GPU_MIB
