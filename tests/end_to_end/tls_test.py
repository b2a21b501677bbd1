"""A server that speaks TLS, and everything that talks to it: boto3, the AWS CLI, node, agents.

The certificate is the one that --tls-self-signed makes; its authority is all that a client is given.
"""

import contextlib
import fcntl
import http.client
import os
import pathlib
import shutil
import ssl
import subprocess
import termios

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import SSLError

import harness

HERE = pathlib.Path(__file__).resolve().parent


class TlsServer:
    """A berth server with TLS; what the harness' Agent needs of a server."""

    def __init__(self, folder, *flags):
        self.folder = pathlib.Path(folder)
        self.data = self.folder / "server"
        self.port = harness.free_port()
        self.endpoint = f"https://127.0.0.1:{self.port}"
        self.flags = flags
        self.process = None

    @property
    def ca(self):
        return str(self.data / "ca.pem")

    def start(self):
        self.process = harness.Process(
            self.folder,
            "server",
            ["server", "--listen", f"127.0.0.1:{self.port}", "--data", str(self.data),
             "--auth", "none", "--tls-self-signed", *self.flags],
        )
        self.process.wait_for_line(r"^berth server is ready on (https://\S+)$")
        return self

    def client(self, verify=None, endpoint=None):
        return make_client(endpoint or self.endpoint, verify or self.ca)


def make_client(endpoint, verify, key_id="test", secret="test"):
    return boto3.client(
        "ecs",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        verify=verify,
        config=Config(
            retries={"total_max_attempts": 1, "mode": "standard"}, connect_timeout=5, read_timeout=30
        ),
    )


@contextlib.contextmanager
def running(*flags):
    with harness.folder() as path:
        server = TlsServer(path, *flags).start()
        try:
            yield server
        finally:
            if server.process.alive():
                server.process.stop()


@pytest.fixture
def tls():
    with running() as server:
        yield server


def agent(server, name="agent", *flags, runtime="simulated"):
    return harness.Agent(
        server, "default", name=name,
        flags=["--ca-file", server.ca, "--runtime", runtime, *flags],
    )


def test_boto3_trusts_the_server_by_its_ca_file(tls):
    assert tls.client().list_clusters()["clusterArns"]


def test_boto3_does_not_trust_the_server_by_the_systems_authorities(tls):
    with pytest.raises(SSLError):
        tls.client(verify=True).list_clusters()


def test_boto3_reaches_the_server_by_the_name_localhost(tls):
    ecs = tls.client(endpoint=f"https://localhost:{tls.port}")
    assert ecs.list_clusters()["clusterArns"]


def test_the_aws_cli_takes_the_ca_bundle(tls):
    done = subprocess.run(
        ["aws", "--endpoint-url", tls.endpoint, "--ca-bundle", tls.ca, "ecs", "list-clusters",
         "--query", "length(clusterArns)", "--output", "text"],
        env={**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
             "AWS_DEFAULT_REGION": "us-east-1"},
        capture_output=True, text=True, timeout=60, check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "1"), done.stderr


NODE = """
import { ECSClient, ListClustersCommand } from "@aws-sdk/client-ecs";
const ecs = new ECSClient({ endpoint: process.argv[2], region: "us-east-1", maxAttempts: 1 });
console.log((await ecs.send(new ListClustersCommand({}))).clusterArns.length);
"""


def test_node_takes_the_ca_from_its_environment(tls):
    script = HERE / f"tls-{os.getpid()}.mjs"  # beside node_modules
    script.write_text(NODE)
    try:
        done = subprocess.run(
            ["node", str(script), tls.endpoint],
            env={**os.environ, "NODE_EXTRA_CA_CERTS": tls.ca, "AWS_ACCESS_KEY_ID": "test",
                 "AWS_SECRET_ACCESS_KEY": "test"},
            capture_output=True, text=True, timeout=60, check=False,
        )
    finally:
        script.unlink()
    assert (done.returncode, done.stdout.strip()) == (0, "1"), done.stderr


def test_a_strict_verifier_accepts_the_certificate(tls):
    context = ssl.create_default_context(cafile=tls.ca)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    connection = http.client.HTTPSConnection("127.0.0.1", tls.port, context=context, timeout=10)
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200


def test_older_tls_is_refused(tls):
    context = ssl.create_default_context(cafile=tls.ca)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    connection = http.client.HTTPSConnection("127.0.0.1", tls.port, context=context, timeout=10)
    connection.request("GET", "/healthz")
    assert connection.sock.version() == "TLSv1.2"
    context = ssl.create_default_context(cafile=tls.ca)
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("DEFAULT@SECLEVEL=0")
    connection = http.client.HTTPSConnection("127.0.0.1", tls.port, context=context, timeout=10)
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        connection.request("GET", "/healthz")


def test_the_secret_files_are_for_their_owner_alone(tls):
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in tls.data.glob("*.pem")}
    assert modes == {"ca.pem": "0o644", "ca-key.pem": "0o600", "server.pem": "0o644",
                     "server-key.pem": "0o600"}


def test_an_agent_runs_a_task_over_tls(tls):
    with contextlib.ExitStack() as stack:
        stack.enter_context(harness.running_agents(tls, "default", agent(tls)))
        ecs = tls.client()
        harness.register(ecs, "web", harness.container())
        task = ecs.run_task(taskDefinition="web")["tasks"][0]["taskArn"]
        harness.wait_for_task(ecs, "default", task, "RUNNING")
        ecs.stop_task(task=task)
        harness.wait_for_task(ecs, "default", task, "STOPPED")


def test_an_agent_runs_a_container_over_tls(tls):
    with contextlib.ExitStack() as stack:
        stack.callback(harness.docker_remove_all, "default")
        stack.enter_context(harness.running_agents(tls, "default", agent(tls, runtime="docker")))
        ecs = tls.client()
        harness.register(ecs, "web", harness.container())
        task = ecs.run_task(taskDefinition="web")["tasks"][0]["taskArn"]
        harness.wait_for_task(ecs, "default", task, "RUNNING")
        ecs.stop_task(task=task)
        harness.wait_for_task(ecs, "default", task, "STOPPED")


def exit_of(process, seconds=30):
    process.process.wait(seconds)
    return process.process.returncode, process.log.read_text()


def test_an_agent_without_the_ca_says_which_flag_to_give(tls):
    process = harness.Process(
        tls.folder, "no-ca",
        ["agent", "--server", tls.endpoint, "--runtime", "simulated", "--data", str(tls.folder / "a")],
    )
    code, log = exit_of(process)
    assert code == 1 and "--ca-file" in log, log


def test_a_certificate_that_changes_is_served_without_a_restart(tls):
    with running() as other:
        for name in ("server-key.pem", "server.pem"):
            shutil.copy(other.data / name, tls.data / name)

        def look():
            try:
                return tls.client(verify=other.ca).list_clusters()
            except SSLError:
                return None

        harness.wait_until("the new certificate", look, seconds=20)


def encrypted_pair(folder):
    """A certificate, and its key under a passphrase."""
    certificate, key = folder / "encrypted.pem", folder / "encrypted-key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-passout", "pass:secret", "-days", "1",
         "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True, timeout=60,
    )
    return certificate, key


def test_a_key_with_a_passphrase_is_refused_and_nobody_is_asked(tmp_path):
    certificate, key = encrypted_pair(tmp_path)
    terminal, end = os.openpty()
    try:
        done = subprocess.run(
            [harness.BERTH, "server", "--listen", "127.0.0.1:0", "--auth", "none", "--data",
             str(tmp_path / "data"), "--tls-certificate", str(certificate), "--tls-key", str(key)],
            stdin=end, stdout=end, stderr=subprocess.PIPE, text=True, timeout=30, check=False,
            preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)),
        )
        os.set_blocking(terminal, False)
        try:
            said = os.read(terminal, 1000)
        except BlockingIOError:
            said = b""
    finally:
        os.close(end)
        os.close(terminal)

    assert done.returncode == 1
    assert f"the key in {key} is encrypted with a passphrase" in done.stderr
    assert said == b""


def test_a_key_with_a_passphrase_leaves_the_one_before_in_use(tls):
    certificate, key = encrypted_pair(tls.folder)
    key.chmod(0o600)
    shutil.copy(key, tls.data / "server-key.pem")
    shutil.copy(certificate, tls.data / "server.pem")

    harness.wait_until(
        "the log says so",
        lambda: "is encrypted with a passphrase" in tls.process.log.read_text(), seconds=20,
    )

    assert tls.client().list_clusters()["clusterArns"]


def test_the_doctor_says_whether_an_agent_would_be_let_in(tls):
    def doctor(*flags):
        done = subprocess.run(
            [harness.BERTH, "doctor", "--server", tls.endpoint, *flags],
            capture_output=True, text=True, timeout=60, check=False,
        )
        return done.stdout

    good = doctor("--ca-file", tls.ca)
    assert "can be reached; its certificate is good until" in good
    assert "credentials" in good
    assert "give the server's CA with --ca-file" in doctor()


def test_plain_http_is_told_to_use_https(tls):
    connection = http.client.HTTPConnection("127.0.0.1", tls.port, timeout=10)
    connection.request("GET", "/")
    response = connection.getresponse()
    assert response.status == 400
    assert b"use https://" in response.read()
