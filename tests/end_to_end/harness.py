"""Real servers, agents and Docker containers for the tests, each with a bounded wait for everything.

A test makes its own server in a folder of its own, and its own cluster in it, so that tests do not see
each other; what Docker ran for the cluster is removed at the end.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import uuid

import boto3
from botocore.config import Config

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BERTH = os.environ.get("BERTH_BINARY", str(REPOSITORY / "build/release/berth"))
IMAGE = "berth-test/busybox:latest"
# Most tests are not about who calls; those that are say --auth sigv4.
os.environ.setdefault("BERTH_AUTH", "none")
# Agents of several tests run side by side on this machine, and one port serves but one of them.
os.environ.setdefault("BERTH_INTROSPECTION_PORT", "0")

READY_SECONDS = 20
STOP_SECONDS = 20
GPU_MIB = 22587


def wait_until(what, look, seconds=30, every=0.1):
    """Calls look() until it gives something true, which is returned; else fails, saying what it saw."""
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s (last seen: {seen!r})")
        time.sleep(every)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_client(endpoint, attempts=1, connections=32, **config):
    """boto3 as a user has it; one attempt unless a test is about retries."""
    return boto3.client(
        "ecs",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(
            retries={"total_max_attempts": attempts, "mode": "standard"},
            connect_timeout=5,
            read_timeout=30,
            max_pool_connections=connections,
            **config,
        ),
    )


class Process:
    """A berth process whose log is kept in the test's folder."""

    def __init__(self, folder, name, arguments, environment=None):
        self.log = pathlib.Path(folder) / f"{name}.log"
        self._log_file = open(self.log, "ab")
        self.process = subprocess.Popen(
            [BERTH, *arguments],
            stdout=subprocess.PIPE,
            stderr=self._log_file,
            text=True,
            env={**os.environ, **(environment or {})},
        )

    def wait_for_line(self, pattern):
        """The match of the first line of its stdout that fits."""
        found = []

        def read():
            for line in self.process.stdout:
                match = re.search(pattern, line)
                if match:
                    found.append(match)
                    return

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        reader.join(READY_SECONDS)
        if not found:
            self.kill()
            raise AssertionError(f"no line like {pattern!r}; its log:\n{self.log.read_text()[-3000:]}")
        return found[0]

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        """kill -9, as a power cut would."""
        self.process.kill()
        self.process.wait()
        self._close()

    def stop(self):
        """SIGTERM; the exit code."""
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(
                f"did not end within {STOP_SECONDS} s of SIGTERM:\n{self.log.read_text()[-3000:]}"
            ) from None
        self._close()
        return code

    def _close(self):
        self.process.stdout.close()
        self._log_file.close()


class Server:
    """A berth server that keeps its port and its data over kill and start."""

    def __init__(self, folder, *flags):
        self.folder = pathlib.Path(folder)
        self.data = self.folder / "server"
        self.port = free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.flags = flags
        self.process = None

    def start(self):
        self.process = Process(
            self.folder,
            "server",
            ["server", "--listen", f"127.0.0.1:{self.port}", "--data", str(self.data), *self.flags],
        )
        self.process.wait_for_line(r"^berth server is ready on (http://\S+)$")
        return self

    def kill(self):
        self.process.kill()

    def stop(self):
        return self.process.stop()

    def client(self, **options):
        return make_client(self.endpoint, **options)


class Agent:
    """A berth agent that keeps its state folder over kill and start."""

    def __init__(self, server, cluster, name="agent", gpus=f"simulated:1x{GPU_MIB}", flags=()):
        self.server = server
        self.name = name
        self.arguments = [
            "agent",
            "--server", server.endpoint,
            "--cluster", cluster,
            "--data", str(server.folder / name),
            "--instance-id", f"i-{name}",
            "--gpus", gpus,
            "--image-pull-behavior", "prefer-cached",
            *flags,
        ]
        self.process = None

    def start(self):
        self.process = Process(self.server.folder, self.name, self.arguments)
        return self

    def kill(self):
        self.process.kill()

    def stop(self):
        return self.process.stop()


# The folders of the test that runs; conftest.py keeps and shows those of one that fails.
FOLDERS_IN_USE = []
FOLDERS_TO_KEEP = set()


@contextlib.contextmanager
def folder():
    """A folder for one test; kept, and named, when the test fails."""
    path = tempfile.mkdtemp(prefix="berth-e2e-")
    FOLDERS_IN_USE.append(path)
    try:
        yield path
    finally:
        FOLDERS_IN_USE.remove(path)
        if path not in FOLDERS_TO_KEEP:
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def running_server(*flags):
    with folder() as path:
        server = Server(path, *flags).start()
        try:
            yield server
        finally:
            if server.process.alive():
                server.stop()


@contextlib.contextmanager
def new_cluster(server):
    """The name of a new cluster; what Docker ran for it is removed at the end."""
    name = f"e2e-{uuid.uuid4().hex[:12]}"
    server.client().create_cluster(clusterName=name)
    try:
        yield name
    finally:
        docker_remove_all(name)


@contextlib.contextmanager
def running_agents(server, cluster, *agents):
    """Starts the agents and waits until all of them are connected."""
    for agent in agents:
        agent.start()
    try:
        wait_for_instances(server.client(), cluster, len(agents))
        yield agents
    finally:
        for agent in agents:
            if agent.process.alive():
                agent.stop()


def wait_for_instances(ecs, cluster, count):
    def look():
        instances = connected_instances(ecs, cluster)
        return instances if len(instances) >= count else None

    return wait_until(f"{count} connected container instances", look, seconds=READY_SECONDS)


def connected_instances(ecs, cluster):
    return [i for i in describe_instances(ecs, cluster) if i["agentConnected"]]


def describe_instances(ecs, cluster):
    arns = [
        arn
        for page in ecs.get_paginator("list_container_instances").paginate(cluster=cluster)
        for arn in page["containerInstanceArns"]
    ]
    instances = []
    for start in range(0, len(arns), 100):
        answer = ecs.describe_container_instances(
            cluster=cluster, containerInstances=arns[start : start + 100]
        )
        assert not answer["failures"], answer["failures"]
        instances += answer["containerInstances"]
    return instances


def list_all_tasks(ecs, cluster):
    arns = []
    for status in ("RUNNING", "STOPPED"):
        for page in ecs.get_paginator("list_tasks").paginate(cluster=cluster, desiredStatus=status):
            arns += page["taskArns"]
    return arns


def describe_tasks(ecs, cluster, arns):
    tasks = []
    for start in range(0, len(arns), 100):
        answer = ecs.describe_tasks(cluster=cluster, tasks=arns[start : start + 100])
        assert not answer["failures"], answer["failures"]
        tasks += answer["tasks"]
    return tasks


def describe_task(ecs, cluster, arn):
    return describe_tasks(ecs, cluster, [arn])[0]


def wait_for_task(ecs, cluster, arn, status, seconds=60):
    """The task once it has that lastStatus; fails at once when it stopped instead."""

    def look():
        task = describe_task(ecs, cluster, arn)
        if status != "STOPPED" and task["lastStatus"] == "STOPPED":
            reasons = [c.get("reason") for c in task["containers"]]
            raise AssertionError(f"the task stopped: {task.get('stoppedReason')} {reasons}")
        return task if task["lastStatus"] == status else None

    return wait_until(f"task {arn} {status}", look, seconds)


SLEEP = ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done"]


def container(name="main", **members):
    """A container definition of the local image that waits until it is stopped."""
    return {"name": name, "image": IMAGE, "memory": 16, "command": SLEEP, **members}


def share(memory, percent=None):
    strategy = {"memory": memory}
    if percent is not None:
        strategy["maxComputePercent"] = percent
    return [{"type": "GPU", "sharingStrategy": {"nvidiaMps": strategy}}]


def whole(count):
    return [{"type": "GPU", "value": str(count)}]


def register(ecs, family, *containers, **members):
    answer = ecs.register_task_definition(
        family=family, containerDefinitions=list(containers), **members
    )
    return answer["taskDefinition"]["taskDefinitionArn"]


def emulated_instance(ecs, cluster, number, gpus=8, gpu_mib=81559, memory=2_000_000, cpu=256_000):
    """Registers an instance as a stock SDK can: GPU_MEMORY resources, as the model has no gpuInfo."""
    ids = [f"GPU-{number:08x}-{gpu:04x}" for gpu in range(gpus)]
    resources = [
        {"name": "CPU", "type": "INTEGER", "integerValue": cpu},
        {"name": "MEMORY", "type": "INTEGER", "integerValue": memory},
        {"name": "PORTS", "type": "STRINGSET", "stringSetValue": ["22"]},
        {"name": "PORTS_UDP", "type": "STRINGSET", "stringSetValue": []},
    ]
    resources += [
        {"name": f"GPU_MEMORY:{gpu}", "type": "INTEGER", "integerValue": gpu_mib} for gpu in ids
    ]
    return ecs.register_container_instance(
        cluster=cluster,
        totalResources=resources,
        platformDevices=[{"id": gpu, "type": "GPU"} for gpu in ids],
        attributes=[{"name": "ecs.capability.gpu-sharing-mps"}],
        versionInfo={"agentVersion": "0.0.0", "agentHash": "none", "dockerVersion": "none"},
    )["containerInstance"]


# --- Docker, asked directly: what really runs ---------------------------------------------------


def docker(*arguments, check=True):
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False, timeout=120)
    if check and done.returncode != 0:
        raise AssertionError(f"docker {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def docker_containers(cluster, everything=False):
    """What `docker inspect` says of the cluster's containers; the running ones unless asked."""
    arguments = ["ps", "-q", "--no-trunc", "--filter", f"label=com.amazonaws.ecs.cluster={cluster}"]
    ids = docker(*arguments, *(["-a"] if everything else [])).split()
    if not ids:
        return []
    # One that is removed meanwhile makes docker inspect fail, but not the others' answers.
    found = subprocess.run(["docker", "inspect", *ids], capture_output=True, text=True, check=False)
    return json.loads(found.stdout or "[]")


def label(container_, name):
    return container_["Config"]["Labels"].get(f"com.amazonaws.ecs.{name}")


def docker_remove_all(cluster):
    subprocess.run(
        [str(REPOSITORY / "deploy/demo/remove-containers.sh"), cluster],
        check=False,
        capture_output=True,
        timeout=120,
    )


def environment_of(container_):
    # A name without "=" is Docker's way to take away what the image sets.
    return dict(e.split("=", 1) for e in container_["Config"]["Env"] or [] if "=" in e)
