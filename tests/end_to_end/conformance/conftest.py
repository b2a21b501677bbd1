"""One server with emulated agents for each module; a cluster of its own for each test."""

import pytest

import harness
import lab


@pytest.fixture(scope="session", autouse=True)
def image():
    """Nothing here needs Docker."""


@pytest.fixture(scope="module")
def server():
    with harness.running_server("--emulate-agents") as running:
        yield running


@pytest.fixture(scope="module")
def ecs(server):
    return lab.strict(server)


@pytest.fixture(scope="module")
def loose(server):
    return lab.loose(server)


@pytest.fixture
def cluster(ecs):
    name = lab.unique("cluster")
    ecs.create_cluster(clusterName=name)
    return name


@pytest.fixture
def family():
    return lab.unique("family")
