"""The GPU policy of a cluster: the server's flag, the cluster's tag, and what they do to placement."""

import harness
import pytest
from botocore.exceptions import ClientError

TAG = "berth:gpu-policy"
NAMES = (
    "tightest, random, first-fit, worst-fit, best-fit, dot-product, gpu-packing, gpu-clustering, fgd or worth"
)


@pytest.fixture
def emulating():
    with harness.running_server("--emulate-agents") as server:
        yield server


def tags(policy):
    return [{"key": TAG, "value": policy}]


def create(ecs, name, policy=None, instances=2):
    """A cluster with instances of two GPUs each; its ARN."""
    chosen = {} if policy is None else {"tags": tags(policy)}
    arn = ecs.create_cluster(clusterName=name, **chosen)["cluster"]["clusterArn"]
    for number in range(instances):
        harness.emulated_instance(ecs, name, number, gpus=2)
    if instances:
        harness.wait_for_instances(ecs, name, instances)
    return arn


def gpus_of(ecs, cluster, count):
    """Where so many tasks that share go: instance and GPU of each."""
    answer = ecs.run_task(cluster=cluster, taskDefinition="share", count=count)
    assert not answer["failures"]
    return [
        (task["containerInstanceArn"], tuple(task["containers"][0]["gpuIds"])) for task in answer["tasks"]
    ]


def test_worst_fit_spreads_and_best_fit_packs(emulating):
    ecs = emulating.client()
    harness.register(ecs, "share", harness.container(resourceRequirements=harness.share(20_000)))
    create(ecs, "spread", "worst-fit")
    create(ecs, "packed", "best-fit")

    assert len(set(gpus_of(ecs, "spread", 4))) == 4
    assert len(set(gpus_of(ecs, "packed", 4))) == 1


def test_a_tag_changes_the_policy_at_once_and_over_a_restart():
    with harness.running_server("--emulate-agents", "--gpu-policy", "tightest") as server:
        ecs = server.client()
        harness.register(ecs, "share", harness.container(resourceRequirements=harness.share(20_000)))
        arn = create(ecs, "c")
        assert len(set(gpus_of(ecs, "c", 2))) == 1

        ecs.tag_resource(resourceArn=arn, tags=tags("worst-fit"))
        assert len(set(gpus_of(ecs, "c", 2))) == 2
        server.stop()
        server.start()
        harness.wait_for_instances(ecs, "c", 2)
        assert len(set(gpus_of(ecs, "c", 2))) == 2

        ecs.untag_resource(resourceArn=arn, tagKeys=[TAG])
        assert len(set(gpus_of(ecs, "c", 2))) == 1


@pytest.mark.parametrize("policy", ["", "Worth", "spread"])
def test_a_value_that_is_no_policy_is_refused_by_name(emulating, policy):
    ecs = emulating.client()
    arn = create(ecs, "c", instances=0)
    calls = [
        lambda: ecs.create_cluster(clusterName="other", tags=tags(policy)),
        lambda: ecs.tag_resource(resourceArn=arn, tags=tags(policy)),
    ]

    for call in calls:
        with pytest.raises(ClientError) as refused:
            call()
        error = refused.value.response["Error"]
        assert error["Code"] == "InvalidParameterException"
        assert error["Message"] == f"the tag {TAG} is '{policy}'; it must be {NAMES}"
    assert ecs.describe_clusters(clusters=["other"])["failures"]
    assert ecs.list_tags_for_resource(resourceArn=arn)["tags"] == []
