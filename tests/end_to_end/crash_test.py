"""kill -9 in the middle of work: nothing acknowledged is lost, nothing is run twice.

BERTH_SERVER_KILLS and BERTH_AGENT_KILLS say how often (50 and 20).
"""

import os
import random
import threading
import time
import uuid

import botocore.exceptions
import harness
from harness import container, register, share, wait_until

SERVER_KILLS = int(os.environ.get("BERTH_SERVER_KILLS", "50"))
AGENT_KILLS = int(os.environ.get("BERTH_AGENT_KILLS", "20"))
RUNNING_AT_ONCE = 6
SETTLE_SECONDS = 120
SEED = 4711


def until_acknowledged(call):
    """Repeats the call, the same to the letter, until the server answers; gives up with the test.

    The answer, and how often it took more than one call.
    """
    deadline = time.monotonic() + 60
    repeated = 0
    while True:
        try:
            return call(), repeated
        except (botocore.exceptions.HTTPClientError, botocore.exceptions.ConnectionError):
            pass
        except botocore.exceptions.ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] < 500:
                raise
        if time.monotonic() > deadline:
            raise AssertionError("the server did not come back within 60 s")
        repeated += 1
        time.sleep(0.02)


class Stream:
    """Runs and stops tasks for as long as it is let, and remembers what was acknowledged."""

    def __init__(self, server, cluster):
        self.ecs = server.client()
        self.cluster = cluster
        self.random = random.Random(SEED)
        self.by_token = {}  # token -> ARN, as acknowledged
        self.stopped = set()
        self.live = []
        self.acknowledged = 0
        self.repeated = 0
        self.done = threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            while not self.done.is_set():
                self._step()
        except BaseException as failure:  # noqa: BLE001 - told by finish()
            self.failure = failure

    def _call(self, call):
        answer, repeated = until_acknowledged(call)
        self.repeated += repeated
        return answer

    def _step(self):
        if len(self.live) >= RUNNING_AT_ONCE or (self.live and self.random.random() < 0.3):
            arn = self.live.pop(self.random.randrange(len(self.live)))
            self._call(lambda: self.ecs.stop_task(cluster=self.cluster, task=arn))
            self.stopped.add(arn)
            self.acknowledged += 1
            return
        token = uuid.uuid4().hex
        answer = self._call(
            lambda: self.ecs.run_task(
                cluster=self.cluster,
                taskDefinition="stream",
                clientToken=token,
                startedBy=token,
            )
        )
        if answer["failures"]:
            # Full: stopping tasks still hold their share, or the agent is not back yet.
            assert {f["reason"] for f in answer["failures"]} <= {"RESOURCE:GPU", "AGENT"}
            time.sleep(0.02)
            return
        (task,) = answer["tasks"]
        self.by_token[token] = task["taskArn"]
        self.live.append(task["taskArn"])
        self.acknowledged += 1

    def start(self):
        self.thread.start()

    def finish(self):
        self.done.set()
        self.thread.join(90)
        assert not self.thread.is_alive(), "the stream hangs"
        if self.failure:
            raise self.failure


def containers_by_task(cluster):
    return sorted(harness.label(c, "task-arn") for c in harness.docker_containers(cluster))


def test_killed_servers_and_agents_lose_and_double_nothing(server, ecs, cluster):
    agent = harness.Agent(server, cluster)
    with harness.running_agents(server, cluster, agent):
        register(ecs, "stream", container(cpu=1, memory=8, resourceRequirements=share(2000)))
        stream = Stream(server, cluster)
        stream.start()

        moments = random.Random(SEED + 1)
        agent_kills = 0
        for kill in range(SERVER_KILLS):
            seen = stream.acknowledged
            wait_until(
                "the stream goes on after a kill",
                lambda: stream.failure or stream.acknowledged > seen,
                every=0.01,
            )
            time.sleep(moments.uniform(0, 0.3))
            server.kill()
            if kill * AGENT_KILLS // SERVER_KILLS >= agent_kills and agent_kills < AGENT_KILLS:
                agent.kill()
                agent.start()
                agent_kills += 1
            server.start()
        assert agent_kills == AGENT_KILLS
        stream.finish()

        print(
            f"{SERVER_KILLS} kills of the server, {AGENT_KILLS} of the agent: "
            f"{len(stream.by_token)} RunTask and {len(stream.stopped)} StopTask acknowledged, "
            f"{stream.repeated} sent again"
        )

        # Every acknowledged token has its one task, and no task came from nowhere.
        arns = harness.list_all_tasks(ecs, cluster)
        assert len(arns) == len(set(arns))
        tasks = {t["taskArn"]: t for t in harness.describe_tasks(ecs, cluster, arns)}
        assert {t["startedBy"]: t["taskArn"] for t in tasks.values()} == stream.by_token
        assert len(tasks) == len(stream.by_token)
        for arn in stream.stopped:
            assert tasks[arn]["desiredStatus"] == "STOPPED"

        # A token that was acknowledged still stands for its task.
        token, arn = next(iter(stream.by_token.items()))
        again = ecs.run_task(
            cluster=cluster, taskDefinition="stream", clientToken=token, startedBy=token
        )
        assert [t["taskArn"] for t in again["tasks"]] == [arn]

        def settled():
            found = harness.describe_tasks(ecs, cluster, harness.list_all_tasks(ecs, cluster))
            return all(t["lastStatus"] in ("RUNNING", "STOPPED") and
                       (t["lastStatus"] == t["desiredStatus"]) for t in found)

        wait_until("every task is RUNNING or STOPPED", settled, SETTLE_SECONDS, every=0.5)
        tasks = harness.describe_tasks(ecs, cluster, harness.list_all_tasks(ecs, cluster))
        running = sorted(t["taskArn"] for t in tasks if t["lastStatus"] == "RUNNING")
        assert set(running) == set(stream.live)
        wait_until(
            "the containers on Docker are those of the RUNNING tasks, one each",
            lambda: containers_by_task(cluster) == running,
        )
        ids = {t["taskArn"]: t["containers"][0]["runtimeId"] for t in tasks if t["taskArn"] in running}
        assert {harness.label(c, "task-arn"): c["Id"] for c in harness.docker_containers(cluster)} == ids
        (instance,) = harness.describe_instances(ecs, cluster)
        (gpu,) = instance["gpuDevices"]
        assert gpu["remainingMemoryInMiB"] == harness.GPU_MIB - 2000 * len(running)
        assert gpu["containerCount"] == len(running)


def test_an_agent_reports_what_ended_while_it_was_dead(server, ecs, cluster):
    agent = harness.Agent(server, cluster)
    with harness.running_agents(server, cluster, agent):
        register(ecs, "short", container(command=["sh", "-c", "sleep 2; exit 5"]))
        register(ecs, "long", container())
        short = ecs.run_task(cluster=cluster, taskDefinition="short")["tasks"][0]["taskArn"]
        long = ecs.run_task(cluster=cluster, taskDefinition="long")["tasks"][0]["taskArn"]
        harness.wait_for_task(ecs, cluster, short, "RUNNING")
        kept = harness.wait_for_task(ecs, cluster, long, "RUNNING")["containers"][0]["runtimeId"]

        agent.kill()
        wait_until("the short container ended", lambda: len(harness.docker_containers(cluster)) == 1)
        agent.start()

        task = harness.wait_for_task(ecs, cluster, short, "STOPPED")
        assert task["containers"][0]["exitCode"] == 5
        assert task["stopCode"] == "EssentialContainerExited"
        assert [c["Id"] for c in harness.docker_containers(cluster)] == [kept]
        assert harness.describe_task(ecs, cluster, long)["lastStatus"] == "RUNNING"
        assert len(harness.describe_instances(ecs, cluster)) == 1


def test_a_task_stopped_while_its_agent_was_dead_is_stopped_when_it_is_back(server, ecs, cluster):
    agent = harness.Agent(server, cluster)
    with harness.running_agents(server, cluster, agent):
        register(ecs, "long", container())
        arn = ecs.run_task(cluster=cluster, taskDefinition="long")["tasks"][0]["taskArn"]
        harness.wait_for_task(ecs, cluster, arn, "RUNNING")

        agent.kill()
        ecs.stop_task(cluster=cluster, task=arn)
        assert len(harness.docker_containers(cluster)) == 1
        agent.start()

        harness.wait_for_task(ecs, cluster, arn, "STOPPED")
        assert harness.docker_containers(cluster) == []


def test_a_disconnected_agent_shows_and_takes_no_tasks(server, ecs, cluster):
    agent = harness.Agent(server, cluster)
    with harness.running_agents(server, cluster, agent):
        register(ecs, "any", container())
        agent.kill()
        wait_until(
            "agentConnected is false", lambda: not harness.connected_instances(ecs, cluster)
        )

        answer = ecs.run_task(cluster=cluster, taskDefinition="any")

        assert answer["tasks"] == []
        assert [f["reason"] for f in answer["failures"]] == ["AGENT"]
        agent.start()
        harness.wait_for_instances(ecs, cluster, 1)
        assert ecs.run_task(cluster=cluster, taskDefinition="any")["failures"] == []


def test_revisions_never_restart(server, ecs, cluster):
    first = register(ecs, "counted", container())

    server.kill()
    server.start()

    assert first.endswith(":1")
    assert register(ecs, "counted", container()).endswith(":2")
    described = ecs.describe_task_definition(taskDefinition=first)["taskDefinition"]
    assert described["containerDefinitions"][0]["name"] == "main"
