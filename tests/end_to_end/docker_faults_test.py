"""What Docker refuses ends the task, with ECS's stop code and a reason that a person understands."""

import socket

import harness
from harness import container, register


def run_to_its_end(ecs, cluster, *containers, **members):
    register(ecs, "faulty", *containers, **members)
    answer = ecs.run_task(cluster=cluster, taskDefinition="faulty")
    assert answer["failures"] == []
    arn = answer["tasks"][0]["taskArn"]
    return harness.wait_for_task(ecs, cluster, arn, "STOPPED", seconds=90)


def test_a_missing_image_fails_to_start_and_is_named(ecs, cluster, agent):
    image = "127.0.0.1:9/no/such-image:1"

    task = run_to_its_end(ecs, cluster, container(image=image))

    assert task["stopCode"] == "TaskFailedToStart"
    reasons = f"{task['stoppedReason']} {task['containers'][0].get('reason')}"
    assert "CannotPullContainerError" in reasons
    assert image in reasons
    assert "exitCode" not in task["containers"][0]
    assert harness.docker_containers(cluster) == []


def test_a_port_taken_by_somebody_else_fails_to_start_and_is_named(ecs, cluster, agent):
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = taken.getsockname()[1]

        task = run_to_its_end(
            ecs, cluster, container(portMappings=[{"containerPort": 80, "hostPort": port}])
        )

    assert task["stopCode"] == "TaskFailedToStart"
    reason = task["containers"][0]["reason"]
    assert "CannotStartContainerError" in reason
    assert str(port) in reason


def test_a_command_that_is_not_there_fails_to_start_and_is_named(ecs, cluster, agent):
    task = run_to_its_end(ecs, cluster, container(command=["no-such-command"]))

    assert task["stopCode"] == "TaskFailedToStart"
    assert "no-such-command" in task["containers"][0]["reason"]


def test_a_container_over_its_memory_limit_is_reported_as_out_of_memory(ecs, cluster, agent):
    task = run_to_its_end(
        ecs, cluster, container(memory=8, command=["sh", "-c", "head -c 200000000 /dev/zero | tail"])
    )

    (one,) = task["containers"]
    assert one["exitCode"] == 137
    assert "OutOfMemoryError" in one["reason"]


def test_a_container_that_ignores_sigterm_is_killed_after_its_stop_timeout(ecs, cluster, agent):
    register(
        ecs,
        "stubborn",
        container(command=["sh", "-c", "trap '' TERM; while :; do sleep 1; done"], stopTimeout=2),
    )
    arn = ecs.run_task(cluster=cluster, taskDefinition="stubborn")["tasks"][0]["taskArn"]
    harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    ecs.stop_task(cluster=cluster, task=arn)

    task = harness.wait_for_task(ecs, cluster, arn, "STOPPED", seconds=20)
    assert task["containers"][0]["exitCode"] == 137
    assert 1.5 <= (task["stoppedAt"] - task["stoppingAt"]).total_seconds() <= 10


def test_a_failed_task_gives_its_gpu_back(ecs, cluster, agent):
    run_to_its_end(
        ecs,
        cluster,
        container(image="127.0.0.1:9/no/such-image:1", resourceRequirements=harness.share(20000)),
    )

    (instance,) = harness.describe_instances(ecs, cluster)
    assert instance["gpuDevices"][0]["sharingMode"] == "IDLE"


def test_an_agent_without_docker_says_so_and_fails(server, cluster):
    agent = harness.Agent(
        server, cluster, flags=["--docker-socket", str(server.folder / "nothing.sock")]
    ).start()

    harness.wait_until("the agent ended", lambda: not agent.process.alive(), seconds=60)

    assert agent.process.process.returncode == 1
    assert "nothing.sock" in agent.process.log.read_text()
