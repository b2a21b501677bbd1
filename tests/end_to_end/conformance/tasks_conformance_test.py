"""Tasks: RunTask, StartTask, StopTask, their shape, their life, describing and listing them."""

import datetime
import json

import pytest
from lab import (
    arn, case, client_error, container, define, everything, instance, invalid, machine, pages, reasons,
    refusal, resource, rule, run, run_until, stopped, task, unique, until,
)

MISSING_ID = "f" * 32
NOT_FOUND = ("ClusterNotFoundException", "Cluster not found.")


# --- RunTask: what it refuses ----------------------------------------------------------------------


@pytest.fixture
def reference(ecs, cluster):
    """A definition, in a cluster with one machine."""
    machine(ecs, cluster)
    return define(ecs)


@pytest.mark.parametrize("count, taken", [
    case("count_0", "ecs-api.md 2.3: RunTask count 1-10", 0, False),
    case("count_1", "ecs-api.md 2.3: RunTask count 1-10", 1, True),
    case("count_10", "ecs-api.md 2.3: RunTask count 1-10", 10, True),
    case("count_11", "ecs-api.md 2.3: RunTask count 1-10", 11, False),
])
def test_count(loose, cluster, reference, count, taken):
    if taken:
        run(loose, cluster, reference, count=count)
    else:
        invalid(loose.run_task, cluster=cluster, taskDefinition=reference, count=count)


PROVIDERS = [{"capacityProvider": "FARGATE", "weight": 1}]
NETWORK = {"awsvpcConfiguration": {"subnets": ["subnet-1"]}}
REFUSED = [
    case("launch_and_provider", "ecs-api.md 7.1: launchType and capacityProviderStrategy",
         {"launchType": "EC2", "capacityProviderStrategy": PROVIDERS},
         "Specify either Launch Type or Capacity Provider Strategy, but not both."),
    case("launch_type", "ecs-api.md 7.1: bad launch type", {"launchType": "MOON"},
         "launch type should be one of [EC2,FARGATE,EXTERNAL]"),
    case("launch_fargate", "ecs-api.md 7.1: launch type outside compatibilities",
         {"launchType": "FARGATE"}, "Task definition does not support launch_type FARGATE."),
    case("platform_version", "ecs-api.md 7.1: platformVersion with EC2",
         {"launchType": "EC2", "platformVersion": "1.4.0"},
         "The platform version must be null when specifying an EC2 launch type."),
    case("network_in_bridge", "ecs-api.md 7.1: networkConfiguration for bridge",
         {"networkConfiguration": NETWORK},
         "Network Configuration is not valid for the given networkMode of this task definition."),
    case("override_name", "ecs-api.md 7.1: override of a container that is not there",
         {"overrides": {"containerOverrides": [{"name": "x", "command": ["y"]}]}},
         "Override for container named x is not a container in the TaskDefinition."),
]


@pytest.mark.parametrize("members, text", REFUSED)
def test_run_task_says(loose, cluster, reference, members, text):
    assert refusal(loose.run_task, cluster=cluster, taskDefinition=reference, **members) == (
        "InvalidParameterException", text,
    )


OVERRIDES_MAX = 8192


def overrides_of(size):
    """Overrides whose JSON, without blanks, has so many characters."""
    def made(padding):
        return {"containerOverrides": [{"name": "main", "command": ["x" * padding]}]}

    return made(size - len(json.dumps(made(0), separators=(",", ":"))))


@rule("ecs-api.md 2.3: overrides up to 8192 characters")
def test_overrides_of_8192_characters(ecs, cluster, reference):
    given = overrides_of(OVERRIDES_MAX)

    started = run(ecs, cluster, reference, overrides=given)

    command = given["containerOverrides"][0]["command"]
    assert task(ecs, cluster, started[0]["taskArn"])["overrides"]["containerOverrides"][0]["command"] == command


SPREAD = {"type": "spread", "field": "instanceId"}
DISTINCT = {"type": "distinctInstance"}
NAMED = [
    case("propagate_service", "ecs-api.md 7.1: propagateTags SERVICE", {"propagateTags": "SERVICE"},
         "propagateTags"),
    case("group_service", "ecs-api.md 7.1: group starting with service:", {"group": "service:web"},
         "group"),
    case("group_256", "ecs-api.md 2.3: group up to 255", {"group": "g" * 256}, "group"),
    case("started_by_129", "ecs-api.md 2.3: startedBy up to 128", {"startedBy": "s" * 129},
         "startedBy"),
    case("started_by_blank", "ecs-api.md 2.3: characters of startedBy", {"startedBy": "a b"},
         "startedBy"),
    case("token_65", "ecs-api.md 2.3: clientToken up to 64", {"clientToken": "t" * 65},
         "clientToken"),
    case("override_without_name", "ecs-api.md 7.1: an override without name",
         {"overrides": {"containerOverrides": [{"command": ["x"]}]}}, "name"),
    case("overrides_8193", "ecs-api.md 2.3: overrides up to 8192 characters",
         {"overrides": overrides_of(8193)}, "8192"),
    case("override_memory", "ecs-api.md 7.1: the merged result is validated",
         {"overrides": {"containerOverrides": [{"name": "main", "memory": 5}]}}, "memory"),
    case("strategies_6", "ecs-api.md 2.3: strategies up to 5", {"placementStrategy": [SPREAD] * 6},
         "placementStrategy"),
    case("run_constraints_11", "ecs-api.md 2.3: constraints up to 10",
         {"placementConstraints": [DISTINCT] * 11}, "placementConstraints"),
    case("strategy_type", "ecs-api.md 8.2: strategy type",
         {"placementStrategy": [{"type": "stack"}]}, "placementStrategy"),
    case("strategy_without_field", "ecs-api.md 8.2: missing field",
         {"placementStrategy": [{"type": "spread"}]}, "field"),
    case("strategy_field", "ecs-api.md 8.2: unknown field",
         {"placementStrategy": [{"type": "binpack", "field": "disk"}]}, "field"),
    case("strategy_attribute", "ecs-api.md 8.2: unknown attribute syntax",
         {"placementStrategy": [{"type": "spread", "field": "attribute:"}]}, "field"),
    case("distinct_with_expression", "ecs-api.md 8.3: distinctInstance with an expression",
         {"placementConstraints": [{**DISTINCT, "expression": "attribute:a == b"}]}, "expression"),
    case("member_of_nothing", "ecs-api.md 8.3: memberOf requires an expression",
         {"placementConstraints": [{"type": "memberOf"}]}, "expression"),
    case("constraint_type", "ecs-api.md 8.3: constraint type",
         {"placementConstraints": [{"type": "near"}]}, "placementConstraints"),
    case("unknown_provider", "ecs-api.md 7.1: provider unknown or not attached",
         {"capacityProviderStrategy": [{"capacityProvider": "nowhere", "weight": 1}]},
         "capacityProviderStrategy"),
    case("tags_51", "ecs-api.md 12.2: 50 tags per resource",
         {"tags": [{"key": f"k{n}", "value": "v"} for n in range(51)]}, "50"),
    case("tag_aws", "ecs-api.md 12.2: the prefix aws: is refused",
         {"tags": [{"key": "aws:x", "value": "v"}]}, "aws:"),
]


@pytest.mark.parametrize("members, named", NAMED)
def test_run_task_names(loose, cluster, reference, members, named):
    assert named in invalid(loose.run_task, cluster=cluster, taskDefinition=reference, **members)
    assert loose.list_tasks(cluster=cluster)["taskArns"] == []


TAKEN = [
    case("group_255", "ecs-api.md 2.3: group up to 255", {"group": "g" * 255}),
    case("started_by_128", "ecs-api.md 2.3: startedBy up to 128", {"startedBy": "aZ9_/-" + "s" * 122}),
    case("token_64", "ecs-api.md 2.3: clientToken up to 64", {"clientToken": "t" * 64}),
    case("empty_override", "ecs-api.md 7.1: an empty override without name",
         {"overrides": {"containerOverrides": [{}]}}),
    case("strategies_5", "ecs-api.md 2.3: strategies up to 5", {"placementStrategy": [SPREAD] * 5}),
    case("run_constraints_10", "ecs-api.md 2.3: constraints up to 10",
         {"placementConstraints": [{"type": "memberOf", "expression": "agentConnected == true"}] * 10}),
    case("propagate_none", "ecs-api.md 7.1: propagateTags NONE", {"propagateTags": "NONE"}),
    case("random_with_field", "ecs-api.md 8.2: random ignores its field",
         {"placementStrategy": [{"type": "random", "field": "anything"}]}),
    case("tags_50", "ecs-api.md 12.2: 50 tags per resource",
         {"tags": [{"key": f"k{n}", "value": "v"} for n in range(50)]}),
]


@pytest.mark.parametrize("members", TAKEN)
def test_run_task_takes(loose, cluster, reference, members):
    run(loose, cluster, reference, **members)


AWSVPC = [
    case("no_network", "ecs-api.md 7.1: networkConfiguration missing for awsvpc", {},
         "Network Configuration must be provided when networkMode 'awsvpc' is specified."),
    case("no_subnets", "ecs-api.md 7.1: empty subnets",
         {"networkConfiguration": {"awsvpcConfiguration": {"subnets": []}}},
         "subnets can not be empty."),
]


@pytest.mark.parametrize("members, text", AWSVPC)
def test_run_task_in_awsvpc(ecs, cluster, members, text):
    machine(ecs, cluster, capabilities=["ecs.capability.task-eni"])

    assert refusal(
        ecs.run_task, cluster=cluster, taskDefinition=define(ecs, networkMode="awsvpc"), **members
    ) == ("InvalidParameterException", text)


@rule("ecs-api.md 7.1: the cluster is looked at first")
def test_run_task_in_an_unknown_cluster(ecs):
    assert refusal(ecs.run_task, cluster="nowhere", taskDefinition="nowhere", count=10) == NOT_FOUND


@rule("ecs-api.md 0: an empty cluster is an exception")
def test_run_task_in_an_empty_cluster(ecs, cluster):
    assert refusal(ecs.run_task, cluster=cluster, taskDefinition=define(ecs)) == (
        "InvalidParameterException", "No Container Instances were found in your cluster.",
    )


# --- RunTask: what comes of it ---------------------------------------------------------------------


@rule("ecs-api.md 0: a task that cannot be placed is not an exception")
def test_a_task_that_does_not_fit(ecs, cluster):
    arn_ = machine(ecs, cluster, cpu=1024)["containerInstanceArn"]

    answer = ecs.run_task(cluster=cluster, taskDefinition=define(ecs, container(cpu=1025)))

    assert answer["tasks"] == []
    assert [(f["arn"], f["reason"]) for f in answer["failures"]] == [(arn_, "RESOURCE:CPU")]


GPU_WHOLE = [{"type": "GPU", "value": "1"}]
SHORTAGES = [
    case("short_cpu", "ecs-api.md 7.2: RESOURCE:CPU", {"cpu": 5000}, {}, "RESOURCE:CPU"),
    case("short_memory", "ecs-api.md 7.2: RESOURCE:MEMORY", {"memory": 9000}, {}, "RESOURCE:MEMORY"),
    case("short_ports", "ecs-api.md 7.2: RESOURCE:PORTS",
         {"portMappings": [{"containerPort": 22, "hostPort": 22}]}, {}, "RESOURCE:PORTS"),
    case("short_gpu", "ecs-api.md 7.2: RESOURCE:GPU", {"resourceRequirements": GPU_WHOLE}, {},
         "RESOURCE:GPU"),
    case("short_cpu_first", "ecs-api.md 7.2: CPU before MEMORY", {"cpu": 5000, "memory": 9000}, {},
         "RESOURCE:CPU"),
    case("short_memory_first", "ecs-api.md 7.2: MEMORY before PORTS",
         {"memory": 9000, "portMappings": [{"containerPort": 22, "hostPort": 22}]}, {},
         "RESOURCE:MEMORY"),
    case("short_member_of", "ecs-api.md 7.2: MemberOf placement constraint", {},
         {"placementConstraints": [{"type": "memberOf", "expression": "attribute:rack == x"}]},
         "MemberOf placement constraint unsatisfied."),
    case("short_resources_before_constraints", "ecs-api.md 7.2: resources before constraints",
         {"cpu": 5000},
         {"placementConstraints": [{"type": "memberOf", "expression": "attribute:rack == x"}]},
         "RESOURCE:CPU"),
]


@pytest.mark.parametrize("members, request_members, reason", SHORTAGES)
def test_the_reason_of_a_failure(ecs, cluster, members, request_members, reason):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    answer = ecs.run_task(
        cluster=cluster, taskDefinition=define(ecs, container(**members)), **request_members
    )

    assert [(f["arn"], f["reason"]) for f in answer["failures"]] == [(arn_, reason)]
    assert answer["tasks"] == []


# A driver that no emulated agent claims to have.
REXRAY = {"volumes": [{"name": "v", "dockerVolumeConfiguration": {"driver": "rexray"}}]}


@pytest.mark.parametrize("members", [
    case("short_attribute", "ecs-api.md 7.2: ATTRIBUTE", {}),
    case("short_attribute_first", "ecs-api.md 7.2: ATTRIBUTE before RESOURCE", {"cpu": 5000}),
])
def test_an_attribute_is_missing(ecs, cluster, members):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    answer = ecs.run_task(
        cluster=cluster, taskDefinition=define(ecs, container(**members), **REXRAY)
    )

    assert [(f["arn"], f["reason"]) for f in answer["failures"]] == [(arn_, "ATTRIBUTE")]


@rule("ecs-api.md 7.2: the reason per rejected instance")
def test_failures_name_each_instance(ecs, cluster):
    small = machine(ecs, cluster, cpu=100)["containerInstanceArn"]
    tight = machine(ecs, cluster, memory=100)["containerInstanceArn"]

    answer = ecs.run_task(
        cluster=cluster, taskDefinition=define(ecs, container(cpu=200, memory=200))
    )

    assert {(f["arn"], f["reason"]) for f in answer["failures"]} == {
        (small, "RESOURCE:CPU"), (tight, "RESOURCE:MEMORY"),
    }


@rule("ecs-api.md 0: failures may stand next to tasks that were placed")
def test_some_of_many_fit(ecs, cluster):
    arn_ = machine(ecs, cluster, memory=200)["containerInstanceArn"]

    answer = ecs.run_task(
        cluster=cluster, taskDefinition=define(ecs, container(memory=64)), count=5
    )

    assert len(answer["tasks"]) == 3
    assert [(f["arn"], f["reason"]) for f in answer["failures"]] == [(arn_, "RESOURCE:MEMORY")]


@rule("ecs-api.md 7.1: each task sees the effects of the previous one")
def test_host_ports_are_taken_one_by_one(ecs, cluster):
    for _ in range(2):
        machine(ecs, cluster)
    definition = define(ecs, container(portMappings=[{"containerPort": 80, "hostPort": 8080}]))

    answer = ecs.run_task(cluster=cluster, taskDefinition=definition, count=3)

    assert len({t["containerInstanceArn"] for t in answer["tasks"]}) == 2
    assert reasons(answer) == ["RESOURCE:PORTS"]


# --- clientToken -----------------------------------------------------------------------------------


@rule("ecs-api.md 7.3: same token, same parameters: the same tasks")
def test_a_token_repeated(ecs, cluster, reference):
    token = unique("t")
    first, second = (run(ecs, cluster, reference, count=2, clientToken=token) for _ in range(2))

    assert [t["taskArn"] for t in first] == [t["taskArn"] for t in second]
    assert len(everything(ecs.list_tasks, "taskArns", cluster=cluster)) == 2


@pytest.mark.parametrize("changed", [
    case("token_count", "ecs-api.md 7.3: same token, other count", {"count": 2}),
    case("token_group", "ecs-api.md 7.3: same token, other group", {"group": "g"}),
    case("token_overrides", "ecs-api.md 7.3: same token, other overrides",
         {"overrides": {"cpu": "256"}}),
])
def test_a_token_with_other_parameters(ecs, cluster, reference, changed):
    token = unique("t")
    (first,) = run(ecs, cluster, reference, clientToken=token)

    with pytest.raises(ecs.exceptions.ConflictException) as raised:
        ecs.run_task(cluster=cluster, taskDefinition=reference, clientToken=token, **changed)
    assert raised.value.response["resourceIds"] == [first["taskArn"]]


@rule("ecs-api.md 7.3: the same token in another cluster is another request")
def test_a_token_in_another_cluster(ecs, cluster, reference):
    token, other = unique("t"), unique("c")
    ecs.create_cluster(clusterName=other)
    machine(ecs, other)

    (first,) = run(ecs, cluster, reference, clientToken=token)
    (second,) = run(ecs, other, reference, clientToken=token)

    assert first["taskArn"] != second["taskArn"]


@rule("ecs-api.md 7.3: the answer shows the current state")
def test_a_token_repeated_after_the_stop(ecs, cluster, reference):
    token = unique("t")
    first = stopped(ecs, cluster, reference, clientToken=token)

    (again,) = run(ecs, cluster, reference, clientToken=token)

    assert (again["taskArn"], again["lastStatus"]) == (first["taskArn"], "STOPPED")


@rule("ecs-api.md 7.3: an attempt with only failures does not consume the token")
def test_a_token_of_a_failure(ecs, cluster):
    machine(ecs, cluster, memory=100)
    token, definition = unique("t"), define(ecs, container(memory=200))
    assert ecs.run_task(cluster=cluster, taskDefinition=definition, clientToken=token)["failures"]
    machine(ecs, cluster, memory=400)

    run(ecs, cluster, definition, clientToken=token)


@rule("ecs-api.md 7.3: an attempt that ended with an exception does not consume the token")
def test_a_token_of_an_exception(ecs, cluster):
    token, definition = unique("t"), define(ecs)
    refusal(ecs.run_task, cluster=cluster, taskDefinition=definition, clientToken=token)
    machine(ecs, cluster)

    run(ecs, cluster, definition, clientToken=token)


# --- the task object -------------------------------------------------------------------------------


@rule("ecs-api.md 7.5: the task at creation")
def test_a_new_task(ecs, cluster, reference):
    (new,) = run(ecs, cluster, reference)

    assert (new["lastStatus"], new["desiredStatus"], new["launchType"]) == ("PENDING", "RUNNING", "EC2")
    assert new["version"] >= 1
    assert new["clusterArn"] == arn("cluster", cluster)
    assert new["group"] == "family:" + reference.split(":")[0]
    assert new["taskDefinitionArn"] == arn("task-definition", reference)
    assert new["attachments"] == []
    assert new["tags"] == []
    assert new["healthStatus"] == "UNKNOWN"
    assert new["enableExecuteCommand"] is False
    assert new["availabilityZone"] == "us-east-1a"
    assert {"name": "ecs.cpu-architecture", "value": "x86_64"} in new["attributes"]
    assert new["overrides"] == {
        "containerOverrides": [{"name": "main"}], "inferenceAcceleratorOverrides": [],
    }
    for absent in ("startedAt", "stoppedAt", "stopCode", "stoppedReason", "capacityProviderName"):
        assert absent not in new


@rule("ecs-api.md 7.5: containers of a new task")
def test_the_containers_of_a_new_task(ecs, cluster, reference):
    (new,) = run(ecs, cluster, reference)
    (shown,) = new["containers"]

    assert shown["containerArn"].startswith(arn("container", cluster) + "/")
    assert {k: v for k, v in shown.items() if k != "containerArn"} == {
        "taskArn": new["taskArn"], "name": "main", "image": "busybox", "lastStatus": "PENDING",
        "cpu": "0", "memory": "64", "networkInterfaces": [], "networkBindings": [],
        "healthStatus": "UNKNOWN",
    }


@rule("ecs-api.md 2.1: ARN of a task")
def test_the_arn_of_a_task(ecs, cluster, reference):
    prefix, _, found = run(ecs, cluster, reference)[0]["taskArn"].rpartition("/")

    assert prefix == arn("task", cluster)
    assert len(found) == 32 and set(found) <= set("0123456789abcdef")


@pytest.mark.parametrize("task_members, cpu, memory", [
    case("size_of_containers", "ecs-api.md 7.5: sum of container values", {}, "30", "300"),
    case("size_of_task", "ecs-api.md 7.5: cpu and memory strings of the task",
         {"cpu": "256", "memory": "512"}, "256", "512"),
])
def test_the_size_of_a_task(ecs, cluster, task_members, cpu, memory):
    machine(ecs, cluster)
    definition = define(
        ecs, container("a", cpu=10, memory=100), container("b", cpu=20, memory=200), **task_members
    )

    (new,) = run(ecs, cluster, definition)

    assert (new["cpu"], new["memory"]) == (cpu, memory)


@rule("ecs-api.md 0: container cpu and memory are strings in tasks")
def test_sizes_of_containers_are_strings(ecs, cluster):
    machine(ecs, cluster)
    (new,) = run(ecs, cluster, define(ecs, container(cpu=10, memory=100, memoryReservation=50)))

    shown = new["containers"][0]
    assert (shown["cpu"], shown["memory"], shown["memoryReservation"]) == ("10", "100", "50")


@rule("ecs-api.md 7.5: overrides have one entry per container")
def test_overrides_of_one_container(ecs, cluster):
    machine(ecs, cluster)
    override = {"name": "b", "command": ["x"], "environment": [{"name": "A", "value": "1"}],
                "cpu": 5, "memory": 100}
    (new,) = run(
        ecs, cluster, define(ecs, container("a"), container("b")),
        overrides={"containerOverrides": [override]},
    )

    shown = {o["name"]: o for o in new["overrides"]["containerOverrides"]}
    assert shown == {"a": {"name": "a"}, "b": override}


@rule("ecs-api.md 5.6: overrides can replace resourceRequirements")
def test_overrides_of_the_size(ecs, cluster):
    arn_ = machine(ecs, cluster, cpu=1024, memory=1000)["containerInstanceArn"]
    run(ecs, cluster, define(ecs, container(cpu=10, memory=100)),
        overrides={"containerOverrides": [{"name": "main", "cpu": 20, "memory": 200}]})

    shown = instance(ecs, cluster, arn_)
    assert resource(shown, "remainingResources", "CPU")["integerValue"] == 1004
    assert resource(shown, "remainingResources", "MEMORY")["integerValue"] == 800


@rule("ecs-api.md 7.5: startedBy, group, referenceId as given")
def test_what_a_task_is_given(ecs, cluster, reference):
    (new,) = run(ecs, cluster, reference, startedBy="me", group="mine", enableExecuteCommand=True)

    assert (new["startedBy"], new["group"], new["enableExecuteCommand"]) == ("me", "mine", True)


# --- tags of tasks ---------------------------------------------------------------------------------


def tags_of(tags):
    return {tag["key"]: tag["value"] for tag in tags}


TAGS = [
    case("own_tags", "ecs-api.md 12.2: tags of the request", {"tags": [{"key": "r", "value": "1"}]},
         {"r": "1"}),
    case("no_tags", "ecs-api.md 12.2: no propagation unless asked", {}, {}),
    case("definition_tags", "ecs-api.md 12.2: propagation from TASK_DEFINITION",
         {"propagateTags": "TASK_DEFINITION"}, {"d": "1", "both": "definition"}),
    case("both_tags", "ecs-api.md 12.2: the request wins on equal keys",
         {"propagateTags": "TASK_DEFINITION", "tags": [{"key": "both", "value": "request"}]},
         {"d": "1", "both": "request"}),
    case("managed_tags", "ecs-api.md 12.2: enableECSManagedTags", {"enableECSManagedTags": True},
         {"aws:ecs:clusterName": None}),
]


@pytest.mark.parametrize("members, expected", TAGS)
def test_tags_of_a_task(ecs, cluster, members, expected):
    machine(ecs, cluster)
    definition = define(ecs, tags=[{"key": "d", "value": "1"}, {"key": "both", "value": "definition"}])
    wanted = {key: value or cluster for key, value in expected.items()}

    (new,) = run(ecs, cluster, definition, **members)

    assert tags_of(new["tags"]) == wanted
    assert task(ecs, cluster, new["taskArn"]).get("tags", []) == []
    assert tags_of(task(ecs, cluster, new["taskArn"], include=["TAGS"])["tags"]) == wanted


@rule("ecs-api.md 7.9: the tags of a stopped task are dropped")
def test_tags_vanish_with_the_stop(ecs, cluster, reference):
    done = stopped(ecs, cluster, reference, tags=[{"key": "k", "value": "v"}])

    assert task(ecs, cluster, done["taskArn"], include=["TAGS"]).get("tags", []) == []


# --- life ------------------------------------------------------------------------------------------


@rule("ecs-api.md 7.6: PENDING to RUNNING")
def test_a_running_task(ecs, cluster, reference):
    running = run_until(ecs, cluster, reference)

    assert (running["lastStatus"], running["desiredStatus"]) == ("RUNNING", "RUNNING")
    assert running["createdAt"] <= running["startedAt"]
    assert (running["connectivity"], type(running["connectivityAt"])) == (
        "CONNECTED", datetime.datetime,
    )
    assert "stoppingAt" not in running
    (shown,) = running["containers"]
    assert shown["lastStatus"] == "RUNNING"
    assert shown["runtimeId"]
    assert shown["networkBindings"] == []
    assert "exitCode" not in shown


@rule("ecs-api.md 7.6: version rises with each visible change")
def test_the_version_of_a_task_rises(ecs, cluster, reference):
    (new,) = run(ecs, cluster, reference)
    running = until(ecs, cluster, new["taskArn"], "RUNNING")
    ecs.stop_task(cluster=cluster, task=new["taskArn"])
    done = until(ecs, cluster, new["taskArn"], "STOPPED")

    assert new["version"] < running["version"] < done["version"]


@rule("ecs-api.md 7.5: networkBindings from RUNNING on")
def test_the_ports_of_a_task(ecs, cluster):
    machine(ecs, cluster)
    running = run_until(ecs, cluster, define(ecs, container(portMappings=[
        {"containerPort": 80, "hostPort": 8080}, {"containerPort": 53, "protocol": "udp"},
    ])))

    fixed, dynamic = running["containers"][0]["networkBindings"]
    assert fixed == {
        "bindIP": "0.0.0.0", "containerPort": 80, "hostPort": 8080, "protocol": "tcp",
    }
    assert (dynamic["containerPort"], dynamic["protocol"]) == (53, "udp")
    assert dynamic["hostPort"] >= 32768


@rule("ecs-api.md 7.7: UserInitiated")
def test_a_stopped_task(ecs, cluster, reference):
    running = run_until(ecs, cluster, reference)
    answer = ecs.stop_task(cluster=cluster, task=running["taskArn"], reason="enough")["task"]
    done = until(ecs, cluster, running["taskArn"], "STOPPED")

    assert (answer["lastStatus"], answer["desiredStatus"]) == ("RUNNING", "STOPPED")
    for shown in (answer, done):
        assert (shown["stopCode"], shown["stoppedReason"]) == ("UserInitiated", "enough")
    assert done["startedAt"] <= done["stoppingAt"] <= done["stoppedAt"]
    assert done["containers"][0]["lastStatus"] == "STOPPED"
    assert done["containers"][0]["exitCode"] == 143


@rule("ecs-api.md 7.7: the reason of a stop without one")
def test_a_task_stopped_without_a_reason(ecs, cluster, reference):
    done = stopped(ecs, cluster, reference)

    assert done["stoppedReason"] == "Task stopped by user"


@rule("ecs-api.md 7.9: StopTask takes an id")
def test_stopping_by_id(ecs, cluster, reference):
    (new,) = run(ecs, cluster, reference)

    answer = ecs.stop_task(cluster=cluster, task=new["taskArn"].split("/")[-1])["task"]

    assert answer["taskArn"] == new["taskArn"]


@rule("ecs-api.md 7.9: already STOPPED returns the task unchanged")
def test_stopping_twice(ecs, cluster, reference):
    done = stopped(ecs, cluster, reference, startedBy="x")

    again = ecs.stop_task(cluster=cluster, task=done["taskArn"], reason="another")["task"]

    assert again == done


@rule("ecs-api.md 7.9: stopping an unknown task")
def test_stopping_an_unknown_task(ecs, cluster):
    assert refusal(ecs.stop_task, cluster=cluster, task=MISSING_ID) == (
        "InvalidParameterException", "The referenced task was not found.",
    )


@pytest.mark.parametrize("length, taken", [
    case("reason_1024", "ecs-api.md 7.9: reason up to 1024", 1024, True),
    case("reason_1025", "ecs-api.md 7.9: reason up to 1024", 1025, False),
])
def test_the_length_of_a_reason(ecs, cluster, reference, length, taken):
    (new,) = run(ecs, cluster, reference)
    if taken:
        answer = ecs.stop_task(cluster=cluster, task=new["taskArn"], reason="r" * length)
        assert answer["task"]["stoppedReason"] == "r" * length
    else:
        invalid(ecs.stop_task, cluster=cluster, task=new["taskArn"], reason="r" * length)


@rule("ecs-api.md 2.1: bad task id")
def test_stopping_what_is_no_task_id(ecs, cluster):
    assert refusal(ecs.stop_task, cluster=cluster, task="not a task") == (
        "InvalidParameterException", "Task Identifier is invalid",
    )


@pytest.mark.parametrize("waiter, stop", [
    case("waiter_running", "ecs-api.md 7.10: tasks_running succeeds when all are RUNNING",
         "tasks_running", False),
    case("waiter_stopped", "ecs-api.md 7.10: tasks_stopped needs all STOPPED", "tasks_stopped", True),
])
def test_waiters_converge(ecs, cluster, reference, waiter, stop):
    arns = [t["taskArn"] for t in run(ecs, cluster, reference, count=3)]
    if stop:
        for arn_ in arns:
            ecs.stop_task(cluster=cluster, task=arn_)

    ecs.get_waiter(waiter).wait(
        cluster=cluster, tasks=arns, WaiterConfig={"Delay": 1, "MaxAttempts": 10}
    )


@rule("ecs-api.md 7.10: tasks_running fails on a STOPPED task")
def test_the_waiter_for_running_fails(ecs, cluster, reference):
    from botocore.exceptions import WaiterError

    done = stopped(ecs, cluster, reference)

    with pytest.raises(WaiterError, match="Waiter TasksRunning failed"):
        ecs.get_waiter("tasks_running").wait(
            cluster=cluster, tasks=[done["taskArn"]], WaiterConfig={"Delay": 1, "MaxAttempts": 3}
        )


# --- StartTask -------------------------------------------------------------------------------------


def start(ecs, cluster, definition, *instances, **members):
    return ecs.start_task(
        cluster=cluster, taskDefinition=definition, containerInstances=list(instances), **members
    )


@rule("ecs-api.md 7.4: one task on each named instance")
def test_starting_on_each(ecs, cluster):
    arns = [machine(ecs, cluster)["containerInstanceArn"] for _ in range(3)]

    answer = start(ecs, cluster, define(ecs), arns[0], arns[2].split("/")[-1])

    assert answer["failures"] == []
    assert [t["containerInstanceArn"] for t in answer["tasks"]] == [arns[0], arns[2]]
    for new in answer["tasks"]:
        until(ecs, cluster, new["taskArn"], "RUNNING")


@rule("ecs-api.md 7.4: results are per instance")
def test_starting_where_it_does_not_fit(ecs, cluster):
    small = machine(ecs, cluster, cpu=100)["containerInstanceArn"]
    large = machine(ecs, cluster, cpu=1000)["containerInstanceArn"]

    answer = start(ecs, cluster, define(ecs, container(cpu=500)), small, large)

    assert [t["containerInstanceArn"] for t in answer["tasks"]] == [large]
    assert [(f["arn"], f["reason"]) for f in answer["failures"]] == [(small, "RESOURCE:CPU")]


@pytest.mark.parametrize("reason", [
    case("start_missing", "ecs-api.md 7.2: StartTask MISSING", "MISSING"),
    case("start_inactive", "ecs-api.md 7.2: StartTask INACTIVE", "INACTIVE"),
])
def test_starting_on_what_is_not_there(ecs, cluster, reason):
    arn_ = arn("container-instance", cluster, MISSING_ID)
    if reason == "INACTIVE":
        arn_ = machine(ecs, cluster)["containerInstanceArn"]
        ecs.deregister_container_instance(cluster=cluster, containerInstance=arn_)

    answer = start(ecs, cluster, define(ecs), arn_)

    assert answer["tasks"] == []
    assert [(f["arn"], f["reason"]) for f in answer["failures"]] == [(arn_, reason)]


@rule("ecs-api.md 7.4: refused on a DRAINING instance, with a failure")
def test_starting_on_a_draining_instance(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    ecs.update_container_instances_state(
        cluster=cluster, containerInstances=[arn_], status="DRAINING"
    )

    answer = start(ecs, cluster, define(ecs), arn_)

    assert answer["tasks"] == []
    assert [f["arn"] for f in answer["failures"]] == [arn_]


@rule("ecs-api.md 7.4: constraints of the definition are not evaluated")
def test_starting_against_constraints(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    definition = define(ecs, placementConstraints=[
        {"type": "memberOf", "expression": "attribute:rack == nowhere"}
    ])

    assert len(start(ecs, cluster, definition, arn_)["tasks"]) == 1


@rule("ecs-api.md 7.4: attribute checks apply")
def test_starting_without_a_capability(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    answer = start(ecs, cluster, define(ecs, container(), **REXRAY), arn_)

    assert reasons(answer) == ["ATTRIBUTE"]


@rule("ecs-api.md 7.4: an empty list of instances")
def test_starting_nowhere(ecs, cluster):
    assert refusal(
        ecs.start_task, cluster=cluster, taskDefinition=define(ecs), containerInstances=[]
    ) == ("ClientException", "Container Instances cannot be empty.")


@pytest.mark.parametrize("count, taken", [
    case("start_on_10", "ecs-api.md 2.3: StartTask on 1-10 instances", 10, True),
    case("start_on_11", "ecs-api.md 2.3: StartTask on 1-10 instances", 11, False),
])
def test_starting_on_many(ecs, cluster, count, taken):
    arns = [arn("container-instance", cluster, f"{n:032x}") for n in range(count)]
    definition = define(ecs)
    if taken:
        assert len(start(ecs, cluster, definition, *arns)["failures"]) == count
    else:
        invalid(ecs.start_task, cluster=cluster, taskDefinition=definition, containerInstances=arns)


@rule("ecs-api.md 7.4: what a started task is given")
def test_what_a_started_task_is_given(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    answer = start(
        ecs, cluster, define(ecs), arn_, startedBy="me", group="mine",
        tags=[{"key": "k", "value": "v"}],
        overrides={"containerOverrides": [{"name": "main", "command": ["x"]}]},
    )

    (new,) = answer["tasks"]
    assert (new["startedBy"], new["group"], new["launchType"]) == ("me", "mine", "EC2")
    assert new["tags"] == [{"key": "k", "value": "v"}]
    assert new["overrides"]["containerOverrides"] == [{"name": "main", "command": ["x"]}]


@rule("ecs-api.md 7.4: StartTask is not idempotent")
def test_starting_twice(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    definition = define(ecs)
    first, second = (start(ecs, cluster, definition, arn_)["tasks"][0]["taskArn"] for _ in range(2))

    assert first != second


@rule("ecs-api.md 4.7: StartTask of a definition that is not there")
def test_starting_what_is_not_there(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    code, _ = refusal(
        ecs.start_task, cluster=cluster, taskDefinition="nowhere", containerInstances=[arn_]
    )
    assert code in ("ClientException", "InvalidParameterException")


@rule("ecs-api.md 7.4: StartTask in an unknown cluster")
def test_starting_in_an_unknown_cluster(ecs):
    assert refusal(
        ecs.start_task, cluster="nowhere", taskDefinition="f", containerInstances=[MISSING_ID]
    ) == NOT_FOUND


# --- DescribeTasks ---------------------------------------------------------------------------------


@rule("ecs-api.md 7.10: no tasks")
def test_describing_no_tasks(ecs, cluster):
    assert refusal(ecs.describe_tasks, cluster=cluster, tasks=[]) == (
        "InvalidParameterException", "Tasks cannot be empty.",
    )


@pytest.mark.parametrize("count, taken", [
    case("describe_100_tasks", "ecs-api.md 2.3: DescribeTasks up to 100", 100, True),
    case("describe_101_tasks", "ecs-api.md 2.3: DescribeTasks up to 100", 101, False),
])
def test_describing_many_tasks(ecs, cluster, count, taken):
    ids = [f"{n:032x}" for n in range(count)]
    if taken:
        assert len(ecs.describe_tasks(cluster=cluster, tasks=ids)["failures"]) == count
    else:
        assert refusal(ecs.describe_tasks, cluster=cluster, tasks=ids) == (
            "InvalidParameterException", "taskIds can have at most 100 items.",
        )


@rule("ecs-api.md 7.10: unknown tasks are failures MISSING with an ARN in this cluster")
def test_describing_an_unknown_task(ecs, cluster, reference):
    (new,) = run(ecs, cluster, reference)

    answer = ecs.describe_tasks(cluster=cluster, tasks=[MISSING_ID, new["taskArn"]])

    assert [t["taskArn"] for t in answer["tasks"]] == [new["taskArn"]]
    assert answer["failures"] == [
        {"arn": arn("task", cluster, MISSING_ID), "reason": "MISSING"}
    ]


@rule("ecs-api.md 7.10: a task of another cluster is MISSING")
def test_describing_a_task_of_another_cluster(ecs, cluster, reference):
    (new,) = run(ecs, cluster, reference)
    other = unique("c")
    ecs.create_cluster(clusterName=other)

    answer = ecs.describe_tasks(cluster=other, tasks=[new["taskArn"].split("/")[-1]])

    assert (answer["tasks"], answer["failures"][0]["reason"]) == ([], "MISSING")


@rule("ecs-api.md 2.4: describe in request order, duplicates collapsed")
def test_describing_tasks_in_order(ecs, cluster, reference):
    arns = [t["taskArn"] for t in run(ecs, cluster, reference, count=4)]
    asked = [arns[3], arns[0], arns[3].split("/")[-1], arns[2]]

    answer = ecs.describe_tasks(cluster=cluster, tasks=asked)

    assert [t["taskArn"] for t in answer["tasks"]] == [arns[3], arns[0], arns[2]]


@rule("ecs-api.md 7.6: STOPPED tasks stay described")
def test_describing_a_stopped_task(ecs, cluster, reference):
    done = stopped(ecs, cluster, reference)

    assert task(ecs, cluster, done["taskArn"])["lastStatus"] == "STOPPED"


# --- ListTasks -------------------------------------------------------------------------------------


def listed(ecs, cluster, **members):
    return everything(ecs.list_tasks, "taskArns", cluster=cluster, **members)


@rule("ecs-api.md 2.4: tasks sorted by ARN")
def test_tasks_are_listed_in_order(ecs, cluster, reference):
    arns = [t["taskArn"] for t in run(ecs, cluster, reference, count=5)]

    assert listed(ecs, cluster) == sorted(arns)


@rule("ecs-api.md 7.11: desiredStatus RUNNING by default")
def test_a_stopping_task_leaves_the_list(ecs, cluster, reference):
    kept, gone = run(ecs, cluster, reference, count=2)
    ecs.stop_task(cluster=cluster, task=gone["taskArn"])

    assert listed(ecs, cluster) == [kept["taskArn"]]
    assert listed(ecs, cluster, desiredStatus="STOPPED") == [gone["taskArn"]]


@rule("ecs-api.md 0: filtering by PENDING is legal and returns nothing")
def test_listing_pending_tasks(ecs, cluster, reference):
    run(ecs, cluster, reference)

    assert listed(ecs, cluster, desiredStatus="PENDING") == []


@pytest.mark.parametrize("members, expected", [
    case("by_family", "ecs-api.md 7.11: by family", {"family": "{f}"}, [0, 1]),
    case("by_unknown_family", "ecs-api.md 7.11: unknown family is empty", {"family": "nowhere"}, []),
    case("by_started_by", "ecs-api.md 7.11: by startedBy", {"startedBy": "me"}, [1, 2]),
    case("by_both", "ecs-api.md 7.11: filters are ANDed", {"startedBy": "me", "family": "{f}"}, [1]),
    case("by_ec2", "ecs-api.md 7.11: by launchType EC2", {"launchType": "EC2"}, [0, 1, 2]),
    case("by_fargate", "ecs-api.md 7.11: by launchType FARGATE", {"launchType": "FARGATE"}, []),
])
def test_tasks_are_filtered(ecs, cluster, reference, family, members, expected):
    define(ecs, family=family)
    arns = [
        run(ecs, cluster, definition, **more)[0]["taskArn"] for definition, more in (
            (family, {}), (family, {"startedBy": "me"}), (reference, {"startedBy": "me"}),
        )
    ]

    found = listed(ecs, cluster, **{k: v.format(f=family) for k, v in members.items()})

    assert found == sorted(arns[n] for n in expected)


@rule("ecs-api.md 7.11: family matches any revision and any revision status")
def test_listing_by_family_of_old_revisions(ecs, cluster, family):
    machine(ecs, cluster)
    arns = [run(ecs, cluster, define(ecs, family=family))[0]["taskArn"] for _ in range(2)]
    ecs.deregister_task_definition(taskDefinition=f"{family}:1")

    assert listed(ecs, cluster, family=family) == sorted(arns)


@rule("ecs-api.md 7.11: by container instance")
def test_listing_by_instance(ecs, cluster):
    arns = [machine(ecs, cluster)["containerInstanceArn"] for _ in range(2)]
    definition = define(ecs)
    tasks = start(ecs, cluster, definition, *arns)["tasks"]

    assert listed(ecs, cluster, containerInstance=arns[1]) == [tasks[1]["taskArn"]]
    assert listed(ecs, cluster, containerInstance=arns[0].split("/")[-1]) == [tasks[0]["taskArn"]]


@rule("ecs-api.md 7.11: an unknown instance")
def test_listing_by_an_unknown_instance(ecs, cluster):
    invalid(ecs.list_tasks, cluster=cluster, containerInstance=MISSING_ID)


@rule("ecs-api.md 7.11: an unknown service")
def test_listing_by_an_unknown_service(ecs, cluster):
    assert refusal(ecs.list_tasks, cluster=cluster, serviceName="nowhere") == (
        "ServiceNotFoundException", "Service not found.",
    )


@rule("ecs-api.md 1.3: enum violation of desiredStatus")
def test_listing_by_no_such_status(loose, cluster):
    assert "desiredStatus" in invalid(loose.list_tasks, cluster=cluster, desiredStatus="GONE")


@rule("ecs-api.md 2.2: the boto3 paginator goes to the last page")
def test_tasks_by_the_paginator(ecs, cluster, reference):
    arns = [t["taskArn"] for _ in range(3) for t in run(ecs, cluster, reference, count=9)]

    found = [
        page["taskArns"] for page in
        ecs.get_paginator("list_tasks").paginate(cluster=cluster, PaginationConfig={"PageSize": 10})
    ]

    assert [len(page) for page in found] == [10, 10, 7]
    assert [arn_ for page in found for arn_ in page] == sorted(arns)


# --- pages, for all lists --------------------------------------------------------------------------

LISTS = {
    "list_clusters": ("clusterArns", {}),
    "list_container_instances": ("containerInstanceArns", {}),
    "list_tasks": ("taskArns", {}),
    "list_task_definitions": ("taskDefinitionArns", {}),
    "list_task_definition_families": ("families", {}),
    "list_attributes": ("attributes", {"targetType": "container-instance"}),
}


@pytest.mark.parametrize("call", [
    case(f"page_limits_{call}", "ecs-api.md 2.2: maxResults 1-100", call) for call in LISTS
])
def test_limits_of_a_page(loose, call):
    _, members = LISTS[call]
    for allowed in (1, 100):
        getattr(loose, call)(maxResults=allowed, **members)
    for refused in (0, 101, -1):
        assert "maxResults" in invalid(getattr(loose, call), maxResults=refused, **members)


@pytest.mark.parametrize("call", [
    case(f"bad_token_{call}", "ecs-api.md 2.2: an undecodable token", call) for call in LISTS
])
def test_a_bad_token(ecs, call):
    _, members = LISTS[call]

    assert "token" in invalid(getattr(ecs, call), nextToken="no token", **members).lower()


@rule("ecs-api.md 2.2: a token is bound to its filters")
def test_a_token_of_another_filter(ecs, cluster, reference):
    run(ecs, cluster, reference, count=3)
    token = ecs.list_tasks(cluster=cluster, maxResults=1)["nextToken"]

    assert "token" in invalid(
        ecs.list_tasks, cluster=cluster, nextToken=token, desiredStatus="STOPPED"
    ).lower()


@rule("ecs-api.md 2.2: an empty token is the first page")
def test_an_empty_token(ecs, cluster, reference):
    (new,) = run(ecs, cluster, reference)

    assert ecs.list_tasks(cluster=cluster, nextToken="")["taskArns"] == [new["taskArn"]]


@rule("ecs-api.md 2.2: no token at the end, not even when the last page is full")
def test_a_full_last_page(ecs, cluster, reference):
    run(ecs, cluster, reference, count=4)

    found = pages(ecs.list_tasks, "taskArns", cluster=cluster, maxResults=2)

    assert [len(page) for page in found] == [2, 2]
