"""Container instances: registration, representation, states, attributes."""

import uuid

import pytest
from lab import (
    CAPABILITIES, arn, attributes_of, case, client_error, container, define, everything, identity,
    instance, invalid, machine, refusal, refuse_type, resource, resources, rule, run, run_until, task,
    unique, until,
)

MISSING_ID = "f" * 32


def instance_id():
    return f"i-{uuid.uuid4().hex[:17]}"


# --- registration ----------------------------------------------------------------------------------


@rule("ecs-api.md 6.1: ACTIVE at once, connected, version 1")
def test_a_new_instance(ecs, cluster):
    new = machine(ecs, cluster)

    assert (new["status"], new["agentConnected"], new["version"]) == ("ACTIVE", True, 1)
    assert (new["runningTasksCount"], new["pendingTasksCount"]) == (0, 0)


@rule("ecs-api.md 2.1: ARN of a container instance")
def test_the_arn_of_an_instance(ecs, cluster):
    prefix, _, found = machine(ecs, cluster)["containerInstanceArn"].rpartition("/")

    assert prefix == arn("container-instance", cluster)
    assert len(found) == 32 and set(found) <= set("0123456789abcdef")


@rule("ecs-api.md 6.1: the identity document gives id, zone, type, image")
def test_the_identity_document(ecs, cluster):
    mine = instance_id()
    new = machine(ecs, cluster, instance_id=mine, zone="eu-west-9z", instance_type="g5.xlarge")

    assert new["ec2InstanceId"] == mine
    shown = attributes_of(new)
    assert {
        "ecs.availability-zone": "eu-west-9z", "ecs.instance-type": "g5.xlarge", "ecs.ami-id": "ami-1",
        "ecs.cpu-architecture": "x86_64", "ecs.os-type": "linux", "ecs.os-family": "LINUX",
    }.items() <= shown.items()


@rule("ecs-api.md 0: registration answers with every attribute sent")
def test_the_attributes_sent_come_back(ecs, cluster):
    new = machine(ecs, cluster, attributes={"rack": "r1", "empty": None})

    assert set(CAPABILITIES) <= set(attributes_of(new))
    assert attributes_of(new)["rack"] == "r1"
    assert attributes_of(new)["empty"] is None


@rule("ecs-api.md 0: unknown members are ignored")
def test_members_outside_the_model(server, cluster):
    from protocol_conformance_test import post

    answer = post(server, "RegisterContainerInstance", {
        "cluster": cluster, "totalResources": resources(), "clientToken": "t1", "unheard": {"of": [1]},
    })

    assert answer.status == 200


@rule("ecs-api.md 6.1: clientToken repeats return the same registration")
def test_a_registration_repeated_by_its_token(server, ecs, cluster):
    from protocol_conformance_test import post

    body = {"cluster": cluster, "totalResources": resources(), "clientToken": unique("t")}
    first, second = [
        post(server, "RegisterContainerInstance", body).json["containerInstance"] for _ in range(2)
    ]

    assert first["containerInstanceArn"] == second["containerInstanceArn"]
    assert len(everything(ecs.list_container_instances, "containerInstanceArns", cluster=cluster)) == 1


@rule("ecs-api.md 6.1: two registrations of the same ec2InstanceId: the old one is replaced")
def test_a_machine_that_registers_anew(ecs, cluster):
    mine = instance_id()
    old = machine(ecs, cluster, instance_id=mine)["containerInstanceArn"]
    new = machine(ecs, cluster, instance_id=mine)["containerInstanceArn"]

    assert new != old
    assert everything(ecs.list_container_instances, "containerInstanceArns", cluster=cluster) == [new]


@rule("ecs-api.md 6.1: re-registration keeps id and custom attributes")
def test_registering_again_by_arn(ecs, cluster):
    mine = instance_id()
    old = machine(ecs, cluster, instance_id=mine, attributes={"rack": "r1"})["containerInstanceArn"]
    new = machine(ecs, cluster, instance_id=mine, containerInstanceArn=old)

    assert new["containerInstanceArn"] == old
    assert attributes_of(new)["rack"] == "r1"


@rule("ecs-api.md 6.1: re-registration refreshes version info")
def test_registering_again_refreshes_versions(ecs, cluster):
    mine = instance_id()
    old = machine(ecs, cluster, instance_id=mine)["containerInstanceArn"]

    new = ecs.register_container_instance(
        cluster=cluster, containerInstanceArn=old, totalResources=resources(),
        instanceIdentityDocument=identity(mine),
        versionInfo={"agentVersion": "2.0.0", "agentHash": "ffff", "dockerVersion": "25.0"},
    )["containerInstance"]

    assert new["versionInfo"]["agentVersion"] == "2.0.0"


@rule("ecs-api.md 6.1: re-registration of an unknown ARN")
def test_registering_again_by_an_unknown_arn(ecs, cluster):
    client_error(
        ecs.register_container_instance, cluster=cluster, totalResources=resources(),
        containerInstanceArn=arn("container-instance", cluster, MISSING_ID),
    )


@rule("ecs-api.md 6.1: re-registration of an INACTIVE ARN")
def test_registering_again_after_deregistration(ecs, cluster):
    old = machine(ecs, cluster)["containerInstanceArn"]
    ecs.deregister_container_instance(cluster=cluster, containerInstance=old)

    client_error(ecs.register_container_instance, cluster=cluster, totalResources=resources(),
                 containerInstanceArn=old)


@rule("ecs-api.md 6.1: totals below what running tasks use")
def test_registering_again_smaller_than_its_tasks(ecs, cluster):
    mine = instance_id()
    old = machine(ecs, cluster, instance_id=mine)["containerInstanceArn"]
    run_until(ecs, cluster, define(ecs, container(memory=4096)))

    code, text = refusal(
        ecs.register_container_instance, cluster=cluster, containerInstanceArn=old,
        instanceIdentityDocument=identity(mine), totalResources=resources(memory=2048),
    )

    assert code in ("InvalidParameterException", "ClientException")
    assert "Container instance type changes are not supported." in text


@rule("ecs-api.md 6.1: no such cluster")
def test_registering_in_an_unknown_cluster(ecs):
    assert refusal(
        ecs.register_container_instance, cluster="nowhere", totalResources=resources()
    ) == ("ClusterNotFoundException", "Cluster not found.")


@rule("ecs-api.md 6.2: dockerVersion is prefixed")
def test_the_docker_version(ecs, cluster):
    assert machine(ecs, cluster)["versionInfo"] == {
        "agentVersion": "1.99.0", "agentHash": "a1b2c3d4", "dockerVersion": "DockerVersion: 24.0.7",
    }


# --- resources -------------------------------------------------------------------------------------


@rule("ecs-api.md 6.2: resource entries carry all members, in order")
def test_resources_of_a_new_instance(ecs, cluster):
    new = machine(ecs, cluster, cpu=2048, memory=4096, tcp=("22", "2375"), udp=("53",))

    zero = {"doubleValue": 0.0, "longValue": 0, "integerValue": 0}
    expected = [
        {"name": "CPU", "type": "INTEGER", **zero, "integerValue": 2048},
        {"name": "MEMORY", "type": "INTEGER", **zero, "integerValue": 4096},
        {"name": "PORTS", "type": "STRINGSET", **zero, "stringSetValue": ["22", "2375"]},
        {"name": "PORTS_UDP", "type": "STRINGSET", **zero, "stringSetValue": ["53"]},
    ]
    assert new["registeredResources"] == expected
    assert new["remainingResources"] == expected


@rule("ecs-api.md 0: remaining CPU and MEMORY are what is free, PORTS what is in use")
def test_remaining_resources(ecs, cluster):
    arn_ = machine(ecs, cluster, cpu=1024, memory=1000)["containerInstanceArn"]
    run(ecs, cluster, define(ecs, container(
        cpu=100, memory=300, portMappings=[
            {"containerPort": 80, "hostPort": 8080},
            {"containerPort": 53, "hostPort": 5353, "protocol": "udp"},
            {"containerPort": 81},
        ],
    )))

    shown = instance(ecs, cluster, arn_)

    assert resource(shown, "remainingResources", "CPU")["integerValue"] == 924
    assert resource(shown, "remainingResources", "MEMORY")["integerValue"] == 700
    assert sorted(resource(shown, "remainingResources", "PORTS")["stringSetValue"]) == ["22", "8080"]
    assert resource(shown, "remainingResources", "PORTS_UDP")["stringSetValue"] == ["5353"]
    assert resource(shown, "registeredResources", "PORTS")["stringSetValue"] == ["22"]


@pytest.mark.parametrize("members, task_members, cpu, memory", [
    case("reserve_limit", "ecs-api.md 8.1: memory of the container", {"cpu": 10, "memory": 100}, {},
         10, 100),
    case("reserve_reservation", "ecs-api.md 0: memoryReservation wins over memory",
         {"memory": 100, "memoryReservation": 40}, {}, 0, 40),
    case("reserve_task", "ecs-api.md 8.1: the task's cpu and memory go first",
         {"cpu": 10, "memory": 100}, {"cpu": "256", "memory": "512"}, 256, 512),
    case("reserve_zero_cpu", "ecs-api.md 6.2: a container with cpu 0 reserves none", {"cpu": 0}, {},
         0, 64),
])
def test_a_task_takes(ecs, cluster, members, task_members, cpu, memory):
    arn_ = machine(ecs, cluster, cpu=1024, memory=1000)["containerInstanceArn"]

    run(ecs, cluster, define(ecs, container(**members), **task_members))

    shown = instance(ecs, cluster, arn_)
    assert resource(shown, "remainingResources", "CPU")["integerValue"] == 1024 - cpu
    assert resource(shown, "remainingResources", "MEMORY")["integerValue"] == 1000 - memory


@rule("ecs-api.md 7.6: resources are released when the task is reported STOPPED")
def test_what_a_stopped_task_gives_back(ecs, cluster):
    new = machine(ecs, cluster)
    started = run_until(ecs, cluster, define(ecs, container(
        cpu=100, portMappings=[{"containerPort": 80, "hostPort": 8080}]
    )))
    ecs.stop_task(cluster=cluster, task=started["taskArn"])
    until(ecs, cluster, started["taskArn"], "STOPPED")

    shown = instance(ecs, cluster, new["containerInstanceArn"])
    assert shown["remainingResources"] == new["remainingResources"]


@rule("ecs-api.md 6.2: runningTasksCount and pendingTasksCount by lastStatus")
def test_task_counts_of_an_instance(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    for _ in range(2):
        run_until(ecs, cluster, define(ecs))

    shown = instance(ecs, cluster, arn_)
    assert (shown["runningTasksCount"], shown["pendingTasksCount"]) == (2, 0)


@rule("ecs-api.md 6.2: version rises with every change")
def test_the_version_of_an_instance_rises(ecs, cluster):
    new = machine(ecs, cluster)
    run_until(ecs, cluster, define(ecs))
    placed = instance(ecs, cluster, new["containerInstanceArn"])["version"]
    ecs.put_attributes(cluster=cluster, attributes=[
        {"name": "rack", "value": "r1", "targetId": new["containerInstanceArn"]}
    ])
    changed = instance(ecs, cluster, new["containerInstanceArn"])["version"]

    assert new["version"] < placed < changed


# --- describe and list -----------------------------------------------------------------------------


@rule("ecs-api.md 6.2: unknown ids are failures MISSING with the instance's ARN")
def test_describing_an_unknown_instance(ecs, cluster):
    known = machine(ecs, cluster)["containerInstanceArn"]

    answer = ecs.describe_container_instances(
        cluster=cluster, containerInstances=[MISSING_ID, known.split("/")[-1]]
    )

    assert [i["containerInstanceArn"] for i in answer["containerInstances"]] == [known]
    assert answer["failures"] == [
        {"arn": arn("container-instance", cluster, MISSING_ID), "reason": "MISSING"}
    ]


@rule("ecs-api.md 6.2: an empty list of instances")
def test_describing_no_instances(ecs, cluster):
    assert refusal(
        ecs.describe_container_instances, cluster=cluster, containerInstances=[]
    ) == ("ClientException", "Container Instances cannot be empty.")


@rule("ecs-api.md 2.3: more than 100 instances")
def test_describing_101_instances(ecs, cluster):
    assert refusal(
        ecs.describe_container_instances, cluster=cluster,
        containerInstances=[f"{n:032x}" for n in range(101)],
    ) == ("InvalidParameterException", "instanceIds can have at most 100 items.")


@rule("ecs-api.md 2.3: 100 instances")
def test_describing_100_instances(ecs, cluster):
    answer = ecs.describe_container_instances(
        cluster=cluster, containerInstances=[f"{n:032x}" for n in range(100)]
    )

    assert len(answer["failures"]) == 100


@rule("ecs-api.md 6.2: tags only with include TAGS")
def test_tags_of_an_instance(ecs, cluster):
    tags = [{"key": "k", "value": "v"}]
    arn_ = machine(ecs, cluster, tags=tags)["containerInstanceArn"]

    assert instance(ecs, cluster, arn_).get("tags", []) == []
    assert instance(ecs, cluster, arn_, include=["TAGS"])["tags"] == tags


@rule("ecs-api.md 6.2: healthStatus only with include CONTAINER_INSTANCE_HEALTH")
def test_health_of_an_instance(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    assert "healthStatus" not in instance(ecs, cluster, arn_)
    health = instance(ecs, cluster, arn_, include=["CONTAINER_INSTANCE_HEALTH"])["healthStatus"]
    words = {"OK", "IMPAIRED", "INSUFFICIENT_DATA", "INITIALIZING"}
    assert health["overallStatus"] in words
    assert {detail["status"] for detail in health["details"]} <= words


@rule("ecs-api.md 2.4: instances sorted by ARN")
def test_instances_are_listed_in_order(ecs, cluster):
    registered = [machine(ecs, cluster)["containerInstanceArn"] for _ in range(4)]

    assert everything(
        ecs.list_container_instances, "containerInstanceArns", cluster=cluster
    ) == sorted(registered)


@pytest.mark.parametrize("status, expected", [
    case("instances_all", "ecs-api.md 6.3: without status all but INACTIVE", None,
         ["active", "draining"]),
    case("instances_active", "ecs-api.md 6.3: status ACTIVE", "ACTIVE", ["active"]),
    case("instances_draining", "ecs-api.md 6.3: status DRAINING", "DRAINING", ["draining"]),
])
def test_instances_by_status(ecs, cluster, status, expected):
    arns = {
        name: machine(ecs, cluster)["containerInstanceArn"] for name in ("active", "draining", "gone")
    }
    ecs.update_container_instances_state(
        cluster=cluster, containerInstances=[arns["draining"]], status="DRAINING"
    )
    ecs.deregister_container_instance(cluster=cluster, containerInstance=arns["gone"])

    listed = ecs.list_container_instances(cluster=cluster, **({"status": status} if status else {}))

    assert listed["containerInstanceArns"] == sorted(arns[name] for name in expected)


@rule("ecs-api.md 6.3: the five statuses that are not INACTIVE")
def test_instances_of_no_such_status(loose, cluster):
    invalid(loose.list_container_instances, cluster=cluster, status="SLEEPING")


@rule("ecs-api.md 6.3: status and filter, both together")
def test_instances_by_status_and_filter(ecs, cluster):
    arns = [machine(ecs, cluster, attributes={"rack": r})["containerInstanceArn"] for r in "aab"]
    ecs.update_container_instances_state(
        cluster=cluster, containerInstances=[arns[0]], status="DRAINING"
    )

    listed = ecs.list_container_instances(
        cluster=cluster, status="ACTIVE", filter="attribute:rack == a"
    )

    assert listed["containerInstanceArns"] == [arns[1]]


# --- states ----------------------------------------------------------------------------------------


def set_state(ecs, cluster, status, *instances):
    return ecs.update_container_instances_state(
        cluster=cluster, containerInstances=list(instances), status=status
    )


@rule("ecs-api.md 6.3: ACTIVE and DRAINING go both ways")
def test_draining_and_back(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    answer = set_state(ecs, cluster, "DRAINING", arn_)
    assert answer["failures"] == []
    assert [i["status"] for i in answer["containerInstances"]] == ["DRAINING"]
    assert set_state(ecs, cluster, "ACTIVE", arn_)["containerInstances"][0]["status"] == "ACTIVE"


@rule("ecs-api.md 6.4: only ACTIVE or DRAINING")
def test_no_other_state(loose, cluster):
    arn_ = machine(loose, cluster)["containerInstanceArn"]

    assert refusal(
        loose.update_container_instances_state, cluster=cluster, containerInstances=[arn_],
        status="INACTIVE",
    ) == (
        "InvalidParameterException", "Container instance status should be one of [ACTIVE, DRAINING]",
    )


@rule("ecs-api.md 6.4: unknown is failure MISSING, INACTIVE is failure INACTIVE")
def test_states_of_what_is_not_there(ecs, cluster):
    known, gone = (machine(ecs, cluster)["containerInstanceArn"] for _ in range(2))
    ecs.deregister_container_instance(cluster=cluster, containerInstance=gone)

    answer = set_state(ecs, cluster, "DRAINING", MISSING_ID, gone, known)

    assert [i["containerInstanceArn"] for i in answer["containerInstances"]] == [known]
    assert {(f["arn"], f["reason"]) for f in answer["failures"]} == {
        (arn("container-instance", cluster, MISSING_ID), "MISSING"), (gone, "INACTIVE"),
    }


@pytest.mark.parametrize("count, taken", [
    case("states_of_10", "ecs-api.md 2.3: UpdateContainerInstancesState takes 10", 10, True),
    case("states_of_11", "ecs-api.md 2.3: UpdateContainerInstancesState takes 10", 11, False),
])
def test_states_of_many(ecs, cluster, count, taken):
    ids = [f"{n:032x}" for n in range(count)]
    if taken:
        assert len(set_state(ecs, cluster, "DRAINING", *ids)["failures"]) == count
    else:
        invalid(ecs.update_container_instances_state, cluster=cluster, containerInstances=ids,
                status="DRAINING")


@rule("ecs-api.md 6.4: DRAINING: no placement of any kind")
def test_a_draining_instance_takes_no_tasks(ecs, cluster):
    draining, active = (machine(ecs, cluster)["containerInstanceArn"] for _ in range(2))
    set_state(ecs, cluster, "DRAINING", draining)

    placed = run(ecs, cluster, define(ecs), count=5)

    assert {t["containerInstanceArn"] for t in placed} == {active}


@rule("ecs-api.md 6.4: DRAINING: standalone tasks are left alone")
def test_draining_leaves_standalone_tasks(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    started = run_until(ecs, cluster, define(ecs))

    set_state(ecs, cluster, "DRAINING", arn_)

    shown = task(ecs, cluster, started["taskArn"])
    assert (shown["lastStatus"], shown["desiredStatus"]) == ("RUNNING", "RUNNING")


# --- deregistration --------------------------------------------------------------------------------


@rule("ecs-api.md 6.5: the response shows the instance as INACTIVE")
def test_deregistering_an_instance(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    gone = ecs.deregister_container_instance(cluster=cluster, containerInstance=arn_)[
        "containerInstance"
    ]

    assert (gone["containerInstanceArn"], gone["status"], gone["agentConnected"]) == (
        arn_, "INACTIVE", False,
    )
    assert instance(ecs, cluster, arn_)["status"] == "INACTIVE"


@rule("ecs-api.md 6.5: without force and with tasks on it")
def test_deregistering_an_instance_with_tasks(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    run_until(ecs, cluster, define(ecs))

    assert refusal(
        ecs.deregister_container_instance, cluster=cluster, containerInstance=arn_
    ) == ("InvalidParameterException", "Found running tasks on the instance.")


@rule("ecs-api.md 6.5: with force its tasks become STOPPED")
def test_deregistering_by_force(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    started = run_until(ecs, cluster, define(ecs))

    ecs.deregister_container_instance(cluster=cluster, containerInstance=arn_, force=True)

    orphan = until(ecs, cluster, started["taskArn"], "STOPPED")
    assert orphan["stoppedReason"] == "Container instance deregistration forced by user."


@rule("ecs-api.md 6.5: an unknown instance is not deregistered")
def test_deregistering_an_unknown_instance(ecs, cluster):
    code, _ = refusal(
        ecs.deregister_container_instance, cluster=cluster, containerInstance=MISSING_ID
    )
    assert code in ("InvalidParameterException", "ClientException")


@rule("ecs-api.md 6.7: UpdateContainerAgent has no update")
def test_updating_an_agent(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    refuse_type(
        "NoUpdateAvailableException", ecs.update_container_agent, cluster=cluster,
        containerInstance=arn_,
    )


# --- attributes ------------------------------------------------------------------------------------


def put(ecs, cluster, *attributes):
    return ecs.put_attributes(cluster=cluster, attributes=list(attributes))["attributes"]


@rule("ecs-api.md 6.6: PutAttributes by ARN echoes")
def test_putting_an_attribute_by_arn(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    given = {"name": "rack", "value": "r1", "targetId": arn_}

    (echoed,) = put(ecs, cluster, given)

    assert given.items() <= echoed.items()
    assert attributes_of(instance(ecs, cluster, arn_))["rack"] == "r1"


@rule("ecs-api.md 6.6: PutAttributes by id with targetType")
def test_putting_an_attribute_by_id(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    put(ecs, cluster, {
        "name": "rack", "value": "r1", "targetId": arn_.split("/")[-1],
        "targetType": "container-instance",
    })

    assert attributes_of(instance(ecs, cluster, arn_))["rack"] == "r1"


@rule("ecs-api.md 6.6: a short id requires targetType")
def test_putting_an_attribute_by_id_alone(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    assert "targetType" in invalid(ecs.put_attributes, cluster=cluster, attributes=[
        {"name": "rack", "value": "r1", "targetId": arn_.split("/")[-1]}
    ])


@rule("ecs-api.md 6.6: PutAttributes overwrites")
def test_putting_an_attribute_again(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    for value in ("r1", "r2"):
        put(ecs, cluster, {"name": "rack", "value": value, "targetId": arn_})

    assert attributes_of(instance(ecs, cluster, arn_))["rack"] == "r2"


@rule("ecs-api.md 6.6: the value is optional")
def test_an_attribute_without_a_value(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    put(ecs, cluster, {"name": "ssd", "targetId": arn_})

    assert attributes_of(instance(ecs, cluster, arn_))["ssd"] is None


@pytest.mark.parametrize("count, taken", [
    case("attributes_10", "ecs-api.md 6.6: 10 custom attributes per instance", 10, True),
    case("attributes_11", "ecs-api.md 6.6: 10 custom attributes per instance", 11, False),
])
def test_many_attributes(ecs, cluster, count, taken):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    rows = [{"name": f"a{n}", "value": "v", "targetId": arn_} for n in range(count)]
    put(ecs, cluster, *rows[:9])
    if taken:
        put(ecs, cluster, *rows[9:])
    else:
        refuse_type(
            "AttributeLimitExceededException", ecs.put_attributes, cluster=cluster,
            attributes=rows[9:],
        )
        assert "a9" not in attributes_of(instance(ecs, cluster, arn_))


@rule("ecs-api.md 2.3: PutAttributes takes 10 attributes")
def test_putting_11_attributes(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    code, _ = refusal(ecs.put_attributes, cluster=cluster, attributes=[
        {"name": f"a{n}", "value": "v", "targetId": arn_} for n in range(11)
    ])
    assert code in ("InvalidParameterException", "AttributeLimitExceededException")


@rule("ecs-api.md 6.6: unknown target")
def test_putting_on_an_unknown_target(ecs, cluster):
    refuse_type("TargetNotFoundException", ecs.put_attributes, cluster=cluster, attributes=[
        {"name": "a", "targetId": arn("container-instance", cluster, MISSING_ID)}
    ])


@rule("ecs-api.md 6.6: an empty list of attributes")
def test_putting_no_attributes(ecs, cluster):
    assert refusal(ecs.put_attributes, cluster=cluster, attributes=[]) == (
        "InvalidParameterException", "attributes can not be empty",
    )


@pytest.mark.parametrize("name, value, taken", [
    case("attribute_name_128", "ecs-api.md 6.6: name 1-128", "n" * 128, "v", True),
    case("attribute_name_129", "ecs-api.md 6.6: name 1-128", "n" * 129, "v", False),
    case("attribute_name_empty", "ecs-api.md 6.6: name 1-128", "", "v", False),
    case("attribute_name_all", "ecs-api.md 6.6: characters of a name", "aZ9-_./\\", "v", True),
    case("attribute_name_blank", "ecs-api.md 6.6: characters of a name", "a b", "v", False),
    case("attribute_value_128", "ecs-api.md 6.6: value 1-128", "n", "v" * 128, True),
    case("attribute_value_129", "ecs-api.md 6.6: value 1-128", "n", "v" * 129, False),
    case("attribute_value_all", "ecs-api.md 6.6: characters of a value", "n", "a b@c:d-_./\\", True),
    case("attribute_value_outer", "ecs-api.md 6.6: inner spaces only", "n", " v", False),
    case("attribute_value_other", "ecs-api.md 6.6: characters of a value", "n", "a,b", False),
    case("attribute_ecs", "ecs-api.md 6.6: names starting ecs. are reserved", "ecs.rack", "v", False),
    case("attribute_aws", "ecs-api.md 6.6: names starting com.amazonaws. are reserved",
         "com.amazonaws.x", "v", False),
])
def test_names_and_values_of_attributes(ecs, cluster, name, value, taken):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]
    rows = [{"name": name, "value": value, "targetId": arn_}]
    if taken:
        put(ecs, cluster, *rows)
        assert attributes_of(instance(ecs, cluster, arn_))[name] == value
    else:
        invalid(ecs.put_attributes, cluster=cluster, attributes=rows)


@rule("ecs-api.md 6.6: never partially applied")
def test_a_bad_attribute_among_good_ones(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    refusal(ecs.put_attributes, cluster=cluster, attributes=[
        {"name": "good", "value": "v", "targetId": arn_},
        {"name": "bad", "value": "v", "targetId": arn("container-instance", cluster, MISSING_ID)},
    ])

    assert "good" not in attributes_of(instance(ecs, cluster, arn_))


@rule("ecs-api.md 6.6: DeleteAttributes needs no value")
def test_deleting_an_attribute(ecs, cluster):
    arn_ = machine(ecs, cluster, attributes={"rack": "r1", "row": "1"})["containerInstanceArn"]

    ecs.delete_attributes(cluster=cluster, attributes=[{"name": "rack", "targetId": arn_}])

    assert "rack" not in attributes_of(instance(ecs, cluster, arn_))
    assert attributes_of(instance(ecs, cluster, arn_))["row"] == "1"


@rule("ecs-api.md 6.6: deleting an absent attribute is not an error")
def test_deleting_an_absent_attribute(ecs, cluster):
    arn_ = machine(ecs, cluster)["containerInstanceArn"]

    ecs.delete_attributes(cluster=cluster, attributes=[{"name": "rack", "targetId": arn_}])


@rule("ecs-api.md 6.6: deleting from an unknown target")
def test_deleting_from_an_unknown_target(ecs, cluster):
    refuse_type("TargetNotFoundException", ecs.delete_attributes, cluster=cluster, attributes=[
        {"name": "a", "targetId": arn("container-instance", cluster, MISSING_ID)}
    ])


@rule("ecs-api.md 6.6: one row per instance and attribute")
def test_listing_attributes(ecs, cluster):
    arns = sorted(
        machine(ecs, cluster, attributes={"rack": r})["containerInstanceArn"] for r in ("a", "b")
    )

    rows = everything(
        ecs.list_attributes, "attributes", cluster=cluster, targetType="container-instance",
        attributeName="rack",
    )

    assert [row["targetId"] for row in rows] == arns
    assert {row["value"] for row in rows} == {"a", "b"}
    assert {row["name"] for row in rows} == {"rack"}


@rule("ecs-api.md 6.6: ListAttributes by value")
def test_listing_attributes_by_value(ecs, cluster):
    arns = [machine(ecs, cluster, attributes={"rack": r})["containerInstanceArn"] for r in "ab"]

    rows = ecs.list_attributes(
        cluster=cluster, targetType="container-instance", attributeName="rack", attributeValue="b"
    )["attributes"]

    assert [row["targetId"] for row in rows] == [arns[1]]


@rule("ecs-api.md 6.6: targetType is required")
def test_listing_attributes_of_no_target_type(loose, cluster):
    assert "targetType must be container-instance" in invalid(loose.list_attributes, cluster=cluster)


@rule("ecs-api.md 6.6: attributeValue needs attributeName")
def test_listing_attributes_by_value_alone(ecs, cluster):
    assert "attributeName" in invalid(
        ecs.list_attributes, cluster=cluster, targetType="container-instance", attributeValue="b"
    )


@rule("ecs-api.md 2.2: ListAttributes to the last page")
def test_attributes_page_by_page(ecs, cluster):
    for _ in range(3):
        machine(ecs, cluster, attributes={"rack": "a", "row": "1"})

    def listed(**more):
        return everything(
            ecs.list_attributes, "attributes", cluster=cluster, targetType="container-instance", **more
        )

    assert listed(maxResults=4) == listed()
    assert len(listed()) > 6


@rule("ecs-api.md 6.6: ListAttributes does not list INACTIVE instances")
def test_attributes_of_a_deregistered_instance(ecs, cluster):
    arn_ = machine(ecs, cluster, attributes={"rack": "a"})["containerInstanceArn"]
    ecs.deregister_container_instance(cluster=cluster, containerInstance=arn_)

    assert ecs.list_attributes(
        cluster=cluster, targetType="container-instance", attributeName="rack"
    )["attributes"] == []
