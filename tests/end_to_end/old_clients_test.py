"""The AWS CLI and boto3 of the distribution, older than GPU sharing, with clients/botocore."""

import json
import os
import pathlib
import subprocess

import harness
import pytest
from harness import REPOSITORY

SYSTEM_PYTHON = "/usr/bin/python3"
SYSTEM_AWS = "/usr/bin/aws"


def environment(**more):
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": os.environ.get("HOME", "/"),
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        **more,
    }


EXTENDED = environment(AWS_DATA_PATH=str(REPOSITORY / "clients/botocore"))

BOTO_SCRIPT = """
import json, sys, boto3
ecs = boto3.client("ecs", endpoint_url=sys.argv[1])
ecs.register_task_definition(family="old", containerDefinitions=[{
    "name": "main", "image": "x", "memory": 16, "resourceRequirements": [
        {"type": "GPU", "sharingStrategy": {"nvidiaMps": {"memory": 4000, "maxComputePercent": 50}}}]}])
task = ecs.run_task(cluster=sys.argv[2], taskDefinition="old")["tasks"][0]
arns = ecs.list_container_instances(cluster=sys.argv[2])["containerInstanceArns"]
instance = ecs.describe_container_instances(cluster=sys.argv[2], containerInstances=arns)
print(json.dumps([task["containers"][0], instance["containerInstances"][0]["gpuDevices"][0]]))
"""


@pytest.fixture
def emulating():
    with harness.running_server("--emulate-agents") as server, harness.new_cluster(server) as cluster:
        harness.emulated_instance(server.client(), cluster, 1, gpus=1, gpu_mib=22587)
        yield server, cluster


def boto(server, cluster, env):
    return subprocess.run(
        [SYSTEM_PYTHON, "-c", BOTO_SCRIPT, server.endpoint, cluster],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=env,
    )


def test_the_distributions_boto3_shares_gpus_with_the_extension(emulating):
    done = boto(*emulating, EXTENDED)

    assert done.returncode == 0, done.stderr
    container, gpu = json.loads(done.stdout)
    assert container["gpuSharingStrategy"]["nvidiaMps"] == {"memory": 4000, "maxComputePercent": 50}
    assert container["gpuIds"] == [gpu["gpuId"]]
    assert (gpu["sharingMode"], gpu["remainingMemoryInMiB"]) == ("NVIDIA_MPS", 18587)


@pytest.mark.skipif(not pathlib.Path(SYSTEM_AWS).exists(), reason="this distribution has no awscli")
def test_the_distributions_aws_cli_shares_gpus_with_the_extension(emulating):
    server, cluster = emulating

    def aws(*arguments):
        done = subprocess.run(
            [SYSTEM_AWS, "--endpoint-url", server.endpoint, "--output", "json", "ecs", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=EXTENDED,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    aws(
        "register-task-definition", "--family", "old", "--network-mode", "host",
        "--container-definitions",
        "name=main,image=x,memory=16,"
        "resourceRequirements=[{type=GPU,sharingStrategy={nvidiaMps={memory=4000}}}]",
    )
    run = aws(
        "run-task", "--cluster", cluster, "--task-definition", "old",
        "--launch-type", "MANAGED_INSTANCES",
    )
    assert run["tasks"][0]["containers"][0]["gpuSharingStrategy"] == {"nvidiaMps": {"memory": 4000}}


def test_the_extension_does_not_disturb_the_newest_boto3(emulating):
    server, cluster = emulating
    done = subprocess.run(
        [str(pathlib.Path(__file__).parent / ".venv/bin/python"), "-c", BOTO_SCRIPT, server.endpoint, cluster],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=EXTENDED,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[1]["remainingMemoryInMiB"] == 18587
