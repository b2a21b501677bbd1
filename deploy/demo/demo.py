#!/usr/bin/python3
"""The demo's client: stock boto3, as a user would write it.

demo.py ENDPOINT [--once]: registers the task definition of the GPU-sharing guide, runs it, waits until
it is RUNNING, and prints what DescribeTasks and DescribeContainerInstances say. With --once it then
stops the task and shows that the GPU is IDLE again; otherwise it stays until Ctrl-C and does so then.
"""

import json
import os
import signal
import subprocess
import sys
import time

import boto3

HERE = os.path.dirname(os.path.abspath(__file__))
INSTANCE_SECONDS = 30
RUNNING_SECONDS = 120
STOPPED_SECONDS = 60


class Failed(Exception):
    pass


def say(text):
    print(f"demo: {text}", flush=True)


def show(title, answer):
    answer.pop("ResponseMetadata", None)
    print(f"\n--- {title}\n{json.dumps(answer, indent=2, default=str)}\n", flush=True)


def wait_until(what, seconds, look):
    """Calls look() until it gives (done, progress) with done set; prints progress as it changes."""
    deadline = time.monotonic() + seconds
    last = None
    while True:
        done, progress = look()
        if progress != last:
            say(f"  {progress}")
            last = progress
        if done:
            return done
        if time.monotonic() > deadline:
            raise Failed(f"{what}: not within {seconds} s; last seen: {last}")
        time.sleep(0.2)


def wait_for_instance(ecs):
    def look():
        arns = ecs.list_container_instances()["containerInstanceArns"]
        if not arns:
            return None, "no container instance yet"
        instance = ecs.describe_container_instances(containerInstances=arns)["containerInstances"][0]
        connected = instance["agentConnected"]
        return connected and instance, f"container instance registered, agentConnected {connected}"

    say("waiting for this machine to register")
    return wait_until("the container instance", INSTANCE_SECONDS, look)


def definition_for(instance):
    """The guide's definition; no machine promises more than it has, so smaller ones ask for less."""
    with open(os.path.join(HERE, "task-definition.json"), encoding="utf-8") as file:
        definition = json.load(file)
    for member, resource in (("cpu", "CPU"), ("memory", "MEMORY")):
        has = next(
            r["integerValue"] for r in instance["remainingResources"] if r["name"] == resource
        )
        if has < int(definition[member]):
            say(f"{resource}: the guide asks for {definition[member]}, this machine has {has}: asking for that")
            definition[member] = str(has)
    return definition


def run(ecs, definition):
    registered = ecs.register_task_definition(**definition)["taskDefinition"]
    say(f"registered {registered['taskDefinitionArn']}")
    answer = ecs.run_task(
        taskDefinition=registered["taskDefinitionArn"],
        launchType="MANAGED_INSTANCES",
        networkConfiguration={"awsvpcConfiguration": {"subnets": ["subnet-local"]}},
    )
    if answer["failures"]:
        raise Failed(f"RunTask placed nothing: {json.dumps(answer['failures'])}")
    arn = answer["tasks"][0]["taskArn"]
    say(f"running {arn}")

    def look():
        task = ecs.describe_tasks(tasks=[arn])["tasks"][0]
        if task["lastStatus"] == "STOPPED":
            reasons = [c.get("reason") for c in task["containers"] if c.get("reason")]
            raise Failed(f"the task stopped: {task.get('stoppedReason')} {reasons}")
        containers = ", ".join(f"{c['name']} {c['lastStatus']}" for c in task["containers"])
        return task["lastStatus"] == "RUNNING", f"task {task['lastStatus']} ({containers})"

    say("waiting until it is RUNNING")
    wait_until("the task", RUNNING_SECONDS, look)
    return arn


def check_shared(task, gpu):
    """The demo is a test too: it does not end 0 when what it shows is wrong."""
    sharing = [c for c in task["containers"] if "gpuSharingStrategy" in c]
    shares = sorted(c["gpuSharingStrategy"]["nvidiaMps"]["memory"] for c in sharing)
    ids = {tuple(c["gpuIds"]) for c in sharing}
    remaining = gpu["totalMemoryInMiB"] - sum(shares)
    if shares != [8192, 12288] or ids != {(gpu["gpuId"],)}:
        raise Failed(f"the containers do not share one GPU as asked: {sharing}")
    if (gpu["sharingMode"], gpu["remainingMemoryInMiB"], gpu["containerCount"]) != (
        "NVIDIA_MPS",
        remaining,
        2,
    ):
        raise Failed(f"the GPU is not NVIDIA_MPS with {remaining} MiB left and 2 containers: {gpu}")


def show_running(ecs, arn, instance_arn):
    tasks = ecs.describe_tasks(tasks=[arn])
    instances = ecs.describe_container_instances(containerInstances=[instance_arn])
    show("DescribeTasks", tasks)
    show("DescribeContainerInstances", instances)
    check_shared(tasks["tasks"][0], instances["containerInstances"][0]["gpuDevices"][0])
    say("what the containers themselves see:")
    for container in tasks["tasks"][0]["containers"]:
        logs = subprocess.run(
            ["docker", "logs", container["runtimeId"]], capture_output=True, text=True, check=False
        )
        print(f"    {(logs.stdout + logs.stderr).strip()}", flush=True)


def stop(ecs, arn, instance_arn):
    say("stopping the task")
    ecs.stop_task(task=arn, reason="The demo is over")

    def look():
        task = ecs.describe_tasks(tasks=[arn])["tasks"][0]
        return task["lastStatus"] == "STOPPED", f"task {task['lastStatus']}"

    wait_until("the task's end", STOPPED_SECONDS, look)
    answer = ecs.describe_container_instances(containerInstances=[instance_arn])
    gpu = answer["containerInstances"][0]["gpuDevices"][0]
    show("gpuDevices, after the task", {"gpuDevices": [gpu]})
    if (gpu["sharingMode"], gpu["remainingMemoryInMiB"], gpu["containerCount"]) != (
        "IDLE",
        gpu["totalMemoryInMiB"],
        0,
    ):
        raise Failed(f"the GPU is not IDLE again: {gpu}")
    say("the GPU is IDLE again")


def wait_for_interrupt(endpoint):
    say(f"it stays up: try  aws --endpoint-url {endpoint} ecs list-tasks   Ctrl-C ends it.")
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        print(flush=True)


def main():
    endpoint = sys.argv[1]
    once = "--once" in sys.argv[2:]
    ecs = boto3.client(
        "ecs",
        endpoint_url=endpoint,
        region_name="us-east-1",
        # Any will do for a server with --auth none.
        aws_access_key_id=os.environ.get("AWS_ACCESS_KEY_ID", "demo"),
        aws_secret_access_key=os.environ.get("AWS_SECRET_ACCESS_KEY", "demo"),
    )
    say(f"boto3 {boto3.__version__} against {endpoint}")
    instance = wait_for_instance(ecs)
    instance_arn = instance["containerInstanceArn"]
    arn = run(ecs, definition_for(instance))
    show_running(ecs, arn, instance_arn)
    if not once:
        wait_for_interrupt(endpoint)
    stop(ecs, arn, instance_arn)


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        print(f"demo: FAILED: {failure}", file=sys.stderr, flush=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
