"""The newest AWS CLI: a task from shorthand to STOPPED, pages, errors."""

import harness
from aws_cli import aws, aws_json


def test_the_aws_cli_takes_a_sharing_task_from_shorthand_to_stopped(server, ecs, cluster, agent):
    registered = aws_json(
        server,
        "register-task-definition",
        "--family", "cli",
        "--container-definitions",
        f"name=main,image={harness.IMAGE},memory=16,command=[sleep,600],stopTimeout=2,"
        "resourceRequirements=[{type=GPU,sharingStrategy={nvidiaMps={memory=4000,maxComputePercent=50}}}]",
    )
    assert registered["taskDefinition"]["revision"] == 1
    run = aws_json(server, "run-task", "--cluster", cluster, "--task-definition", "cli")
    arn = run["tasks"][0]["taskArn"]
    harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    described = aws_json(server, "describe-tasks", "--cluster", cluster, "--tasks", arn)
    assert described["tasks"][0]["containers"][0]["gpuSharingStrategy"] == {
        "nvidiaMps": {"memory": 4000, "maxComputePercent": 50}
    }
    arns = aws_json(server, "list-container-instances", "--cluster", cluster)["containerInstanceArns"]
    instances = aws_json(
        server, "describe-container-instances", "--cluster", cluster, "--container-instances", *arns
    )
    assert instances["containerInstances"][0]["gpuDevices"][0]["remainingMemoryInMiB"] == 18587
    aws_json(server, "stop-task", "--cluster", cluster, "--task", arn)
    harness.wait_for_task(ecs, cluster, arn, "STOPPED")


def test_the_aws_cli_pages_through_a_list(server, ecs):
    for number in range(7):
        ecs.create_cluster(clusterName=f"page-{number}")

    listed = aws_json(server, "list-clusters", "--page-size", "3")

    assert len([arn for arn in listed["clusterArns"] if "/page-" in arn]) == 7


def test_the_aws_cli_shows_the_errors_name(server):
    answer = aws(server, "list-tasks", "--cluster", "nowhere")

    assert answer.code != 0
    assert "ClusterNotFoundException" in answer.err
    assert "Cluster not found." in answer.err
