"""Fixtures of the end-to-end tests: see harness.py for what they are made of."""

import pathlib
import subprocess

import pytest

import harness

LOG_TAIL = 3000


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows the ends of the logs of a test that fails, and keeps its folder."""
    report = (yield).get_result()
    if not report.failed:
        return
    for path in harness.FOLDERS_IN_USE:
        harness.FOLDERS_TO_KEEP.add(path)
        report.sections.append(("berth", f"the test's files are kept in {path}"))
        for log in sorted(pathlib.Path(path).glob("*.log")):
            report.sections.append((log.name, log.read_text(errors="replace")[-LOG_TAIL:]))


@pytest.fixture(scope="session", autouse=True)
def image():
    subprocess.run(
        [str(harness.REPOSITORY / "deploy/demo/make-image.sh"), harness.IMAGE], check=True, timeout=60
    )


@pytest.fixture
def server():
    with harness.running_server() as running:
        yield running


@pytest.fixture
def ecs(server):
    return server.client()


@pytest.fixture
def cluster(server):
    with harness.new_cluster(server) as name:
        yield name


@pytest.fixture
def agent(server, cluster):
    """One agent on real Docker with one simulated GPU of the guide's size."""
    with harness.running_agents(server, cluster, harness.Agent(server, cluster)) as agents:
        yield agents[0]
