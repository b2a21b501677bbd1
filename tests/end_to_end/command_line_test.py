"""`berth` itself: settings, exit codes, signals, what it prints."""

import json
import os
import signal
import subprocess

import harness
import pytest


def berth(*arguments, environment=None, cwd=None):
    return subprocess.run(
        [harness.BERTH, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
    )


@pytest.mark.parametrize(
    "command",
    ["dev", "server", "agent", "key", "explain", "plan", "defrag", "export", "doctor", "completion", "api-reference",
     "simulate"],
)
def test_every_command_has_help_with_an_example(command):
    done = berth(command, "--help")

    assert done.returncode == 0
    assert f"berth {command}" in done.stdout.split("xample", 1)[1]


def test_version_is_printed():
    assert berth("--version").stdout.startswith("berth ")


@pytest.mark.parametrize(
    ("why", "arguments", "named"),
    [
        ("no command", [], "subcommand"),
        ("an unknown command", ["sever"], "sever"),
        ("an unknown flag", ["server", "--lisen", "x"], "--lisen"),
        ("no port", ["server", "--listen", "127.0.0.1"], "127.0.0.1"),
        ("no auth on an outside address", ["server", "--listen", "0.0.0.0:0"], "loopback"),
        (
            "signatures in the clear on an outside address",
            ["server", "--auth", "sigv4", "--listen", "192.0.2.1:0"],
            "--insecure-http",
        ),
        (
            "every address, which agents cannot be told",
            ["server", "--auth", "sigv4", "--insecure-http", "--listen", "0.0.0.0:0"],
            "--public-endpoint",
        ),
        ("a throttle of no number", ["server", "--throttle", "mutate=many"], "--throttle"),
        ("a throttle that is off and on", ["server", "--throttle", "off,read=1:1"], "mutate=1000:2000"),
        *[
            (f"a certificate for {name[:20]!r}", ["server", "--tls-self-signed", "--tls-name", name], "--tls-name: ")
            for name in ("a b", "", 300 * "a", "a..b", "-a", "a/b", "1.2.3", "a:0", "*", "a.*.b")
        ],
        ("a key command of no kind", ["key", "delete"], "subcommand"),
        ("a key without a role", ["key", "create"], "--role"),
        ("an account of 3 digits", ["server", "--account", "123"], "12 digits"),
        ("no time for stopped tasks", ["server", "--stopped-task-retention", "0s"], "--stopped-task-retention"),
        ("no room for stopped tasks", ["server", "--stopped-tasks-max", "0"], "--stopped-tasks-max"),
        ("a GPU policy of no name", ["server", "--gpu-policy", "Worth"], "best-fit"),
        ("an agent without a server", ["agent"], "--server"),
        ("GPUs of no size", ["agent", "--server", "http://127.0.0.1:1", "--gpus", "many"], "--gpus"),
        ("a file that is not there", ["server", "--config", "/no/such/file"], "/no/such/file"),
    ],
)
def test_a_wrong_setting_is_usage_error_2_and_is_named(why, arguments, named):
    done = berth(*arguments)

    assert done.returncode == 2, why
    assert named in done.stderr


def test_the_api_reference_is_the_page_in_docs():
    page = (harness.REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")

    assert berth("api-reference").stdout == page


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path):
    port = {source: harness.free_port() for source in ("flag", "environment", "file")}
    config = tmp_path / "berth.toml"
    config.write_text(
        f'[server]\nlisten = "127.0.0.1:{port["file"]}"\ndata = "{tmp_path}/data"\n[agent]\ncluster = "x"\n'
    )
    cases = [
        ("file", [], {}),
        ("environment", [], {"BERTH_LISTEN": f"127.0.0.1:{port['environment']}"}),
        (
            "flag",
            ["--listen", f"127.0.0.1:{port['flag']}"],
            {"BERTH_LISTEN": f"127.0.0.1:{port['environment']}"},
        ),
    ]
    for source, flags, environment in cases:
        server = harness.Process(
            tmp_path, source, ["server", "--config", str(config), *flags], environment
        )
        match = server.wait_for_line(r"ready on http://127\.0\.0\.1:(\d+)$")
        assert int(match[1]) == port[source], source
        assert server.stop() == 0


def test_the_official_agents_variables_reach_the_instance(server, ecs, cluster):
    agent = harness.Process(
        server.folder,
        "agent",
        ["agent", "--server", server.endpoint, "--runtime", "simulated", "--gpus", "none"],
        {
            "ECS_CLUSTER": cluster,
            "ECS_INSTANCE_ATTRIBUTES": '{"rack":"a1"}',
            "ECS_RESERVED_PORTS": "[22, 8123]",
            "ECS_CONTAINER_INSTANCE_TAGS": '{"team":"vision"}',
            "ECS_DATADIR": str(server.folder / "agent-data"),
        },
    )
    try:
        (instance,) = harness.wait_for_instances(ecs, cluster, 1)
        tags = ecs.describe_container_instances(
            cluster=cluster,
            containerInstances=[instance["containerInstanceArn"]],
            include=["TAGS"],
        )["containerInstances"][0]["tags"]
        ports = next(r for r in instance["registeredResources"] if r["name"] == "PORTS")
        assert {"name": "rack", "value": "a1"} in instance["attributes"]
        assert sorted(ports["stringSetValue"]) == ["22", "8123"]
        assert tags == [{"key": "team", "value": "vision"}]
    finally:
        agent.stop()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_in_good_order(number):
    with harness.running_server() as server:
        server.process.process.send_signal(number)

        harness.wait_until("it ended", lambda: not server.process.alive())

        assert server.process.process.returncode == 0


def test_a_signal_ends_the_agent_and_leaves_its_containers_running(server, ecs, cluster):
    agent = harness.Agent(server, cluster)
    with harness.running_agents(server, cluster, agent):
        harness.register(ecs, "left", harness.container())
        arn = ecs.run_task(cluster=cluster, taskDefinition="left")["tasks"][0]["taskArn"]
        harness.wait_for_task(ecs, cluster, arn, "RUNNING")

        assert agent.stop() == 0

        assert len(harness.docker_containers(cluster)) == 1


def test_a_port_in_use_is_a_failure_that_names_it(server, tmp_path):
    done = berth("server", "--listen", f"127.0.0.1:{server.port}", "--data", str(tmp_path))

    assert done.returncode == 1
    assert str(server.port) in done.stderr


def test_json_logs_are_one_object_a_line(tmp_path):
    server = harness.Process(
        tmp_path,
        "server",
        ["server", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "d"), "--log-format", "json"],
    )
    server.wait_for_line("ready on")
    server.stop()

    lines = server.log.read_text().splitlines()
    assert lines
    assert all({"time", "level", "message"} <= json.loads(line).keys() for line in lines)


def test_dev_serves_the_default_cluster_with_this_machine_in_it(tmp_path):
    dev = harness.Process(
        tmp_path,
        "dev",
        ["dev", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "data"), "--runtime", "simulated"],
    )
    try:
        endpoint = dev.wait_for_line(r"^berth dev is ready on (\S+)$")[1]
        ecs = harness.make_client(endpoint)
        (instance,) = harness.wait_for_instances(ecs, "default", 1)
        assert [g["totalMemoryInMiB"] for g in instance["gpuDevices"]] == [22587]
    finally:
        assert dev.stop() == 0


def test_doctor_finds_docker_and_fails_without_it(tmp_path):
    here = berth("doctor", "--output", "json", "--data", str(tmp_path), "--listen", "127.0.0.1:0")
    nowhere = berth(
        "doctor", "--output", "json", "--data", str(tmp_path), "--docker-socket", "/no/docker.sock"
    )

    verdicts = {f["name"]: f["verdict"] for f in json.loads(here.stdout)["findings"]}
    assert here.returncode == 0
    assert verdicts["docker"] == "ok"
    assert nowhere.returncode == 1
    docker = next(f for f in json.loads(nowhere.stdout)["findings"] if f["name"] == "docker")
    assert docker["verdict"] == "problem"
    assert "/no/docker.sock" in docker["found"]


def test_bash_completes_commands_and_flags():
    script = berth("completion", "bash").stdout

    def complete(*words):
        line = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(
            ["bash", "-c", f"{script}\nCOMP_WORDS=({line}) COMP_CWORD={len(words) - 1}; _berth; echo ${{COMPREPLY[@]}}"],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    assert complete("berth", "se") == ["server"]
    assert "--emulate-agents" in complete("berth", "server", "--e")
    assert complete("berth", "completion", "") == ["bash"]
    assert complete("berth", "key", "rev") == ["revoke"]
    assert complete("berth", "key", "create", "--pol") == ["--policy"]
