"""A server with keys and TLS, and agents that take their key from a folder they share with it."""

import contextlib
import pathlib

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


def test_an_agent_without_a_key_says_which_flag_to_give(server):
    process = harness.Process(
        server.folder, "no-key",
        ["agent", "--server", server.endpoint, "--runtime", "simulated",
         "--data", str(server.folder / "a"), "--ca-file", server.ca],
    )
    process.process.wait(30)
    log = process.log.read_text()
    assert process.process.returncode == 1 and "--credentials" in log, log
