"""Who calls: signatures as botocore makes them, right and changed by hand; roles; keys that end."""

import base64
import contextlib
import datetime
import http.client
import json
import os
import pathlib
import socket
import stat
import statistics
import subprocess
import time
import urllib.parse

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.credentials
import botocore.exceptions
import harness
import pytest

PREFIX = "AmazonEC2ContainerServiceV20141113."
MISMATCH = (
    "The request signature we calculated does not match the signature you provided. Check your AWS "
    "Secret Access Key and signing method. Consult the service documentation for details."
)
UNRECOGNIZED = (
    "UnrecognizedClientException",
    "The security token included in the request is invalid.",
)


class Keys:
    """`berth key` against one server."""

    def __init__(self, server):
        self.server = server

    def run(self, *arguments, check=True):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        done = subprocess.run(
            [harness.BERTH, "key", *arguments,
             "--server", self.server.endpoint, "--data", str(self.server.data)],
            capture_output=True, text=True, timeout=30, check=False, env=environment,
        )
        if check:
            assert done.returncode == 0, done.stderr
        return done

    def create(self, role, *flags):
        key = json.loads(self.run("create", "--role", role, "--output", "json", *flags).stdout)
        return botocore.credentials.Credentials(key["accessKeyId"], key["secretAccessKey"])

    def revoke(self, key):
        self.run("revoke", key.access_key)


@pytest.fixture(scope="module")
def server():
    with harness.running_server("--auth", "sigv4") as running:
        yield running


@pytest.fixture(scope="module")
def keys(server):
    return Keys(server)


@pytest.fixture(scope="module")
def admin(server):
    return read_credentials(server.data / "admin-credentials")


@pytest.fixture(scope="module")
def operator(keys):
    return keys.create("operator", "--user", "ci")


def read_credentials(path):
    lines = dict(
        line.split(" = ", 1) for line in path.read_text().splitlines() if " = " in line
    )
    return botocore.credentials.Credentials(
        lines["aws_access_key_id"], lines["aws_secret_access_key"]
    )


def client(server, key, region="us-east-1"):
    return boto3.client(
        "ecs",
        endpoint_url=server.endpoint,
        region_name=region,
        aws_access_key_id=key.access_key,
        aws_secret_access_key=key.secret_key,
        config=botocore.config.Config(retries={"total_max_attempts": 1, "mode": "standard"}),
    )


class Signer(botocore.auth.SigV4Auth):
    """botocore's, with a clock that can be off."""

    def __init__(self, key, region="us-east-1", service="ecs", off=datetime.timedelta()):
        super().__init__(key, service, region)
        self.off = off

    def add_auth(self, request):
        now = datetime.datetime.now(datetime.timezone.utc) + self.off
        request.context["timestamp"] = now.strftime("%Y%m%dT%H%M%SZ")
        self._modify_request_before_signing(request)
        canonical = self.canonical_request(request)
        to_sign = self.string_to_sign(request, canonical)
        self._inject_signature_to_request(request, self.signature(to_sign, request))


def signed(server, key, action="ListClusters", body="{}", headers=None, **options):
    request = botocore.awsrequest.AWSRequest(
        method="POST",
        url=server.endpoint + "/",
        data=body,
        headers={
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": PREFIX + action,
            **(headers or {}),
        },
    )
    Signer(key, **options).add_auth(request)
    return {"method": "POST", "path": "/", "body": body, "headers": dict(request.headers.items())}


def send(server, request):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    with contextlib.closing(connection):
        connection.request(
            request["method"], request["path"], body=request["body"], headers=request["headers"]
        )
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def refusal(server, request):
    status, body = send(server, request)
    assert status == 400, body
    return body["__type"], body["message"]


# --- right and wrong signatures ---------------------------------------------------------------------


def test_a_signed_call_is_answered(server, operator):
    status, body = send(server, signed(server, operator))

    assert status == 200
    assert body["clusterArns"] == ["arn:aws:ecs:us-east-1:000000000000:cluster/default"]


def test_boto3_works_as_it_is(server, operator):
    assert client(server, operator).list_clusters()["clusterArns"]


def test_any_region_may_be_signed_for(server, operator):
    answer = client(server, operator, "eu-west-3").list_clusters()

    assert answer["clusterArns"][0].startswith("arn:aws:ecs:us-east-1:")


def test_a_wrong_secret_is_refused(server, operator):
    wrong = botocore.credentials.Credentials(operator.access_key, "x" * 40)

    assert refusal(server, signed(server, wrong)) == ("InvalidSignatureException", MISMATCH)
    with pytest.raises(botocore.exceptions.ClientError, match="InvalidSignatureException"):
        client(server, wrong).list_clusters()


@pytest.mark.parametrize("minutes", [4, -4])
def test_a_clock_that_is_a_little_off_will_do(server, operator, minutes):
    off = datetime.timedelta(minutes=minutes)

    assert send(server, signed(server, operator, off=off))[0] == 200


def test_a_stale_request_is_refused(server, operator):
    code, message = refusal(
        server, signed(server, operator, off=-datetime.timedelta(minutes=6))
    )

    assert code == "InvalidSignatureException"
    assert message.startswith("Signature expired: ")


def test_a_request_of_the_future_is_refused(server, operator):
    code, message = refusal(server, signed(server, operator, off=datetime.timedelta(minutes=6)))

    assert code == "InvalidSignatureException"
    assert message.startswith("Signature not yet current: ")


def test_another_service_is_refused(server, operator):
    assert refusal(server, signed(server, operator, service="s3")) == (
        "InvalidSignatureException",
        "Credential should be scoped to correct service: 'ecs'.",
    )


def test_a_region_that_is_none_is_refused(server, operator):
    assert refusal(server, signed(server, operator, region="us east")) == (
        "InvalidSignatureException",
        "Credential should be scoped to a valid region.",
    )


def change_body(request):
    request["body"] = '{"maxResults":1}'


def change_action(request):
    request["headers"]["X-Amz-Target"] = PREFIX + "ListTasks"


def change_content_type(request):
    request["headers"]["Content-Type"] = "text/plain"


def change_host(request):
    request["headers"]["Host"] = "example.com"


def change_path(request):
    request["path"] = "/?x=y"


def change_signature(request):
    text = request["headers"]["Authorization"]
    request["headers"]["Authorization"] = text[:-1] + ("0" if text[-1] != "0" else "1")


def change_region(request):
    request["headers"]["Authorization"] = request["headers"]["Authorization"].replace(
        "us-east-1", "us-west-1"
    )


@pytest.mark.parametrize(
    "change",
    [change_body, change_action, change_content_type, change_host, change_path, change_signature,
     change_region],
)
def test_what_was_changed_on_the_way_is_refused(server, operator, change):
    request = signed(server, operator)
    request["headers"].setdefault("Host", f"127.0.0.1:{server.port}")
    assert send(server, request)[0] == 200

    change(request)

    assert refusal(server, request) == ("InvalidSignatureException", MISMATCH)


def test_a_header_that_matters_and_was_not_signed_is_refused(server, operator):
    request = signed(server, operator)
    request["headers"]["X-Amz-Security-Token"] = "token"

    assert refusal(server, request) == (
        "InvalidSignatureException",
        "'x-amz-security-token' must be a 'SignedHeader' in the AWS Authorization.",
    )


def test_a_header_of_no_meaning_may_be_added(server, operator):
    request = signed(server, operator)
    request["headers"]["X-Forwarded-For"] = "192.0.2.1"

    assert send(server, request)[0] == 200


def test_a_replay_within_the_window_is_answered_and_does_once_what_it_does(server, operator):
    request = signed(server, operator, "CreateCluster", '{"clusterName":"replayed"}')

    first, again = send(server, request), send(server, request)

    assert first == again
    assert first[0] == 200


def test_an_unknown_key_is_refused(server, operator):
    unknown = botocore.credentials.Credentials("AKIAZZZZZZZZZZZZZZZZ", operator.secret_key)

    assert refusal(server, signed(server, unknown)) == UNRECOGNIZED


def test_a_session_token_is_refused(server, operator):
    token = botocore.credentials.Credentials(operator.access_key, operator.secret_key, "token")

    assert refusal(server, signed(server, token)) == UNRECOGNIZED


def test_a_call_without_a_signature_is_refused(server, operator):
    request = signed(server, operator)
    del request["headers"]["Authorization"]

    assert refusal(server, request) == (
        "MissingAuthenticationTokenException",
        "Missing Authentication Token",
    )


def test_a_malformed_authorization_is_refused(server, operator):
    request = signed(server, operator)
    request["headers"]["Authorization"] = "AWS4-HMAC-SHA256 Credential=x"

    assert refusal(server, request)[0] == "IncompleteSignatureException"


def test_what_is_refused_has_done_nothing(server, operator):
    request = signed(server, operator, "CreateCluster", '{"clusterName":"never"}')
    change_signature(request)

    refusal(server, request)

    answer = client(server, operator).describe_clusters(clusters=["never"])
    assert answer["failures"][0]["reason"] == "MISSING"


def test_the_time_of_a_refusal_does_not_tell_where_the_signature_is_wrong(server, operator):
    """Coarse: the comparison's own time is far below a network's noise; this finds an early exit of
    the whole check, not of a byte. That bytes are compared in constant time is OpenSSL's."""

    def variant(position):
        request = signed(server, operator)
        text = request["headers"]["Authorization"]
        at = len(text) - 64 + position
        digit = "0" if text[at] != "0" else "1"
        request["headers"]["Authorization"] = text[:at] + digit + text[at + 1 :]
        return request

    times = {0: [], 63: []}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    with contextlib.closing(connection):
        for _ in range(300):
            for position, measured in times.items():
                request = variant(position)
                began = time.perf_counter()
                connection.request("POST", "/", body=request["body"], headers=request["headers"])
                connection.getresponse().read()
                measured.append(time.perf_counter() - began)
    first, last = (statistics.median(measured) for measured in times.values())

    assert abs(first - last) < 0.2 * max(first, last)


# --- keys, roles and policies -----------------------------------------------------------------------


def test_the_first_start_makes_an_admin_and_tells_no_secret(server, admin):
    path = server.data / "admin-credentials"

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((server.data / "secrets.key").stat().st_mode) == 0o600
    log = server.process.log.read_text()
    assert admin.access_key in log
    assert admin.secret_key not in log
    database = b"".join(p.read_bytes() for p in server.data.glob("berth.db*"))
    assert admin.access_key.encode() in database
    assert admin.secret_key.encode() not in database


def test_keys_are_listed_without_their_secrets(server, keys, operator):
    text = keys.run("list").stdout
    answer = keys.run("list", "--output", "json").stdout

    assert operator.access_key in text
    assert operator.secret_key not in text + answer
    key = next(k for k in json.loads(answer)["keys"] if k["accessKeyId"] == operator.access_key)
    assert (key["user"], key["role"], key["status"]) == ("ci", "operator", "ACTIVE")


def test_credentials_come_from_the_environment_or_a_profile(server, operator, admin, tmp_path):
    def listed(environment, *flags):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        return subprocess.run(
            [harness.BERTH, "key", "list", "--server", server.endpoint, "--data", str(tmp_path), *flags],
            capture_output=True, text=True, timeout=30, check=False, env={**clean, **environment},
        )

    file = tmp_path / "credentials"
    file.write_text(
        f"[default]\naws_access_key_id=AKIAX\naws_secret_access_key=x\n\n[root]\n"
        f"aws_access_key_id = {admin.access_key}\naws_secret_access_key = {admin.secret_key}\n"
    )
    environment = {
        "AWS_ACCESS_KEY_ID": admin.access_key,
        "AWS_SECRET_ACCESS_KEY": admin.secret_key,
    }

    assert listed({}).returncode == 1
    assert "admin-credentials" in listed({}).stderr
    assert listed(environment).returncode == 0
    assert listed({}, "--credentials-file", str(file), "--profile", "root").returncode == 0
    assert listed({"AWS_SHARED_CREDENTIALS_FILE": str(file), "AWS_PROFILE": "root"}).returncode == 0
    wrong = listed({}, "--credentials-file", str(file))
    assert "UnrecognizedClientException" in wrong.stderr


def test_a_viewer_looks_and_does_not_touch(server, keys):
    ecs = client(server, keys.create("viewer"))

    assert ecs.describe_clusters()["clusters"]
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        ecs.create_cluster(clusterName="mine")
    assert caught.value.response["Error"] == {
        "Code": "AccessDeniedException",
        "Message": "User: arn:aws:iam::000000000000:user/viewer is not authorized to perform: "
        "ecs:CreateCluster on resource: arn:aws:ecs:us-east-1:000000000000:cluster/mine because no "
        "identity-based policy allows the ecs:CreateCluster action",
    }


def test_only_admins_have_to_do_with_keys(server, keys, operator, tmp_path):
    file = tmp_path / "credentials"
    file.write_text(
        f"[default]\naws_access_key_id = {operator.access_key}\n"
        f"aws_secret_access_key = {operator.secret_key}\n"
    )
    for arguments in (["list"], ["create", "--role", "admin"], ["revoke", operator.access_key]):
        done = keys.run(*arguments, "--credentials-file", str(file), check=False)
        assert done.returncode == 1
        assert "AccessDeniedException: User: arn:aws:iam::000000000000:user/ci" in done.stderr


def test_a_policy_narrows_what_a_key_may_do(server, keys, tmp_path):
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps({
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "ecs:*", "Resource": "*"},
            {"Effect": "Deny", "Action": "ecs:*", "Resource": "arn:aws:ecs:*:*:cluster/prod*"},
        ],
    }))
    ecs = client(server, keys.create("operator", "--policy", str(policy)))

    ecs.create_cluster(clusterName="dev")
    with pytest.raises(botocore.exceptions.ClientError, match="explicit deny"):
        ecs.create_cluster(clusterName="prod-1")


def test_a_condition_is_refused_by_name(server, keys, tmp_path):
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps({"Statement": {
        "Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"Bool": {}}}}))

    done = keys.run("create", "--role", "viewer", "--policy", str(policy), check=False)

    assert done.returncode == 1
    assert "Condition is not supported" in done.stderr


def test_a_revoked_key_is_refused_at_its_next_call(server, keys):
    key = keys.create("operator")
    assert send(server, signed(server, key))[0] == 200

    keys.revoke(key)

    assert refusal(server, signed(server, key)) == UNRECOGNIZED


def test_keys_survive_a_restart_and_the_wrong_key_file_is_refused():
    with harness.running_server("--auth", "sigv4") as server:
        keys = Keys(server)
        key, revoked = keys.create("operator"), keys.create("operator")
        keys.revoke(revoked)
        before = (server.data / "admin-credentials").read_text()

        server.kill()
        server.start()

        assert send(server, signed(server, key))[0] == 200
        assert refusal(server, signed(server, revoked)) == UNRECOGNIZED
        assert (server.data / "admin-credentials").read_text() == before

        server.stop()
        secrets = server.data / "secrets.key"
        text = secrets.read_text()
        for wrong, why in (("0" * 64, "sealed with"), (None, "is missing")):
            secrets.unlink()
            if wrong is not None:
                secrets.touch(mode=0o600)
                secrets.write_text(wrong)
            done = start_once(server)
            assert done.returncode == 1
            assert why in done.stderr
        secrets.touch(mode=0o644)
        secrets.write_text(text)
        assert "has mode 0644" in start_once(server).stderr
        secrets.chmod(0o600)
        server.start()


def recover(server):
    return subprocess.run(
        [harness.BERTH, "key", "recover", "--data", str(server.data)],
        capture_output=True, text=True, timeout=30, check=False,
    )


def test_who_has_lost_every_admins_key_makes_another_in_the_data_folder():
    with harness.running_server("--auth", "sigv4") as server:
        lost = read_credentials(server.data / "admin-credentials")
        assert "berth.db" in recover(server).stderr  # The server has it open.
        server.stop()
        assert f"nothing is lost: {server.data}/admin-credentials" in recover(server).stderr
        (server.data / "admin-credentials").unlink()

        done = recover(server)

        assert done.returncode == 0, done.stderr
        found = read_credentials(server.data / "admin-credentials")
        assert found.access_key in done.stdout and found.secret_key not in done.stdout + done.stderr
        assert stat.S_IMODE((server.data / "admin-credentials").stat().st_mode) == 0o600
        server.start()
        assert read_credentials(server.data / "admin-credentials").access_key == found.access_key
        Keys(server).revoke(lost)
        assert refusal(server, signed(server, lost)) == UNRECOGNIZED
        assert send(server, signed(server, found))[0] == 200


def test_a_key_is_recovered_in_a_data_folder_only(tmp_path):
    done = subprocess.run(
        [harness.BERTH, "key", "recover", "--data", str(tmp_path / "none")],
        capture_output=True, text=True, timeout=30, check=False,
    )

    assert done.returncode == 2
    assert "there is no berth.db" in done.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("lost", ["empty", "gone"])
def test_a_server_does_not_begin_anew_where_its_database_was_lost(lost):
    with harness.running_server("--auth", "sigv4") as server:
        assert (server.data / "berth.db").stat().st_size > 0
        server.stop()
        for path in server.data.glob("berth.db*"):
            path.unlink()
        if lost == "empty":
            (server.data / "berth.db").touch()

        done = start_once(server)

        assert done.returncode == 1
        assert f"move {server.data}/secrets.key away" in done.stderr
        (server.data / "secrets.key").unlink()
        server.start()


def start_once(server):
    return subprocess.run(
        [harness.BERTH, "server", "--auth", "sigv4", "--listen", "127.0.0.1:0", "--data",
         str(server.data)],
        capture_output=True, text=True, timeout=30, check=False,
    )


# --- agents -----------------------------------------------------------------------------------------


class Channel:
    """A handshake of an agent's channel, signed as the official agent does it."""

    def __init__(self, server, key, instance_arn, cluster="default"):
        query = urllib.parse.urlencode(
            {"clusterArn": cluster, "containerInstanceArn": instance_arn, "protocolVersion": "2"},
            quote_via=urllib.parse.quote,
        )
        request = botocore.awsrequest.AWSRequest(
            method="GET", url=f"{server.endpoint}/acs/ws?{query}", headers={}
        )
        Signer(key).add_auth(request)
        lines = [f"GET /acs/ws?{query} HTTP/1.1", f"Host: 127.0.0.1:{server.port}"]
        lines += [f"{name}: {value}" for name, value in request.headers.items()]
        lines += [
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        ]
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.received = b""
        while b"\r\n\r\n" not in self.received:
            self.received += self.socket.recv(65536)
        self.status = int(self.received.split()[1])

    def read_to_the_end(self):
        with contextlib.suppress(ConnectionResetError):
            while piece := self.socket.recv(65536):
                self.received += piece
        return self.received


def register_instance(server, key, cluster="default"):
    answer = client(server, key).register_container_instance(
        cluster=cluster,
        totalResources=[
            {"name": "CPU", "type": "INTEGER", "integerValue": 1024},
            {"name": "MEMORY", "type": "INTEGER", "integerValue": 1024},
        ],
        versionInfo={"agentVersion": "0.0.0", "agentHash": "none", "dockerVersion": "none"},
    )
    return answer["containerInstance"]["containerInstanceArn"]


def test_revoking_a_key_closes_the_channel_that_it_opened(server, keys):
    key, other = keys.create("agent", "--user", "node-1"), keys.create("agent", "--user", "node-2")
    channel = Channel(server, key, register_instance(server, key))
    kept = Channel(server, other, register_instance(server, other))
    assert (channel.status, kept.status) == (101, 101)

    keys.revoke(key)

    assert b"the access key was revoked" in channel.read_to_the_end()
    kept.socket.settimeout(0.5)
    with pytest.raises(TimeoutError):
        kept.read_to_the_end()


def test_an_agents_key_speaks_for_its_own_instance_alone(server, keys, operator):
    key, other = keys.create("agent", "--user", "node-3"), keys.create("agent", "--user", "node-4")
    instance = register_instance(server, key)

    stranger = Channel(server, other, instance)
    assert stranger.status == 400
    assert b"AccessDeniedException" in stranger.received
    assert Channel(server, key, instance).status == 101
    with pytest.raises(botocore.exceptions.ClientError, match="AccessDeniedException"):
        client(server, other).deregister_container_instance(
            containerInstance=instance, force=True
        )
    with pytest.raises(botocore.exceptions.ClientError, match="AccessDeniedException"):
        client(server, key).run_task(taskDefinition="x")


def test_a_channel_needs_a_good_signature(server, keys, operator):
    key = keys.create("agent", "--user", "node-5")
    instance = register_instance(server, key)

    wrong = Channel(server, botocore.credentials.Credentials(key.access_key, "x" * 40), instance)
    viewer = Channel(server, keys.create("viewer"), instance)

    assert (wrong.status, viewer.status) == (400, 400)
    assert b"AccessDeniedException" in wrong.received
    assert b"ecs:Poll" in viewer.received


# --- beside the API ---------------------------------------------------------------------------------


def test_health_is_for_everybody_and_metrics_for_this_machine(server):
    for path in ("/healthz", "/readyz", "/metrics"):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", path)
            assert connection.getresponse().status == 200


def test_a_page_that_rebinds_its_name_does_not_read_metrics(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", "/metrics", headers={"Host": "attacker.example"})
        response = connection.getresponse()
        assert response.status == 400
        assert json.loads(response.read())["__type"] == "MissingAuthenticationTokenException"


def test_who_did_what_is_in_the_audit_log(server, keys, operator):
    key = keys.create("viewer", "--user", "auditor")
    ecs = client(server, key)
    ecs.list_clusters()
    with pytest.raises(botocore.exceptions.ClientError):
        ecs.create_cluster(clusterName="audited")
    client(server, operator).create_cluster(clusterName="audited")

    def look():
        lines = (server.data / "audit.log").read_text().splitlines()
        entries = [e for e in map(json.loads, lines) if "audited" in str(e.get("resources"))]
        return entries if len(entries) == 2 else None

    refused, created = harness.wait_until("both entries", look)
    assert (refused["code"], refused["accessKeyId"]) == ("AccessDeniedException", key.access_key)
    assert refused["principal"].endswith("user/auditor")
    assert (created["code"], created["action"]) == ("OK", "ecs:CreateCluster")
    assert created["resources"] == ["arn:aws:ecs:us-east-1:000000000000:cluster/audited"]
    assert created["sourceAddress"] == "127.0.0.1"
    text = (server.data / "audit.log").read_text()
    reads = [e for e in map(json.loads, text.splitlines()) if e["action"] == "ecs:ListClusters"]
    assert all(e["code"] != "OK" for e in reads)
    assert key.secret_key not in text
    assert stat.S_IMODE(pathlib.Path(server.data / "audit.log").stat().st_mode) == 0o600


def test_one_that_calls_too_often_is_throttled_and_others_are_not():
    with harness.running_server("--auth", "sigv4", "--throttle", "read=1:2,mutate=off") as server:
        keys = Keys(server)
        first, second = keys.create("viewer"), keys.create("viewer")

        codes = [send(server, signed(server, first)) for _ in range(4)]

        assert [status for status, _ in codes[:2]] == [200, 200]
        assert codes[3][1] == {"__type": "ThrottlingException", "message": "Rate exceeded"}
        assert send(server, signed(server, second))[0] == 200
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", "/metrics")
            assert 'berth_throttled_total{class="read"}' in connection.getresponse().read().decode()
