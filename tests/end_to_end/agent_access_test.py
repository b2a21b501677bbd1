"""A server with keys and TLS, and agents that take their key from a folder they share with it."""

import contextlib
import json
import os
import pathlib
import subprocess

import pytest
from botocore.exceptions import ClientError

import harness
import tls_test


class Server(tls_test.TlsServer):
    """As of the first start: an admin's key, and what agents need in a folder of its own."""

    def __init__(self, folder):
        super().__init__(folder)
        self.access = self.folder / "access"

    def start(self):
        self.process = harness.Process(
            self.folder,
            "server",
            ["server", "--listen", f"127.0.0.1:{self.port}", "--data", str(self.data),
             "--auth", "sigv4", "--tls-self-signed", "--agent-access", str(self.access)],
        )
        self.process.wait_for_line(r"^berth server is ready on (https://\S+)$")
        return self

    def client(self, key=None):
        key_id, secret = key or credentials(self.data / "admin-credentials")
        return tls_test.make_client(self.endpoint, self.ca, key_id, secret)


def credentials(path):
    values = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, equals, value = line.partition("=")
        if equals:
            values[name.strip()] = value.strip()
    return values["aws_access_key_id"], values["aws_secret_access_key"]


@pytest.fixture
def server():
    with harness.folder() as path:
        running = Server(path).start()
        try:
            yield running
        finally:
            if running.process.alive():
                running.process.stop()


def agent(server, runtime="simulated"):
    return harness.Agent(
        server, "default",
        flags=["--ca-file", str(server.access / "ca.pem"),
               "--credentials", str(server.access / "credentials"), "--runtime", runtime],
    )


def run_a_task(server):
    ecs = server.client()
    harness.register(ecs, "web", harness.container())
    task = ecs.run_task(taskDefinition="web")["tasks"][0]["taskArn"]
    harness.wait_for_task(ecs, "default", task, "RUNNING")
    ecs.stop_task(task=task)
    harness.wait_for_task(ecs, "default", task, "STOPPED")


def test_an_agent_with_its_key_runs_a_task_over_a_signed_channel(server):
    with harness.running_agents(server, "default", agent(server)):
        run_a_task(server)


def test_an_agent_with_its_key_runs_a_container_over_a_signed_channel(server):
    with contextlib.ExitStack() as stack:
        stack.callback(harness.docker_remove_all, "default")
        stack.enter_context(harness.running_agents(server, "default", agent(server, "docker")))
        run_a_task(server)


def test_the_agents_key_is_for_its_owner_alone_and_is_no_admins(server):
    assert (server.access / "credentials").stat().st_mode & 0o777 == 0o600
    ecs = server.client(key=credentials(server.access / "credentials"))
    with pytest.raises(ClientError) as refused:
        ecs.create_cluster(clusterName="mine")
    assert refused.value.response["Error"]["Code"] == "AccessDeniedException"


def test_the_agents_key_survives_a_restart(server):
    before = (server.access / "credentials").read_text()
    assert server.process.stop() == 0
    server.start()
    assert (server.access / "credentials").read_text() == before
    with harness.running_agents(server, "default", agent(server)):
        pass


# --- an agent's key is exchanged while the agent runs ------------------------------------------------


def berth_key(server, *arguments):
    done = subprocess.run(
        [harness.BERTH, "key", *arguments, "--server", server.endpoint, "--ca-file", server.ca,
         "--data", str(server.data), "--output", "json"],
        capture_output=True, text=True, timeout=30, check=False,
        env={k: v for k, v in os.environ.items() if not k.startswith("AWS_")},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def new_key(server, user):
    return berth_key(server, "create", "--role", "agent", "--user", user)


def give(server, key):
    """Puts the key in the agents' file, whole, as a secret store would."""
    path = server.access / "credentials"
    new = path.with_suffix(".new")
    new.touch(mode=0o600)
    new.write_text(
        f"[default]\naws_access_key_id = {key['accessKeyId']}\n"
        f"aws_secret_access_key = {key['secretAccessKey']}\n"
    )
    new.rename(path)


def wait_until_out(server):
    harness.wait_until(
        "the agent is out", lambda: not harness.connected_instances(server.client(), "default")
    )


@pytest.mark.parametrize("first", ["the file", "the revocation"])
def test_a_running_agent_goes_over_to_another_key_of_its_user(server, first):
    old, _ = credentials(server.access / "credentials")
    with harness.running_agents(server, "default", agent(server)):
        instance = harness.describe_instances(server.client(), "default")[0]["containerInstanceArn"]
        new = new_key(server, "agent")
        if first == "the file":
            give(server, new)
            berth_key(server, "revoke", old)
        else:
            berth_key(server, "revoke", old)
            wait_until_out(server)
            give(server, new)

        harness.wait_for_instances(server.client(), "default", 1)
        run_a_task(server)

        (again,) = harness.describe_instances(server.client(), "default")
        assert again["containerInstanceArn"] == instance
        # And once more: the instance is the new key's now.
        newest = new_key(server, "agent")
        give(server, newest)
        berth_key(server, "revoke", new["accessKeyId"])
        harness.wait_for_instances(server.client(), "default", 1)
        run_a_task(server)


def test_what_an_agent_has_to_say_waits_for_the_old_key_to_be_revoked(server):
    old, _ = credentials(server.access / "credentials")
    running = agent(server)
    with harness.running_agents(server, "default", running):
        ecs = server.client()
        harness.register(ecs, "web", harness.container())
        task = ecs.run_task(taskDefinition="web")["tasks"][0]["taskArn"]
        harness.wait_for_task(ecs, "default", task, "RUNNING")
        give(server, new_key(server, "agent"))
        ecs.stop_task(task=task)
        harness.wait_until(
            "the agent says what to do",
            lambda: f"berth key revoke {old}" in running.process.log.read_text(),
        )
        assert harness.describe_task(ecs, "default", task)["lastStatus"] == "RUNNING"

        berth_key(server, "revoke", old)

        harness.wait_for_task(ecs, "default", task, "STOPPED")
        harness.wait_for_instances(ecs, "default", 1)


def test_a_key_of_another_user_does_not_take_an_agents_instance(server):
    old, _ = credentials(server.access / "credentials")
    running = agent(server)
    with harness.running_agents(server, "default", running):
        other = new_key(server, "somebody-else")
        give(server, other)
        berth_key(server, "revoke", old)
        harness.wait_until(
            "the agent logs an error that says what would help",
            lambda: any(
                "error" in line and "a key of the same user" in line
                for line in running.process.log.read_text().splitlines()
            ),
        )
        assert not harness.connected_instances(server.client(), "default")
        assert other["accessKeyId"] in server.process.log.read_text()

        give(server, new_key(server, "agent"))

        harness.wait_for_instances(server.client(), "default", 1)


def test_a_running_agent_takes_the_key_that_a_start_made_anew(server):
    before, _ = credentials(server.access / "credentials")
    with harness.running_agents(server, "default", agent(server)):
        berth_key(server, "revoke", before)
        wait_until_out(server)
        assert server.process.stop() == 0

        server.start()

        assert credentials(server.access / "credentials")[0] != before
        harness.wait_for_instances(server.client(), "default", 1)
        run_a_task(server)


def test_an_agent_without_a_key_says_which_flag_to_give(server):
    process = harness.Process(
        server.folder, "no-key",
        ["agent", "--server", server.endpoint, "--runtime", "simulated",
         "--data", str(server.folder / "a"), "--ca-file", server.ca],
    )
    process.process.wait(30)
    log = process.log.read_text()
    assert process.process.returncode == 1 and "--credentials" in log, log
