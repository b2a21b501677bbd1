"""Definitions that use many fields at once, each effect looked at from inside or with Docker."""

import json
import uuid

import harness
from harness import SLEEP, container, register

MIB = 1024 * 1024
SECOND = 1_000_000_000


def run(ecs, cluster, family, *containers, **members):
    """The task's containers as Docker has them, by name, once the task is RUNNING."""
    register(ecs, family, *containers, **members)
    answer = ecs.run_task(cluster=cluster, taskDefinition=family)
    assert answer["failures"] == []
    arn = answer["tasks"][0]["taskArn"]
    harness.wait_for_task(ecs, cluster, arn, "RUNNING", seconds=90)
    found = harness.docker_containers(cluster, everything=True)
    return arn, {harness.label(c, "container-name"): c for c in found}


def inside(one, script):
    return harness.docker("exec", one["Id"], "sh", "-c", script, check=False).strip()


def network_definition(host_path, shared_volume):
    """Two containers on the bridge network; `main` uses all that goes together there."""
    database = container(
        "database",
        essential=False,
        mountPoints=[{"sourceVolume": "scratch", "containerPath": "/scratch"}],
        command=["sh", "-c", "echo rows > /scratch/rows; " + SLEEP[2]],
        healthCheck={"command": ["CMD", "test", "-s", "/scratch/rows"], "interval": 5},
        startTimeout=60,
    )
    # Where the tests' Docker may not start it, it is created all the same and ends alone.
    allowed = container("allowed", essential=False, privileged=True)
    main = container(
        "main",
        cpu=128,
        memory=64,
        memoryReservation=32,
        entryPoint=["sh", "-c"],
        command=[SLEEP[2]],
        environment=[{"name": "COLOUR", "value": "blue and green"}],
        workingDirectory="/work",
        user="1000:2000",
        readonlyRootFilesystem=True,
        links=["database:db"],
        hostname="main-host",
        dnsServers=["192.0.2.53"],
        dnsSearchDomains=["fields.example"],
        extraHosts=[{"hostname": "elsewhere", "ipAddress": "192.0.2.9"}],
        dockerSecurityOptions=["no-new-privileges"],
        interactive=True,
        pseudoTerminal=True,
        dockerLabels={"team": "fields"},
        ulimits=[{"name": "nofile", "softLimit": 100, "hardLimit": 200}],
        linuxParameters={
            "capabilities": {"add": ["SYS_PTRACE"], "drop": ["NET_RAW"]},
            "devices": [
                {"hostPath": "/dev/null", "containerPath": "/dev/nothing", "permissions": ["read"]}
            ],
            "initProcessEnabled": True,
            "sharedMemorySize": 32,
            "tmpfs": [{"containerPath": "/fast", "size": 16, "mountOptions": ["noexec"]}],
            "maxSwap": 16,
            "swappiness": 60,
        },
        systemControls=[{"namespace": "net.ipv4.ip_unprivileged_port_start", "value": "80"}],
        healthCheck={
            "command": ["CMD-SHELL", "true"],
            "interval": 7,
            "timeout": 3,
            "retries": 4,
            "startPeriod": 2,
        },
        logConfiguration={"logDriver": "json-file", "options": {"max-size": "1m"}},
        mountPoints=[
            {"sourceVolume": "folder", "containerPath": "/folder", "readOnly": True},
            {"sourceVolume": "common", "containerPath": "/common"},
            {"sourceVolume": "fast", "containerPath": "/own"},
        ],
        volumesFrom=[{"sourceContainer": "database", "readOnly": True}],
        dependsOn=[{"containerName": "database", "condition": "HEALTHY"}],
        portMappings=[{"containerPort": 8080, "hostPort": 0, "protocol": "udp"}],
        stopTimeout=2,
    )
    volumes = [
        {"name": "folder", "host": {"sourcePath": host_path}},
        {"name": "scratch"},
        {
            "name": "fast",
            "dockerVolumeConfiguration": {
                "scope": "task",
                "driver": "local",
                "driverOpts": {"type": "tmpfs", "device": "tmpfs", "o": "size=4m"},
                "labels": {"purpose": "speed"},
            },
        },
        {
            "name": "common",
            "dockerVolumeConfiguration": {"scope": "shared", "autoprovision": True},
        },
    ]
    # The shared volume's name is the machine's: one of this test's own.
    volumes[3]["name"] = shared_volume
    main["mountPoints"][1]["sourceVolume"] = shared_volume
    members = {"networkMode": "bridge", "volumes": volumes, "memory": "128", "cpu": "256"}
    return [database, allowed, main], members


def network_checks(found, task_volumes, shared_volume):
    """(field, what is found, what must be)."""
    database, main, allowed = (found[name] for name in ("database", "main", "allowed"))
    host = main["HostConfig"]
    config = main["Config"]
    health = config["Healthcheck"]
    (device,) = host["Devices"]
    fast = task_volumes["fast"]
    port, *_ = main["NetworkSettings"]["Ports"]["8080/udp"]  # For IPv4, and maybe for IPv6.
    common = harness.docker("volume", "inspect", "-f", "{{.Name}}", shared_volume).strip()

    def says(script):
        return inside(main, script)

    return [
        ("family", harness.label(main, "task-definition-family"), "fields-network"),
        ("networkMode", host["NetworkMode"], "bridge"),
        ("name", harness.label(main, "container-name"), "main"),
        ("image", config["Image"], harness.IMAGE),
        ("cpu", host["CpuShares"], 128),
        ("memory", host["Memory"], 64 * MIB),
        ("memoryReservation", host["MemoryReservation"], 32 * MIB),
        ("entryPoint", config["Entrypoint"], ["sh", "-c"]),
        ("command", config["Cmd"], [SLEEP[2]]),
        ("environment", says("echo $COLOUR"), "blue and green"),
        ("workingDirectory", says("pwd"), "/work"),
        ("user", says("id -u; id -g"), "1000\n2000"),
        ("readonlyRootFilesystem", says("touch /x 2>/dev/null || echo refused"), "refused"),
        ("links", says("grep -c -w db /etc/hosts"), "1"),
        ("hostname", says("hostname"), "main-host"),
        ("dnsServers", says("grep -c 'nameserver 192.0.2.53' /etc/resolv.conf"), "1"),
        ("dnsSearchDomains", says("grep -c 'search fields.example' /etc/resolv.conf"), "1"),
        ("extraHosts", says("grep elsewhere /etc/hosts | cut -f1"), "192.0.2.9"),
        ("dockerSecurityOptions", says("grep NoNewPrivs /proc/self/status | cut -f2"), "1"),
        ("interactive", config["OpenStdin"], True),
        ("pseudoTerminal", config["Tty"], True),
        ("dockerLabels", config["Labels"]["team"], "fields"),
        ("ulimits.name", host["Ulimits"][0]["Name"], "nofile"),
        ("ulimits.softLimit", says("ulimit -Sn"), "100"),
        ("ulimits.hardLimit", says("ulimit -Hn"), "200"),
        ("capabilities.add", [c.removeprefix("CAP_") for c in host["CapAdd"]], ["SYS_PTRACE"]),
        ("capabilities.drop", [c.removeprefix("CAP_") for c in host["CapDrop"]], ["NET_RAW"]),
        ("devices.hostPath", device["PathOnHost"], "/dev/null"),
        ("devices.containerPath", says("test -c /dev/nothing && echo yes"), "yes"),
        ("devices.permissions", device["CgroupPermissions"], "r"),
        ("initProcessEnabled", says("grep -c docker-init /proc/1/cmdline"), "1"),
        ("sharedMemorySize", says("df /dev/shm | tail -1 | awk '{print $2}'"), "32768"),
        ("tmpfs.size", says("df /fast | tail -1 | awk '{print $2}'"), "16384"),
        ("tmpfs.containerPath", says("grep -c ' /fast tmpfs' /proc/mounts"), "1"),
        ("tmpfs.mountOptions", says("grep ' /fast ' /proc/mounts | grep -c noexec"), "1"),
        ("maxSwap", host["MemorySwap"], 80 * MIB),
        ("swappiness", host["MemorySwappiness"], 60),
        ("systemControls", says("cat /proc/sys/net/ipv4/ip_unprivileged_port_start"), "80"),
        ("healthCheck.command", health["Test"], ["CMD-SHELL", "true"]),
        ("healthCheck.interval", health["Interval"], 7 * SECOND),
        ("healthCheck.timeout", health["Timeout"], 3 * SECOND),
        ("healthCheck.retries", health["Retries"], 4),
        ("healthCheck.startPeriod", health["StartPeriod"], 2 * SECOND),
        ("logConfiguration.logDriver", host["LogConfig"]["Type"], "json-file"),
        ("logConfiguration.options", host["LogConfig"]["Config"]["max-size"], "1m"),
        ("volumes.host.sourcePath", says("cat /folder/greeting"), "hello"),
        ("mountPoints.containerPath", says("test -d /common && echo yes"), "yes"),
        ("mountPoints.sourceVolume", f"{shared_volume}:/common" in host["Binds"], True),
        ("mountPoints.readOnly", says("touch /folder/x 2>/dev/null || echo refused"), "refused"),
        ("volumes.name", "scratch" in task_volumes, True),
        ("volumes.driver", fast["Driver"], "local"),
        ("volumes.driverOpts", fast["Options"]["o"], "size=4m"),
        ("volumes.driverOpts.type", says("df /own | tail -1 | awk '{print $2}'"), "4096"),
        ("volumes.labels", fast["Labels"]["purpose"], "speed"),
        ("volumes.autoprovision", common, shared_volume),
        ("volumesFrom.sourceContainer", says("cat /scratch/rows"), "rows"),
        ("volumesFrom.readOnly", says("touch /scratch/x 2>/dev/null || echo refused"), "refused"),
        ("portMappings.containerPort", list(host["PortBindings"]), ["8080/udp"]),
        ("portMappings.hostPort", int(port["HostPort"]) > 1024, True),
        ("privileged", allowed["HostConfig"]["Privileged"], True),
        ("dependsOn", database["State"]["StartedAt"] < main["State"]["StartedAt"], True),
        ("healthCheck of the other", database["State"]["Health"]["Status"], "healthy"),
    ]


def test_sixty_fields_used_together_each_have_their_effect(ecs, cluster, agent, tmp_path):
    shared_volume = f"e2e-common-{uuid.uuid4().hex[:12]}"
    (tmp_path / "greeting").write_text("hello\n")
    tmp_path.chmod(0o755)
    containers, members = network_definition(str(tmp_path), shared_volume)
    try:
        arn, found = run(ecs, cluster, "fields-network", *containers, **members)
        task_id = arn.rsplit("/", 1)[1]
        task_volumes = {
            name: json.loads(
                harness.docker("volume", "inspect", f"ecs-fields-network-1-{name}-{task_id}")
            )[0]
            for name in ("scratch", "fast")
        }

        checks = network_checks(found, task_volumes, shared_volume)

        assert len({field for field, _, _ in checks}) >= 60
        assert [c for c in checks if c[1] != c[2]] == []

        ecs.stop_task(cluster=cluster, task=arn)
        task = harness.wait_for_task(ecs, cluster, arn, "STOPPED")
        codes = {c["name"]: c.get("exitCode") for c in task["containers"]}
        assert (codes["main"], codes["database"]) == (0, 0)
    finally:
        harness.docker_remove_all(cluster)
        volumes = harness.docker("volume", "ls", "-q").split()
        mine = [v for v in volumes if v == shared_volume or v.startswith("ecs-fields-network-")]
        for volume in mine:
            harness.docker("volume", "rm", "-f", volume, check=False)


def test_the_containers_of_a_task_can_share_their_processes_and_ipc(ecs, cluster, agent):
    _, found = run(
        ecs,
        cluster,
        "fields-shared",
        container("a", command=["sh", "-c", "echo seen > /dev/shm/f; " + SLEEP[2]]),
        container("b", dependsOn=[{"containerName": "a", "condition": "START"}]),
        networkMode="none",
        pidMode="task",
        ipcMode="task",
    )

    assert inside(found["b"], "cat /dev/shm/f") == "seen"
    assert inside(found["b"], "cat /proc/1/cmdline | tr -d '\\000'") == "/pause"
    assert inside(found["a"], "readlink /proc/self/ns/pid") == inside(
        found["b"], "readlink /proc/self/ns/pid"
    )
    assert inside(found["b"], "ls /sys/class/net") == "lo"  # networkMode none


def test_a_volume_that_is_nowhere_stops_the_task_by_its_name(ecs, cluster, agent):
    register(
        ecs,
        "fields-missing",
        container(),
        volumes=[{"name": "e2e-nowhere", "dockerVolumeConfiguration": {"scope": "shared"}}],
    )
    arn = ecs.run_task(cluster=cluster, taskDefinition="fields-missing")["tasks"][0]["taskArn"]

    task = harness.wait_for_task(ecs, cluster, arn, "STOPPED")

    assert task["stopCode"] == "TaskFailedToStart"
    assert "ResourceInitializationError" in task["stoppedReason"]
    assert "e2e-nowhere" in task["stoppedReason"]


def secrets_folder(agent):
    path = agent.server.folder / agent.name / "secrets"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def test_secrets_are_the_values_of_files_on_the_agents_machine(ecs, cluster, agent):
    (secrets_folder(agent) / "pin").write_text("4711\n")
    (secrets_folder(agent) / "db-AbCdEf").write_text('{"password": "pass word"}')
    manager = "arn:aws:secretsmanager:us-east-1:000000000000:secret:db-AbCdEf"
    _, found = run(
        ecs,
        cluster,
        "fields-secrets",
        container(
            secrets=[
                {"name": "PIN", "valueFrom": "/pin"},
                {"name": "PASSWORD", "valueFrom": f"{manager}:password::"},
            ],
            logConfiguration={
                "logDriver": "json-file",
                "options": {"max-file": "2"},
                "secretOptions": [{"name": "labels", "valueFrom": "pin"}],
            },
        ),
        executionRoleArn="arn:aws:iam::000000000000:role/ecsTaskExecutionRole",
    )

    assert inside(found["main"], "echo $PIN $PASSWORD") == "4711 pass word"
    log = found["main"]["HostConfig"]["LogConfig"]["Config"]
    assert log == {"max-file": "2", "labels": "4711"}


def test_a_secret_that_is_nowhere_stops_the_task_by_its_name(ecs, cluster, agent):
    register(
        ecs,
        "fields-no-secret",
        container(secrets=[{"name": "PIN", "valueFrom": "/nowhere"}]),
        executionRoleArn="arn:aws:iam::000000000000:role/ecsTaskExecutionRole",
    )
    arn = ecs.run_task(cluster=cluster, taskDefinition="fields-no-secret")["tasks"][0]["taskArn"]

    task = harness.wait_for_task(ecs, cluster, arn, "STOPPED")

    assert task["stopCode"] == "TaskFailedToStart"
    assert "ResourceInitializationError: secret /nowhere" in task["stoppedReason"]


def test_a_restart_policy_starts_a_container_again_after_its_period(ecs, cluster, agent):
    script = "test -f /ran && exit 8; touch /ran; sleep 60.5; exit 1"
    policy = {"enabled": True, "restartAttemptPeriod": 60, "ignoredExitCodes": [8]}
    register(ecs, "fields-restart", container(command=["sh", "-c", script], restartPolicy=policy))
    arn = ecs.run_task(cluster=cluster, taskDefinition="fields-restart")["tasks"][0]["taskArn"]

    task = harness.wait_for_task(ecs, cluster, arn, "STOPPED", seconds=90)

    assert task["containers"][0]["exitCode"] == 8
