"""The main job, driven by stock boto3: register, run, look, stop, on real Docker."""

import json

import harness
from harness import REPOSITORY, container, environment_of, register, share, wait_until, whole


def guide_definition():
    """The demo's task definition with the tests' image, small enough for any machine."""
    definition = json.loads((REPOSITORY / "deploy/demo/task-definition.json").read_text())
    for one in definition["containerDefinitions"]:
        one["image"] = harness.IMAGE
    return {**definition, "cpu": "512", "memory": "256"}


def only_gpu(ecs, cluster):
    (instance,) = harness.describe_instances(ecs, cluster)
    (gpu,) = instance["gpuDevices"]
    return gpu


def run_guide_task(ecs, cluster):
    ecs.register_task_definition(**guide_definition())
    answer = ecs.run_task(
        cluster=cluster,
        taskDefinition="mps-inference",
        launchType="MANAGED_INSTANCES",
        networkConfiguration={"awsvpcConfiguration": {"subnets": ["subnet-local"]}},
    )
    assert answer["failures"] == []
    (task,) = answer["tasks"]
    return task["taskArn"]


def test_a_task_of_the_guide_runs_on_docker_with_both_containers_on_one_gpu(ecs, cluster, agent):
    arn = run_guide_task(ecs, cluster)

    task = harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    gpu = only_gpu(ecs, cluster)
    by_name = {c["name"]: c for c in task["containers"]}
    assert task["launchType"] == "MANAGED_INSTANCES"
    assert by_name["model-a"]["gpuIds"] == [gpu["gpuId"]] == by_name["model-b"]["gpuIds"]
    assert by_name["model-a"]["gpuSharingStrategy"] == {
        "nvidiaMps": {"memory": 12288, "maxComputePercent": 50}
    }
    assert by_name["model-b"]["gpuSharingStrategy"] == {
        "nvidiaMps": {"memory": 8192, "maxComputePercent": 25}
    }
    assert "gpuIds" not in by_name["log-router"]
    assert "gpuSharingStrategy" not in by_name["log-router"]
    assert gpu == {
        "gpuId": gpu["gpuId"],
        "sharingMode": "NVIDIA_MPS",
        "totalMemoryInMiB": 22587,
        "remainingMemoryInMiB": 22587 - 20480,
        "containerCount": 2,
    }


def test_a_simulated_gpu_says_so_in_its_id(ecs, cluster, agent):
    assert "simulated" in only_gpu(ecs, cluster)["gpuId"].lower()


def test_docker_runs_exactly_the_containers_that_describe_tasks_names(ecs, cluster, agent):
    arn = run_guide_task(ecs, cluster)

    task = harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    named = {c["runtimeId"]: c["name"] for c in task["containers"]}
    on_docker = {
        c["Id"]: harness.label(c, "container-name")
        for c in harness.docker_containers(cluster)
        if harness.label(c, "container-name") in named.values()
    }
    assert on_docker == named


def test_sharing_containers_are_told_their_limits_and_others_nothing(ecs, cluster, agent):
    arn = run_guide_task(ecs, cluster)

    task = harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    ids = {c["name"]: c["runtimeId"] for c in task["containers"]}
    inspected = {c["Id"]: environment_of(c) for c in harness.docker_containers(cluster)}
    model_a, router = inspected[ids["model-a"]], inspected[ids["log-router"]]
    assert model_a["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] == "0=12288M"
    assert model_a["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] == "50"
    assert not [name for name in router if name.startswith("CUDA_MPS")]


def test_containers_of_an_awsvpc_task_share_one_network(ecs, cluster, agent):
    arn = run_guide_task(ecs, cluster)

    task = harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    hostnames = {
        harness.docker("exec", c["runtimeId"], "ip", "-o", "addr", "show").strip()
        for c in task["containers"]
    }
    assert len(hostnames) == 1


def test_stop_task_ends_the_containers_and_frees_the_gpu(ecs, cluster, agent):
    arn = run_guide_task(ecs, cluster)
    harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    stopping = ecs.stop_task(cluster=cluster, task=arn, reason="enough")["task"]

    assert stopping["desiredStatus"] == "STOPPED"
    task = harness.wait_for_task(ecs, cluster, arn, "STOPPED")
    assert task["stopCode"] == "UserInitiated"
    assert task["stoppedReason"] == "enough"
    assert all("exitCode" in c for c in task["containers"])
    gpu = only_gpu(ecs, cluster)
    assert (gpu["sharingMode"], gpu["remainingMemoryInMiB"], gpu["containerCount"]) == (
        "IDLE",
        22587,
        0,
    )
    wait_until("no container is left running", lambda: not harness.docker_containers(cluster))


def test_the_waiters_of_boto3_see_running_and_stopped(ecs, cluster, agent):
    register(ecs, "waited", container())
    arn = ecs.run_task(cluster=cluster, taskDefinition="waited")["tasks"][0]["taskArn"]
    patience = {"Delay": 1, "MaxAttempts": 30}

    ecs.get_waiter("tasks_running").wait(cluster=cluster, tasks=[arn], WaiterConfig=patience)
    ecs.stop_task(cluster=cluster, task=arn)
    ecs.get_waiter("tasks_stopped").wait(cluster=cluster, tasks=[arn], WaiterConfig=patience)


def test_an_essential_container_that_exits_stops_its_task_with_its_code(ecs, cluster, agent):
    register(
        ecs,
        "exits",
        container("main", command=["sh", "-c", "exit 7"]),
        container("beside", essential=False),
    )
    arn = ecs.run_task(cluster=cluster, taskDefinition="exits")["tasks"][0]["taskArn"]

    task = harness.wait_for_task(ecs, cluster, arn, "STOPPED")

    codes = {c["name"]: c.get("exitCode") for c in task["containers"]}
    assert task["stopCode"] == "EssentialContainerExited"
    assert task["stoppedReason"] == "Essential container in task exited"
    assert codes["main"] == 7


def test_overrides_of_run_task_reach_the_container(ecs, cluster, agent):
    register(ecs, "overridden", container(environment=[{"name": "KEPT", "value": "1"}]))
    answer = ecs.run_task(
        cluster=cluster,
        taskDefinition="overridden",
        overrides={
            "containerOverrides": [
                {"name": "main", "environment": [{"name": "ADDED", "value": "two words"}]}
            ]
        },
    )
    arn = answer["tasks"][0]["taskArn"]

    harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    (running,) = harness.docker_containers(cluster)
    environment = environment_of(running)
    assert (environment["KEPT"], environment["ADDED"]) == ("1", "two words")


def test_a_dedicated_gpu_is_not_shared(ecs, cluster, agent):
    register(ecs, "dedicated", container(resourceRequirements=whole(1)))
    register(ecs, "sharing", container(resourceRequirements=share(1)))
    first = ecs.run_task(cluster=cluster, taskDefinition="dedicated")["tasks"][0]["taskArn"]

    refused = ecs.run_task(cluster=cluster, taskDefinition="sharing")

    assert refused["tasks"] == []
    (failure,) = refused["failures"]
    assert failure["reason"] == "RESOURCE:GPU"
    gpu = only_gpu(ecs, cluster)
    assert (gpu["sharingMode"], gpu["remainingMemoryInMiB"], gpu["containerCount"]) == (
        "DEDICATED",
        0,
        1,
    )
    harness.wait_for_task(ecs, cluster, first, "RUNNING")


def test_a_share_that_no_gpu_can_hold_registers_and_says_what_was_asked_and_had(
    ecs, cluster, agent
):
    register(ecs, "too-large", container(resourceRequirements=share(10_000_000)))

    answer = ecs.run_task(cluster=cluster, taskDefinition="too-large")

    assert answer["tasks"] == []
    (failure,) = answer["failures"]
    assert failure["reason"] == "RESOURCE:GPU"
    assert "10000000 MiB" in failure["detail"]
    assert "22587 MiB" in failure["detail"]


def test_a_static_port_is_given_once_and_reachable(ecs, cluster, agent):
    port = harness.free_port()
    register(
        ecs,
        "web",
        container(
            command=["httpd", "-f", "-p", "80", "-h", "/etc"],
            portMappings=[{"containerPort": 80, "hostPort": port}],
        ),
    )
    arn = ecs.run_task(cluster=cluster, taskDefinition="web")["tasks"][0]["taskArn"]

    again = ecs.run_task(cluster=cluster, taskDefinition="web")

    assert [f["reason"] for f in again["failures"]] == ["RESOURCE:PORTS"]
    task = harness.wait_for_task(ecs, cluster, arn, "RUNNING")
    bindings = task["containers"][0]["networkBindings"]
    assert {(b["containerPort"], b["hostPort"], b["protocol"]) for b in bindings} == {
        (80, port, "tcp")
    }
    import urllib.request

    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/passwd", timeout=5).read()
    assert b"root" in text


def test_a_container_starts_only_after_the_one_it_depends_on_succeeded(ecs, cluster, agent):
    register(
        ecs,
        "ordered",
        container("setup", essential=False, command=["sh", "-c", "sleep 1; exit 0"]),
        container("main", dependsOn=[{"containerName": "setup", "condition": "SUCCESS"}]),
    )
    arn = ecs.run_task(cluster=cluster, taskDefinition="ordered")["tasks"][0]["taskArn"]

    harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    states = {
        harness.label(c, "container-name"): c["State"]
        for c in harness.docker_containers(cluster, everything=True)
    }
    assert states["setup"]["ExitCode"] == 0
    assert states["main"]["StartedAt"] >= states["setup"]["FinishedAt"]
