"""Clusters: create, describe, list, update, delete."""

import pytest
from lab import (
    arn, case, everything, invalid, machine, define, refusal, resources, rule, run, run_until, stopped,
    unique,
)

NOT_FOUND = ("ClusterNotFoundException", "Cluster not found.")
DISABLED = [{"name": "containerInsights", "value": "disabled"}]
ENABLED = [{"name": "containerInsights", "value": "enabled"}]
INCLUDE_ALL = ["ATTACHMENTS", "CONFIGURATIONS", "SETTINGS", "STATISTICS", "TAGS"]


def describe(ecs, name, *include):
    answer = ecs.describe_clusters(clusters=[name], include=list(include))
    assert answer["failures"] == []
    return answer["clusters"][0]


@rule("ecs-api.md 3: the response of CreateCluster carries the full cluster")
def test_a_new_cluster(ecs):
    name = unique("c")

    assert ecs.create_cluster(clusterName=name)["cluster"] == {
        "clusterArn": arn("cluster", name),
        "clusterName": name,
        "status": "ACTIVE",
        "registeredContainerInstancesCount": 0,
        "runningTasksCount": 0,
        "pendingTasksCount": 0,
        "activeServicesCount": 0,
        "statistics": [],
        "tags": [],
        "settings": DISABLED,
        "capacityProviders": [],
        "defaultCapacityProviderStrategy": [],
    }


@rule("ecs-api.md 3: clusterName defaults to default")
def test_a_cluster_without_a_name(ecs):
    assert ecs.create_cluster()["cluster"]["clusterName"] == "default"


@rule("ecs-api.md 2.1: the cluster default is there from the first start")
def test_the_default_cluster_is_there(ecs):
    assert describe(ecs, "default")["status"] == "ACTIVE"


@rule("ecs-api.md 3: creating an ACTIVE cluster again returns it")
def test_creating_again(ecs, cluster):
    machine(ecs, cluster)

    again = ecs.create_cluster(clusterName=cluster)["cluster"]

    assert again["clusterArn"] == arn("cluster", cluster)
    assert again["registeredContainerInstancesCount"] == 1
    assert len([a for a in everything(ecs.list_clusters, "clusterArns") if a.endswith(cluster)]) == 1


@rule("ecs-api.md 3: creating again with the same arguments")
def test_creating_again_with_the_same_settings(ecs):
    name = unique("c")
    for _ in range(2):
        shown = ecs.create_cluster(clusterName=name, settings=ENABLED)["cluster"]

    assert shown["settings"] == ENABLED


@rule("ecs-api.md 3: creating again with other arguments")
def test_creating_again_with_other_settings(ecs):
    name = unique("c")
    ecs.create_cluster(clusterName=name, settings=ENABLED)

    assert refusal(ecs.create_cluster, clusterName=name, settings=DISABLED) == (
        "InvalidParameterException",
        "Arguments on this idempotent request are inconsistent with arguments used in previous "
        "request(s).",
    )


@pytest.mark.parametrize("name", [
    case("cluster_name_blank", "ecs-api.md 2.1: names of clusters", "a b"),
    case("cluster_name_dot", "ecs-api.md 2.1: names of clusters", "a.b"),
    case("cluster_name_256", "ecs-api.md 2.1: names of clusters 1-255", "n" * 256),
])
def test_a_bad_cluster_name(ecs, name):
    assert refusal(ecs.create_cluster, clusterName=name) == (
        "InvalidParameterException",
        f"Cluster must match ^[a-zA-Z0-9\\-_]{{1,255}}$, but was {name}",
    )


@rule("ecs-api.md 2.1: names of clusters 1-255")
def test_a_cluster_name_of_255(ecs):
    name = unique("n" * 242)
    assert len(name) == 255

    assert ecs.create_cluster(clusterName=name)["cluster"]["clusterName"] == name


@pytest.mark.parametrize("value", [
    case("insights_enabled", "ecs-api.md 3: containerInsights enabled", "enabled"),
    case("insights_disabled", "ecs-api.md 3: containerInsights disabled", "disabled"),
    case("insights_enhanced", "ecs-api.md 3: containerInsights enhanced", "enhanced"),
])
def test_settings_of_a_new_cluster(ecs, value):
    settings = [{"name": "containerInsights", "value": value}]
    name = unique("c")

    assert ecs.create_cluster(clusterName=name, settings=settings)["cluster"]["settings"] == settings
    assert describe(ecs, name, "SETTINGS")["settings"] == settings


@pytest.mark.parametrize("setting", [
    case("setting_name", "ecs-api.md 3: setting name is only containerInsights",
         {"name": "insight", "value": "enabled"}),
    case("setting_value", "ecs-api.md 3: values of containerInsights",
         {"name": "containerInsights", "value": "on"}),
])
def test_bad_settings_of_a_new_cluster(loose, setting):
    name = unique("c")

    invalid(loose.create_cluster, clusterName=name, settings=[setting])

    assert loose.describe_clusters(clusters=[name])["failures"] != []


@rule("ecs-api.md 3: capacityProviders must exist")
def test_an_unknown_capacity_provider(ecs):
    invalid(ecs.create_cluster, clusterName=unique("c"), capacityProviders=["nowhere"])


@rule("ecs-api.md 3: Service Connect namespace is accepted and stored")
def test_service_connect_defaults(ecs):
    name = unique("c")
    ecs.create_cluster(clusterName=name, serviceConnectDefaults={"namespace": "local"})

    assert describe(ecs, name)["serviceConnectDefaults"]["namespace"].endswith("local")


@rule("ecs-api.md 12.2: tags at creation")
def test_tags_of_a_new_cluster(ecs):
    name, tags = unique("c"), [{"key": "b", "value": "1"}, {"key": "a", "value": ""}]

    assert ecs.create_cluster(clusterName=name, tags=tags)["cluster"]["tags"] == tags
    assert describe(ecs, name, "TAGS")["tags"] == tags


# --- DescribeClusters ------------------------------------------------------------------------------


@rule("ecs-api.md 3: no clusters describes default")
def test_describing_no_cluster(ecs):
    assert [c["clusterName"] for c in ecs.describe_clusters()["clusters"]] == ["default"]


@rule("ecs-api.md 3: unknown clusters are failures MISSING with an ARN")
def test_describing_an_unknown_cluster(ecs, cluster):
    answer = ecs.describe_clusters(clusters=["nowhere", cluster])

    assert [c["clusterName"] for c in answer["clusters"]] == [cluster]
    assert answer["failures"] == [{"arn": arn("cluster", "nowhere"), "reason": "MISSING"}]


@rule("ecs-api.md 2.4: describe answers in request order, duplicates collapsed")
def test_describing_in_order(ecs):
    names = [unique(prefix) for prefix in ("b", "a", "c")]
    for name in names:
        ecs.create_cluster(clusterName=name)

    answer = ecs.describe_clusters(clusters=[names[0], names[1], arn("cluster", names[0]), names[2]])

    assert [c["clusterName"] for c in answer["clusters"]] == names


@pytest.mark.parametrize("include, member, value", [
    case("without_settings", "ecs-api.md 3: settings only when included", [], "settings", []),
    case("with_settings", "ecs-api.md 3: settings when included", ["SETTINGS"], "settings", DISABLED),
    case("without_statistics", "ecs-api.md 3: statistics only when included", [], "statistics", []),
    case("without_cluster_tags", "ecs-api.md 3: tags only when included", [], "tags", []),
    case("with_cluster_tags", "ecs-api.md 3: tags when included", ["TAGS"], "tags",
         [{"key": "k", "value": "v"}]),
])
def test_include(ecs, include, member, value):
    name = unique("c")
    ecs.create_cluster(clusterName=name, tags=[{"key": "k", "value": "v"}])

    assert describe(ecs, name, *include)[member] == value


@rule("ecs-api.md 3: configuration only when included")
def test_configuration(ecs):
    name = unique("c")
    configuration = {"executeCommandConfiguration": {"logging": "NONE"}}
    ecs.create_cluster(clusterName=name, configuration=configuration)

    assert "configuration" not in describe(ecs, name)
    assert describe(ecs, name, "CONFIGURATIONS")["configuration"] == configuration


STATISTICS = {
    f"{state}{kind}{what}Count"
    for what, states in (("Tasks", ("running", "pending")), ("Service", ("active", "draining")))
    for state in states
    for kind in ("EC2", "Fargate", "External")
}


@rule("ecs-api.md 3: the twelve statistics are string pairs")
def test_statistics_of_an_empty_cluster(ecs, cluster):
    statistics = describe(ecs, cluster, "STATISTICS")["statistics"]

    assert {s["name"]: s["value"] for s in statistics} == dict.fromkeys(STATISTICS, "0")


@rule("ecs-api.md 3: statistics count running tasks by launch type")
def test_statistics_count_running_tasks(ecs, cluster):
    machine(ecs, cluster)
    run_until(ecs, cluster, define(ecs))

    statistics = {s["name"]: s["value"] for s in describe(ecs, cluster, "STATISTICS")["statistics"]}

    assert statistics["runningEC2TasksCount"] == "1"
    assert statistics["runningExternalTasksCount"] == "0"


@rule("ecs-api.md 3: runningTasksCount by lastStatus RUNNING")
def test_counts_of_a_cluster(ecs, cluster):
    machine(ecs, cluster)
    machine(ecs, cluster)
    run_until(ecs, cluster, define(ecs))
    stopped(ecs, cluster, define(ecs))

    shown = describe(ecs, cluster)

    assert (
        shown["registeredContainerInstancesCount"], shown["runningTasksCount"],
        shown["pendingTasksCount"], shown["activeServicesCount"],
    ) == (2, 1, 0, 0)


@rule("ecs-api.md 3: registeredContainerInstancesCount counts ACTIVE and DRAINING")
def test_draining_instances_count(ecs, cluster):
    drained = machine(ecs, cluster)["containerInstanceArn"]
    gone = machine(ecs, cluster)["containerInstanceArn"]
    ecs.update_container_instances_state(
        cluster=cluster, containerInstances=[drained], status="DRAINING"
    )
    ecs.deregister_container_instance(cluster=cluster, containerInstance=gone)

    assert describe(ecs, cluster)["registeredContainerInstancesCount"] == 1


@rule("ecs-api.md 2.3: DescribeClusters up to 100")
def test_describing_101_clusters(ecs):
    assert "at most 100 items." in invalid(
        ecs.describe_clusters, clusters=[f"c{n}" for n in range(101)]
    )


@rule("ecs-api.md 2.3: DescribeClusters up to 100")
def test_describing_100_clusters(ecs):
    assert len(ecs.describe_clusters(clusters=[f"c{n}" for n in range(100)])["failures"]) == 100


@rule("ecs-api.md 1.3: enum violation in include")
def test_a_bad_include_of_clusters(loose):
    assert "include" in invalid(loose.describe_clusters, include=["EVERYTHING"])


# --- ListClusters ----------------------------------------------------------------------------------


@rule("ecs-api.md 2.4: clusters sorted by ARN")
def test_clusters_are_listed_in_order(ecs):
    for _ in range(3):
        ecs.create_cluster(clusterName=unique("z"))

    listed = everything(ecs.list_clusters, "clusterArns")

    assert listed == sorted(listed)
    assert arn("cluster", "default") in listed


@rule("ecs-api.md 3: INACTIVE clusters are not listed")
def test_deleted_clusters_are_not_listed(ecs, cluster):
    ecs.delete_cluster(cluster=cluster)

    assert arn("cluster", cluster) not in everything(ecs.list_clusters, "clusterArns")


# --- DeleteCluster ---------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", [
    case("delete_by_name", "ecs-api.md 3: deleting gives INACTIVE", "{c}"),
    case("delete_by_arn", "ecs-api.md 2.1: a full ARN wherever a name goes", arn("cluster", "{c}")),
])
def test_deleting_an_empty_cluster(ecs, cluster, reference):
    deleted = ecs.delete_cluster(cluster=reference.format(c=cluster))["cluster"]

    assert (deleted["clusterName"], deleted["status"]) == (cluster, "INACTIVE")


@rule("ecs-api.md 0: deleted clusters stay describable as INACTIVE")
def test_a_deleted_cluster_is_described(ecs, cluster):
    ecs.delete_cluster(cluster=cluster)

    assert describe(ecs, cluster)["status"] == "INACTIVE"


@rule("ecs-api.md 3: an unknown cluster is not deleted")
def test_deleting_an_unknown_cluster(ecs):
    assert refusal(ecs.delete_cluster, cluster="nowhere") == NOT_FOUND


def drain(ecs, cluster, instance):
    ecs.update_container_instances_state(
        cluster=cluster, containerInstances=[instance], status="DRAINING"
    )


@pytest.mark.parametrize("state", [
    case("delete_with_active", "ecs-api.md 3: ClusterContainsContainerInstances ACTIVE", "ACTIVE"),
    case("delete_with_draining", "ecs-api.md 3: ClusterContainsContainerInstances DRAINING",
         "DRAINING"),
])
def test_deleting_a_cluster_with_instances(ecs, cluster, state):
    instance = machine(ecs, cluster)["containerInstanceArn"]
    run(ecs, cluster, define(ecs))
    if state == "DRAINING":
        drain(ecs, cluster, instance)

    assert refusal(ecs.delete_cluster, cluster=cluster) == (
        "ClusterContainsContainerInstancesException",
        "The Cluster cannot be deleted while Container Instances are active or draining.",
    )


@rule("ecs-api.md 3: a cluster of stopped tasks and gone instances is deleted")
def test_deleting_a_cluster_after_its_tasks(ecs, cluster):
    instance = machine(ecs, cluster)["containerInstanceArn"]
    stopped(ecs, cluster, define(ecs))
    ecs.deregister_container_instance(cluster=cluster, containerInstance=instance)

    assert ecs.delete_cluster(cluster=cluster)["cluster"]["status"] == "INACTIVE"


@rule("ecs-api.md 3: a name whose old cluster is INACTIVE gives a new ACTIVE cluster")
def test_a_cluster_made_again(ecs):
    name = unique("c")
    ecs.create_cluster(clusterName=name, settings=ENABLED, tags=[{"key": "k", "value": "v"}])
    ecs.delete_cluster(cluster=name)

    again = ecs.create_cluster(clusterName=name)["cluster"]

    assert (again["clusterArn"], again["status"], again["settings"], again["tags"]) == (
        arn("cluster", name), "ACTIVE", DISABLED, [],
    )


@rule("ecs-api.md 3: of the old cluster nothing shows in the new")
def test_a_cluster_made_again_has_no_old_tasks(ecs, cluster):
    instance = machine(ecs, cluster)["containerInstanceArn"]
    old = stopped(ecs, cluster, define(ecs))["taskArn"]
    ecs.deregister_container_instance(cluster=cluster, containerInstance=instance)
    ecs.delete_cluster(cluster=cluster)
    ecs.create_cluster(clusterName=cluster)

    assert ecs.list_tasks(cluster=cluster, desiredStatus="STOPPED")["taskArns"] == []
    assert ecs.describe_tasks(cluster=cluster, tasks=[old])["failures"][0]["reason"] == "MISSING"


@pytest.mark.parametrize("call, members", [
    case("inactive_run", "ecs-api.md 3: RunTask on an INACTIVE cluster", "run_task",
         {"taskDefinition": "f"}),
    case("inactive_start", "ecs-api.md 3: StartTask on an INACTIVE cluster", "start_task",
         {"taskDefinition": "f", "containerInstances": ["a" * 32]}),
    case("inactive_register", "ecs-api.md 3: RegisterContainerInstance on an INACTIVE cluster",
         "register_container_instance", {"totalResources": resources()}),
])
def test_an_inactive_cluster_takes_nothing(ecs, cluster, call, members):
    ecs.register_task_definition(
        family="f", containerDefinitions=[{"name": "c", "image": "i", "memory": 64}]
    )
    ecs.delete_cluster(cluster=cluster)

    assert refusal(getattr(ecs, call), cluster=cluster, **members) == NOT_FOUND


@rule("ecs-api.md 3: TagResource on an INACTIVE cluster")
def test_tagging_an_inactive_cluster(ecs, cluster):
    ecs.delete_cluster(cluster=cluster)

    assert refusal(
        ecs.tag_resource, resourceArn=arn("cluster", cluster), tags=[{"key": "k", "value": "v"}]
    ) == (
        "InvalidParameterException",
        "The specified cluster is inactive. Specify an active cluster and try again.",
    )


# --- UpdateCluster ---------------------------------------------------------------------------------


@rule("ecs-api.md 3: given members replace, absent ones stay")
def test_updating_settings_alone(ecs):
    name = unique("c")
    configuration = {"executeCommandConfiguration": {"logging": "NONE"}}
    ecs.create_cluster(clusterName=name, configuration=configuration)

    ecs.update_cluster(cluster=name, settings=ENABLED)

    shown = describe(ecs, name, *INCLUDE_ALL)
    assert (shown["settings"], shown["configuration"]) == (ENABLED, configuration)


@rule("ecs-api.md 3: given members replace as a whole")
def test_updating_the_configuration(ecs):
    name = unique("c")
    ecs.create_cluster(clusterName=name, configuration={
        "executeCommandConfiguration": {"logging": "NONE", "kmsKeyId": "key"}
    })
    configuration = {"executeCommandConfiguration": {"logging": "DEFAULT"}}

    ecs.update_cluster(cluster=name, configuration=configuration)

    assert describe(ecs, name, "CONFIGURATIONS")["configuration"] == configuration


@rule("ecs-api.md 3: an empty Service Connect namespace removes it")
def test_removing_the_namespace(ecs):
    name = unique("c")
    ecs.create_cluster(clusterName=name, serviceConnectDefaults={"namespace": "local"})

    ecs.update_cluster(cluster=name, serviceConnectDefaults={"namespace": ""})

    assert "serviceConnectDefaults" not in describe(ecs, name)


@rule("ecs-api.md 3: UpdateClusterSettings")
def test_updating_cluster_settings(ecs, cluster):
    answer = ecs.update_cluster_settings(cluster=cluster, settings=ENABLED)["cluster"]

    assert (answer["clusterName"], answer["settings"]) == (cluster, ENABLED)
    assert describe(ecs, cluster, "SETTINGS")["settings"] == ENABLED


@pytest.mark.parametrize("call, members", [
    case("update_unknown", "ecs-api.md 3: UpdateCluster of an unknown cluster", "update_cluster", {}),
    case("update_settings_unknown", "ecs-api.md 3: UpdateClusterSettings of an unknown cluster",
         "update_cluster_settings", {"settings": ENABLED}),
])
def test_updating_an_unknown_cluster(ecs, call, members):
    assert refusal(getattr(ecs, call), cluster="nowhere", **members) == NOT_FOUND


@rule("ecs-api.md 3: UpdateClusterSettings refuses unknown values")
def test_updating_to_bad_settings(loose, cluster):
    invalid(loose.update_cluster_settings, cluster=cluster,
            settings=[{"name": "containerInsights", "value": "on"}])

    assert describe(loose, cluster, "SETTINGS")["settings"] == DISABLED


# --- references ------------------------------------------------------------------------------------


@pytest.mark.parametrize("reference, expected", [
    case("cluster_by_arn", "ecs-api.md 2.1: a full ARN wherever a name goes",
         arn("cluster", "{c}"), None),
    case("cluster_of_china", "ecs-api.md 2.1: any partition is accepted",
         "arn:aws-cn:ecs:us-east-1:000000000000:cluster/{c}", None),
    case("cluster_of_another", "ecs-api.md 2.1: ARN of another account",
         "arn:aws:ecs:us-east-1:123456789012:cluster/{c}",
         ("InvalidParameterException",
          "Identifier is for 123456789012. Your accountId is 000000000000")),
    case("cluster_of_another_kind", "ecs-api.md 2.1: ARN of the wrong kind",
         "arn:aws:ecs:us-east-1:000000000000:task-definition/{c}",
         ("InvalidParameterException", "Unsupported resource type: task-definition")),
    case("cluster_unknown", "ecs-api.md 17: ClusterNotFoundException", "nowhere", NOT_FOUND),
])
def test_a_cluster_is_referred_to(ecs, cluster, reference, expected):
    def call(name):
        return ecs.list_tasks(cluster=name)

    if expected:
        assert refusal(call, reference.format(c=cluster)) == expected
    else:
        assert call(reference.format(c=cluster))["taskArns"] == []
