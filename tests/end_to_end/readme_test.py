"""The README's commands, run as they stand: if one of them breaks, the README lies."""

import os
import re
import signal
import subprocess

import harness
import pytest

HEADING = "## From clone to a running task"


def commands():
    section = (harness.REPOSITORY / "README.md").read_text().split(HEADING, 1)[1]
    block = re.search(r"\n\n((?:    .+\n)+)", section)[1]
    return [line.strip() for line in block.splitlines()]


@pytest.fixture
def busybox():
    """The README's image; made here where it cannot be pulled."""
    if subprocess.run(["docker", "image", "inspect", "busybox"], capture_output=True).returncode == 0:
        yield
        return
    harness.docker("tag", harness.IMAGE, "busybox:latest")
    yield
    harness.docker("rmi", "busybox:latest")


def test_the_readme_has_five_commands():
    assert len(commands()) == 5


def test_the_readmes_commands_lead_to_a_running_task(tmp_path, busybox):
    build, start, export, *rest = commands()
    port = harness.free_port()
    assert build == "./dev build"  # whoever runs this test has built already
    assert start.endswith("&")
    (tmp_path / "build/release").mkdir(parents=True)
    (tmp_path / "build/release/berth").symlink_to(harness.BERTH)
    (tmp_path / "clients").symlink_to(harness.REPOSITORY / "clients")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    environment["ECS_CONTAINER_STOP_TIMEOUT"] = "2s"
    environment["BERTH_LISTEN"] = f"127.0.0.1:{port}"
    environment["PATH"] = f"{harness.REPOSITORY}/tests/end_to_end/.venv/bin:{environment['PATH']}"

    log = open(tmp_path / "dev.log", "wb")
    dev = subprocess.Popen(
        ["bash", "-c", f"exec {start.rstrip('& ')}"], cwd=tmp_path, stdout=log, stderr=log, env=environment
    )
    try:
        ecs = harness.make_client(f"http://127.0.0.1:{port}")
        harness.wait_until("berth dev serves", lambda: b"is ready on" in (tmp_path / "dev.log").read_bytes())
        harness.wait_for_instances(ecs, "default", 1)
        script = "\n".join(["set -e", export.replace(":8080", f":{port}"), *rest])
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr

        (arn,) = harness.list_all_tasks(ecs, "default")
        task = harness.wait_for_task(ecs, "default", arn, "RUNNING")
        assert task["containers"][0]["gpuIds"]
        ecs.stop_task(task=arn)
        harness.wait_for_task(ecs, "default", arn, "STOPPED")
    finally:
        dev.send_signal(signal.SIGTERM)
        dev.wait(20)
        log.close()
        subprocess.run(
            ["bash", "-c", "docker ps -aq --filter label=com.amazonaws.ecs.task-definition-family=hello | xargs -r docker rm -f"],
            capture_output=True,
            check=False,
        )
