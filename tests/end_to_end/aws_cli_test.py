"""The newest AWS CLI of PyPI, by AWS_ENDPOINT_URL_ECS alone.

Its model (1.46.3 bundles botocore 1.43.62) is older than GPU sharing, whatever boto3 knows, so it gets
clients/botocore; a CLI that knows the feature is not disturbed by that.
"""

import json
import os
import pathlib
import shutil
import subprocess

import harness

AWS = pathlib.Path(__file__).parent / ".venv/bin/aws"


def aws(server, *arguments, check=True):
    done = subprocess.run(
        [shutil.which(str(AWS)) or "aws", "ecs", *arguments, "--output", "json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={
            **os.environ,
            "AWS_ENDPOINT_URL_ECS": server.endpoint,
            "AWS_DATA_PATH": str(harness.REPOSITORY / "clients/botocore"),
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        },
    )
    if check:
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    return done


def test_the_aws_cli_takes_a_sharing_task_from_shorthand_to_stopped(server, ecs, cluster, agent):
    registered = aws(
        server,
        "register-task-definition",
        "--family", "cli",
        "--container-definitions",
        f"name=main,image={harness.IMAGE},memory=16,command=[sleep,600],stopTimeout=2,"
        "resourceRequirements=[{type=GPU,sharingStrategy={nvidiaMps={memory=4000,maxComputePercent=50}}}]",
    )
    assert registered["taskDefinition"]["revision"] == 1
    run = aws(server, "run-task", "--cluster", cluster, "--task-definition", "cli")
    arn = run["tasks"][0]["taskArn"]
    harness.wait_for_task(ecs, cluster, arn, "RUNNING")

    described = aws(server, "describe-tasks", "--cluster", cluster, "--tasks", arn)
    assert described["tasks"][0]["containers"][0]["gpuSharingStrategy"] == {
        "nvidiaMps": {"memory": 4000, "maxComputePercent": 50}
    }
    arns = aws(server, "list-container-instances", "--cluster", cluster)["containerInstanceArns"]
    instances = aws(
        server, "describe-container-instances", "--cluster", cluster, "--container-instances", *arns
    )
    assert instances["containerInstances"][0]["gpuDevices"][0]["remainingMemoryInMiB"] == 18587
    aws(server, "stop-task", "--cluster", cluster, "--task", arn)
    harness.wait_for_task(ecs, cluster, arn, "STOPPED")


def test_the_aws_cli_pages_through_a_list(server, ecs):
    for number in range(7):
        ecs.create_cluster(clusterName=f"page-{number}")

    listed = aws(server, "list-clusters", "--page-size", "3")

    assert len([arn for arn in listed["clusterArns"] if "/page-" in arn]) == 7


def test_the_aws_cli_shows_the_errors_name(server):
    done = aws(server, "list-tasks", "--cluster", "nowhere", check=False)

    assert done.returncode != 0
    assert "ClusterNotFoundException" in done.stderr
    assert "Cluster not found." in done.stderr
