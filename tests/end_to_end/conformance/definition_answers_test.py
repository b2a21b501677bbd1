"""Task definitions: what is added, computed and shown; their states; the lists of them."""

import datetime
import re

import pytest
from lab import (
    arn, case, client_error, container, define, everything, invalid, machine, pages, refusal, rule, run,
    unique, until,
)

UNKNOWN = ("ClientException", "Unable to describe task definition.")


def register(ecs, *containers, **members):
    members.setdefault("family", unique("f"))
    return ecs.register_task_definition(containerDefinitions=list(containers), **members)[
        "taskDefinition"
    ]


MINIMUM = {
    "cpu": 0, "essential": True, "portMappings": [], "environment": [], "mountPoints": [],
    "volumesFrom": [], "systemControls": [],
}


@rule("ecs-api.md 4.2: container defaults, and no others")
def test_a_container_gets_exactly_these_defaults(ecs):
    given = {"name": "c", "image": "i", "memory": 64}

    assert register(ecs, given)["containerDefinitions"] == [{**given, **MINIMUM}]


@rule("ecs-api.md 4.2: task defaults, and no others")
def test_a_task_gets_exactly_these_defaults(ecs, family):
    shown = register(ecs, container(), family=family)

    computed = {"taskDefinitionArn", "revision", "registeredAt", "registeredBy", "compatibilities"}
    assert set(shown) - computed == {
        "family", "containerDefinitions", "networkMode", "volumes", "placementConstraints", "status",
    }
    assert (shown["networkMode"], shown["volumes"], shown["placementConstraints"], shown["status"]) == (
        "bridge", [], [], "ACTIVE",
    )


def mapped(mode, **mapping):
    return {"networkMode": mode}, {"portMappings": [{"containerPort": 80, **mapping}]}


CHECK = {"command": ["CMD", "true"]}

# What is given of the task and of the container; where to look; what must be there.
ADDED = [
    case("bridge_port", "ecs-api.md 4.2: hostPort 0 in bridge", *mapped("bridge"),
         lambda d: d["containerDefinitions"][0]["portMappings"],
         [{"containerPort": 80, "hostPort": 0, "protocol": "tcp"}]),
    case("host_port", "ecs-api.md 4.2: hostPort = containerPort in host", *mapped("host"),
         lambda d: d["containerDefinitions"][0]["portMappings"],
         [{"containerPort": 80, "hostPort": 80, "protocol": "tcp"}]),
    case("awsvpc_port", "ecs-api.md 4.2: hostPort = containerPort in awsvpc", *mapped("awsvpc"),
         lambda d: d["containerDefinitions"][0]["portMappings"],
         [{"containerPort": 80, "hostPort": 80, "protocol": "tcp"}]),
    case("udp_stays", "ecs-api.md 4.2: protocol default tcp", *mapped("host", protocol="udp"),
         lambda d: d["containerDefinitions"][0]["portMappings"][0]["protocol"], "udp"),
    case("fargate_mode", "ecs-api.md 4.2: networkMode awsvpc when FARGATE is required",
         {"requiresCompatibilities": ["FARGATE"], "cpu": "256", "memory": "512"}, {},
         lambda d: d["networkMode"], "awsvpc"),
    case("efs_root", "ecs-api.md 4.2: efs rootDirectory default /",
         {"volumes": [{"name": "v", "efsVolumeConfiguration": {"fileSystemId": "fs-1"}}]}, {},
         lambda d: d["volumes"][0]["efsVolumeConfiguration"],
         {"fileSystemId": "fs-1", "rootDirectory": "/"}),
    case("docker_volume", "ecs-api.md 4.2: docker volume scope task, driver local",
         {"volumes": [{"name": "v", "dockerVolumeConfiguration": {}}]}, {},
         lambda d: d["volumes"][0]["dockerVolumeConfiguration"], {"scope": "task", "driver": "local"}),
    case("one_vcpu", "ecs-api.md 4.2: task cpu strings", {"cpu": "1 vCPU", "memory": "2GB"}, {},
         lambda d: (d["cpu"], d["memory"]), ("1024", "2048")),
    case("half_vcpu", "ecs-api.md 4.2: task cpu strings", {"cpu": ".5 vCPU", "memory": "1 GB"}, {},
         lambda d: (d["cpu"], d["memory"]), ("512", "1024")),
    case("lower_vcpu", "ecs-api.md 4.2: task cpu strings", {"cpu": "1 vcpu"}, {},
         lambda d: d["cpu"], "1024"),
    case("health_check", "ecs-api.md 4.2: health check defaults", {}, {"healthCheck": CHECK},
         lambda d: d["containerDefinitions"][0]["healthCheck"],
         {**CHECK, "interval": 30, "timeout": 5, "retries": 3}),
    case("no_restart_defaults", "ecs-api.md 4.2: everything else absent stays absent", {},
         {"restartPolicy": {"enabled": True}},
         lambda d: d["containerDefinitions"][0]["restartPolicy"], {"enabled": True}),
    case("compatibilities_as_given", "ecs-api.md 4.2: requiresCompatibilities only if given",
         {"requiresCompatibilities": ["EC2"]}, {}, lambda d: d["requiresCompatibilities"], ["EC2"]),
]


@pytest.mark.parametrize("task, members, look, value", ADDED)
def test_registration_adds(ecs, task, members, look, value):
    assert look(register(ecs, container(**members), **task)) == value


@rule("ecs-api.md 4.2: tags are returned beside taskDefinition")
def test_tags_stand_beside_the_definition(ecs, family):
    tags = [{"key": "b", "value": "1"}, {"key": "a", "value": ""}]

    answer = ecs.register_task_definition(
        family=family, containerDefinitions=[container()], tags=tags
    )

    assert answer["tags"] == tags
    assert "tags" not in answer["taskDefinition"]


@rule("ecs-api.md 4.2: identical input still makes a new revision")
def test_the_same_definition_twice_is_two_revisions(ecs, family):
    assert [register(ecs, container(), family=family)["revision"] for _ in range(3)] == [1, 2, 3]


@rule("ecs-api.md 4.1: registeredAt and registeredBy are set")
def test_who_registered_and_when(ecs):
    shown = register(ecs, container())

    now = datetime.datetime.now(datetime.timezone.utc)
    assert abs((now - shown["registeredAt"]).total_seconds()) < 60
    assert shown["registeredBy"].startswith("arn:aws:iam::")


@rule("ecs-api.md 2.1: ARN of a task definition")
def test_the_arn_of_a_definition(ecs, family):
    assert register(ecs, container(), family=family)["taskDefinitionArn"] == arn(
        "task-definition", f"{family}:1"
    )


# --- compatibilities and requiresAttributes -------------------------------------------------------

SHARE = [{"type": "GPU", "sharingStrategy": {"nvidiaMps": {"memory": 100}}}]
WHOLE = [{"type": "GPU", "value": "1"}]
PAIR = {"cpu": "256", "memory": "512"}

COMPATIBILITIES = [
    case("compat_bridge", "ecs-api.md 4.4: EC2 always, EXTERNAL in bridge", {}, {},
         {"EC2", "EXTERNAL"}),
    case("compat_host", "ecs-api.md 4.4: MANAGED_INSTANCES in host", {"networkMode": "host"}, {},
         {"EC2", "EXTERNAL", "MANAGED_INSTANCES"}),
    case("compat_awsvpc", "ecs-api.md 4.4: no FARGATE without cpu and memory",
         {"networkMode": "awsvpc"}, {}, {"EC2", "MANAGED_INSTANCES"}),
    case("compat_fargate", "ecs-api.md 4.4: FARGATE in awsvpc with a valid pair",
         {"networkMode": "awsvpc", **PAIR}, {}, {"EC2", "FARGATE", "MANAGED_INSTANCES"}),
    case("compat_share", "ecs-api.md 5.1: GPU sharing excludes EXTERNAL", {},
         {"resourceRequirements": SHARE}, {"EC2"}),
    case("compat_whole", "ecs-api.md 5.1: whole GPUs exclude FARGATE",
         {"networkMode": "awsvpc", **PAIR}, {"resourceRequirements": WHOLE},
         {"EC2", "MANAGED_INSTANCES"}),
    case("compat_efs", "ecs-api.md 4.4: EFS excludes EXTERNAL",
         {"volumes": [{"name": "v", "efsVolumeConfiguration": {"fileSystemId": "fs-1"}}]}, {},
         {"EC2"}),
]


@pytest.mark.parametrize("task, members, expected", COMPATIBILITIES)
def test_compatibilities(ecs, task, members, expected):
    assert set(register(ecs, container(**members), **task)["compatibilities"]) == expected


def logs(driver, **options):
    return {"logConfiguration": {"logDriver": driver, "options": options}}


AWS = "com.amazonaws.ecs.capability."
ROLE = {"executionRoleArn": "arn:aws:iam::000000000000:role/x"}
SSM = {"name": "S", "valueFrom": "arn:aws:ssm:us-east-1:1:parameter/s"}
ASM = {"name": "S", "valueFrom": "arn:aws:secretsmanager:us-east-1:1:secret:s"}
ECR = "000000000000.dkr.ecr.us-east-1.amazonaws.com/app:1"

ATTRIBUTES = [
    case("attr_log_driver", "ecs-api.md 4.5: log driver", {}, logs("json-file"),
         {AWS + "logging-driver.json-file"}),
    case("attr_awslogs_role", "ecs-api.md 4.5: awslogs with execution role", ROLE,
         logs("awslogs", **{"awslogs-region": "r", "awslogs-group": "g"}),
         {AWS + "logging-driver.awslogs", "ecs.capability.execution-role-awslogs"}),
    case("attr_ecr", "ecs-api.md 4.5: ECR image", {}, {"image": ECR}, {AWS + "ecr-auth"}),
    case("attr_ecr_role", "ecs-api.md 4.5: ECR image with execution role", ROLE, {"image": ECR},
         {AWS + "ecr-auth", "ecs.capability.execution-role-ecr-pull"}),
    case("attr_task_role", "ecs-api.md 4.5: taskRoleArn",
         {"taskRoleArn": "arn:aws:iam::000000000000:role/t"}, {}, {AWS + "task-iam-role"}),
    case("attr_task_role_host", "ecs-api.md 4.5: taskRoleArn in host mode",
         {"taskRoleArn": "arn:aws:iam::000000000000:role/t", "networkMode": "host"}, {},
         {AWS + "task-iam-role-network-host"}),
    case("attr_reservation", "ecs-api.md 4.5: memoryReservation", {}, {"memoryReservation": 32},
         {AWS + "docker-remote-api.1.21"}),
    case("attr_privileged", "ecs-api.md 4.5: privileged", {}, {"privileged": True},
         {AWS + "privileged-container"}),
    case("attr_task_size", "ecs-api.md 4.5: task-level cpu or memory", {"cpu": "256"}, {},
         {"ecs.capability.task-cpu-mem-limit"}),
    case("attr_awsvpc", "ecs-api.md 4.5: awsvpc", {"networkMode": "awsvpc"}, {},
         {"ecs.capability.task-eni"}),
    case("attr_health", "ecs-api.md 4.5: health check", {}, {"healthCheck": CHECK},
         {"ecs.capability.container-health-check"}),
    case("attr_restart", "ecs-api.md 4.5: restart policy", {}, {"restartPolicy": {"enabled": True}},
         {"ecs.capability.container-restart-policy"}),
    case("attr_pid", "ecs-api.md 4.5: pidMode", {"pidMode": "host"}, {},
         {"ecs.capability.pid-ipc-namespace-sharing"}),
    case("attr_ipc", "ecs-api.md 4.5: ipcMode", {"ipcMode": "none"}, {},
         {"ecs.capability.pid-ipc-namespace-sharing"}),
    case("attr_ssm", "ecs-api.md 4.5: secrets from SSM", {}, {"secrets": [SSM]},
         {"ecs.capability.secrets.ssm.environment-variables"}),
    case("attr_asm", "ecs-api.md 4.5: secrets from Secrets Manager", {}, {"secrets": [ASM]},
         {"ecs.capability.secrets.asm.environment-variables"}),
    case("attr_registry", "ecs-api.md 4.5: private registry credentials", {},
         {"repositoryCredentials": {"credentialsParameter": ASM["valueFrom"]}},
         {"ecs.capability.private-registry-authentication.secretsmanager"}),
    case("attr_env_files", "ecs-api.md 4.5: env files", {},
         {"environmentFiles": [{"type": "s3", "value": "arn:aws:s3:::b/f.env"}]},
         {"ecs.capability.env-files.s3"}),
    case("attr_firelens", "ecs-api.md 4.5: firelens", {},
         {"firelensConfiguration": {"type": "fluentbit"}}, {"ecs.capability.firelens.fluentbit"}),
    case("attr_efs", "ecs-api.md 4.5: EFS",
         {"volumes": [{"name": "v", "efsVolumeConfiguration": {"fileSystemId": "fs-1"}}]}, {},
         {"ecs.capability.efs"}),
    case("attr_efs_auth", "ecs-api.md 4.5: EFS with authorisation",
         {"volumes": [{"name": "v", "efsVolumeConfiguration": {
             "fileSystemId": "fs-1", "transitEncryption": "ENABLED",
             "authorizationConfig": {"iam": "ENABLED"}}}]}, {}, {"ecs.capability.efsAuth"}),
    case("attr_docker_plugin", "ecs-api.md 4.5: docker volume driver",
         {"volumes": [{"name": "v", "dockerVolumeConfiguration": {"driver": "rexray"}}]}, {},
         {"ecs.capability.docker-plugin.rexray"}),
    case("attr_port_range", "ecs-api.md 4.5: port range", {},
         {"portMappings": [{"containerPortRange": "80-90"}]},
         {"ecs.capability.network.container-port-range"}),
    case("attr_fault", "ecs-api.md 4.5: fault injection",
         {"enableFaultInjection": True, "networkMode": "awsvpc"}, {},
         {"ecs.capability.fault-injection"}),
    case("attr_share", "ecs-api.md 4.5: sharingStrategy.nvidiaMps", {},
         {"resourceRequirements": SHARE}, {"ecs.capability.gpu-sharing-mps"}),
    case("attr_apparmor", "ecs-api.md 4.5: apparmor", {},
         {"dockerSecurityOptions": ["apparmor:profile"]}, {AWS + "apparmor"}),
    case("attr_selinux", "ecs-api.md 4.5: selinux", {},
         {"dockerSecurityOptions": ["label:type:t"]}, {AWS + "selinux"}),
]


@pytest.mark.parametrize("task, members, expected", ATTRIBUTES)
def test_requires(ecs, task, members, expected):
    shown = register(ecs, container(**members), **task)

    assert expected <= {attribute["name"] for attribute in shown["requiresAttributes"]}


@rule("ecs-api.md 4.5: dependsOn")
def test_requires_container_ordering(ecs):
    shown = register(
        ecs, container("a"),
        container("b", dependsOn=[{"containerName": "a", "condition": "START"}]),
    )

    assert {"name": "ecs.capability.container-ordering"} in shown["requiresAttributes"]


@rule("ecs-api.md 4.5: an empty set is an absent member")
def test_nothing_required_is_nothing_shown(ecs):
    assert "requiresAttributes" not in register(ecs, container())


@rule("ecs-api.md 4.5: whole GPUs require no attribute")
def test_a_whole_gpu_requires_no_attribute(ecs):
    assert "requiresAttributes" not in register(ecs, container(resourceRequirements=WHOLE))


# --- DescribeTaskDefinition ------------------------------------------------------------------------


@pytest.mark.parametrize("reference, revision", [
    case("describe_family", "ecs-api.md 4.6: family is the latest ACTIVE", "{f}", 3),
    case("describe_revision", "ecs-api.md 4.6: family:rev exact", "{f}:2", 2),
    case("describe_arn", "ecs-api.md 4.6: ARN exact", arn("task-definition", "{f}:1"), 1),
    case("describe_arn_of_family", "ecs-api.md 2.1: a full ARN wherever a name goes",
         arn("task-definition", "{f}"), 3),
])
def test_finds(ecs, family, reference, revision):
    for _ in range(3):
        define(ecs, family=family)

    answer = ecs.describe_task_definition(taskDefinition=reference.format(f=family))

    assert answer["taskDefinition"]["revision"] == revision


@pytest.mark.parametrize("reference, expected", [
    case("describe_unknown_family", "ecs-api.md 4.6: not found", "nowhere", UNKNOWN),
    case("describe_unknown_revision", "ecs-api.md 4.6: not found", "{f}:9", UNKNOWN),
    case("describe_blank", "ecs-api.md 4.6: blank argument", "",
         ("InvalidParameterException", "Task Definition can not be blank.")),
    case("describe_other_account", "ecs-api.md 2.1: ARN of another account",
         "arn:aws:ecs:us-east-1:123456789012:task-definition/{f}:1",
         ("InvalidParameterException",
          "Identifier is for 123456789012. Your accountId is 000000000000")),
    case("describe_other_kind", "ecs-api.md 2.1: ARN of the wrong kind",
         "arn:aws:ecs:us-east-1:000000000000:cluster/{f}",
         ("InvalidParameterException", "Unsupported resource type: cluster")),
])
def test_does_not_find(loose, family, reference, expected):
    define(loose, family=family)

    assert refusal(
        loose.describe_task_definition, taskDefinition=reference.format(f=family)
    ) == expected


@rule("ecs-api.md 4.6: tags only with include TAGS")
def test_tags_of_a_definition_only_when_asked(ecs, family):
    define(ecs, family=family, tags=[{"key": "k", "value": "v"}])

    assert ecs.describe_task_definition(taskDefinition=family).get("tags", []) == []
    assert ecs.describe_task_definition(taskDefinition=family, include=["TAGS"])["tags"] == [
        {"key": "k", "value": "v"}
    ]


# --- states ----------------------------------------------------------------------------------------


@rule("ecs-api.md 4.6: deregistering returns the full definition, INACTIVE")
def test_deregistering(ecs, family):
    before = register(ecs, container(), family=family)

    after = ecs.deregister_task_definition(taskDefinition=f"{family}:1")["taskDefinition"]

    assert after["status"] == "INACTIVE"
    assert after["deregisteredAt"] >= before["registeredAt"]
    changed = ("status", "deregisteredAt")
    assert {k: v for k, v in after.items() if k not in changed} == {
        k: v for k, v in before.items() if k not in changed
    }


@rule("ecs-api.md 4.6: repeating it succeeds")
def test_deregistering_twice(ecs, family):
    define(ecs, family=family)
    first, second = [
        ecs.deregister_task_definition(taskDefinition=f"{family}:1")["taskDefinition"]
        for _ in range(2)
    ]

    assert second == first


@pytest.mark.parametrize("reference, expected", [
    case("deregister_family", "ecs-api.md 4.6: deregistering needs a revision", "{f}",
         ("ClientException", "Revision is missing.")),
    case("deregister_no_number", "ecs-api.md 4.6: revision not a number", "{f}:x",
         ("InvalidParameterException", "Invalid revision number. Number: x")),
    case("deregister_unknown", "ecs-api.md 4.6: deregistering an unknown revision", "{f}:7",
         UNKNOWN),
    case("deregister_unknown_family", "ecs-api.md 4.6: deregistering an unknown family",
         "nowhere:1", UNKNOWN),
])
def test_deregistering_refuses(loose, family, reference, expected):
    define(loose, family=family)

    assert refusal(
        loose.deregister_task_definition, taskDefinition=reference.format(f=family)
    ) == expected


@rule("ecs-api.md 4.6: a family with no ACTIVE revision is not found")
def test_a_family_without_active_revision(ecs, family):
    ecs.deregister_task_definition(taskDefinition=define(ecs, family=family))

    assert refusal(ecs.describe_task_definition, taskDefinition=family) == UNKNOWN
    assert ecs.describe_task_definition(taskDefinition=f"{family}:1")["taskDefinition"]["status"] == (
        "INACTIVE"
    )


@rule("ecs-api.md 0: a bare family resolves to the latest ACTIVE revision")
def test_a_family_is_its_latest_active_revision(ecs, family):
    for _ in range(3):
        define(ecs, family=family)
    ecs.deregister_task_definition(taskDefinition=f"{family}:3")

    assert ecs.describe_task_definition(taskDefinition=family)["taskDefinition"]["revision"] == 2


@rule("ecs-api.md 4.1: deleting goes from INACTIVE to DELETE_IN_PROGRESS")
def test_deleting(ecs, family, cluster):
    machine(ecs, cluster)
    define(ecs, family=family)
    run(ecs, cluster, family)  # a task that refers to it keeps it
    ecs.deregister_task_definition(taskDefinition=f"{family}:1")

    answer = ecs.delete_task_definitions(taskDefinitions=[f"{family}:1"])

    assert answer["failures"] == []
    (deleted,) = answer["taskDefinitions"]
    assert deleted["status"] == "DELETE_IN_PROGRESS"
    assert deleted["deleteRequestedAt"] >= deleted["deregisteredAt"]
    assert ecs.describe_task_definition(taskDefinition=f"{family}:1")["taskDefinition"][
        "status"
    ] == "DELETE_IN_PROGRESS"


@rule("ecs-api.md 4.6: DeleteTaskDefinitions fails item by item")
def test_deleting_fails_item_by_item(ecs, family):
    for _ in range(2):
        define(ecs, family=family)
    ecs.deregister_task_definition(taskDefinition=f"{family}:1")

    answer = ecs.delete_task_definitions(
        taskDefinitions=[f"{family}:1", family, f"{family}:2", f"{family}:9"]
    )

    assert [d["revision"] for d in answer["taskDefinitions"]] == [1]
    assert [(f["arn"], f["reason"]) for f in answer["failures"]] == [
        (family, "The specified task definition identifier is invalid. Specify a valid name or ARN "
                 "and try again."),
        (f"{family}:2", "The specified task definition is still in ACTIVE status. Please deregister "
                        "the target and try again."),
        (f"{family}:9", "The specified task definition does not exist. Specify a valid account, "
                        "family, revision and try again."),
    ]


@pytest.mark.parametrize("references, text", [
    case("delete_none", "ecs-api.md 4.6: deleting none", [],
         "size of TaskDefinition references list must be greater than 0"),
    case("delete_eleven", "ecs-api.md 4.6: deleting more than 10", [f"f:{n}" for n in range(11)],
         "Size of TaskDefinition references list cannot exceed 10"),
])
def test_deleting_refuses(loose, references, text):
    assert text in invalid(loose.delete_task_definitions, taskDefinitions=references)


@rule("ecs-api.md 2.3: DeleteTaskDefinitions takes 10")
def test_deleting_takes_ten(ecs):
    answer = ecs.delete_task_definitions(taskDefinitions=[f"nowhere:{n}" for n in range(1, 11)])

    assert len(answer["failures"]) == 10


@rule("ecs-api.md 0: revision numbers never restart")
def test_revisions_go_on_after_all_were_deleted(ecs, family):
    for _ in range(2):
        ecs.deregister_task_definition(taskDefinition=define(ecs, family=family))
    ecs.delete_task_definitions(taskDefinitions=[f"{family}:1", f"{family}:2"])

    assert define(ecs, family=family) == f"{family}:3"


@rule("ecs-api.md 4.1: when all revisions are gone the family leaves the lists")
def test_a_deleted_family_leaves_the_lists(ecs, family):
    ecs.deregister_task_definition(taskDefinition=define(ecs, family=family))
    ecs.delete_task_definitions(taskDefinitions=[f"{family}:1"])

    assert everything(ecs.list_task_definition_families, "families", familyPrefix=family) == []


@pytest.mark.parametrize("undo", [
    case("run_inactive", "ecs-api.md 4.7: inactive reference", ["deregister"]),
    case("run_deleted", "ecs-api.md 4.7: delete-in-progress reference", ["deregister", "delete"]),
])
def test_no_new_task_of(ecs, family, cluster, undo):
    machine(ecs, cluster)
    reference = define(ecs, family=family)
    (kept,) = run(ecs, cluster, reference)
    ecs.deregister_task_definition(taskDefinition=reference)
    if "delete" in undo:
        ecs.delete_task_definitions(taskDefinitions=[reference])

    assert refusal(ecs.run_task, cluster=cluster, taskDefinition=reference) == (
        "InvalidParameterException", "TaskDefinition is inactive",
    )
    assert until(ecs, cluster, kept["taskArn"], "RUNNING")["desiredStatus"] == "RUNNING"


@rule("ecs-api.md 4.7: reference not found")
def test_no_task_of_what_is_not_there(ecs, cluster):
    machine(ecs, cluster)

    code, text = refusal(ecs.run_task, cluster=cluster, taskDefinition="nowhere")

    assert code in ("ClientException", "InvalidParameterException")
    assert text in ("TaskDefinition not found.", "Unable to describe task definition.")


# --- lists -----------------------------------------------------------------------------------------


def names(arns):
    return [found.split("/")[-1] for found in arns]


@rule("ecs-api.md 2.4: family lexicographic, then revision numerically")
def test_definitions_are_in_order(ecs, family):
    for _ in range(11):
        define(ecs, family=family)

    listed = everything(ecs.list_task_definitions, "taskDefinitionArns", familyPrefix=family)

    assert names(listed) == [f"{family}:{n}" for n in range(1, 12)]


@rule("ecs-api.md 2.4: DESC reverses both")
def test_definitions_are_in_descending_order(ecs):
    tag = unique("order")
    for suffix in ("a", "b"):
        for _ in range(2):
            define(ecs, family=f"{tag}-{suffix}")

    listed = names(everything(ecs.list_task_definitions, "taskDefinitionArns", sort="DESC"))

    mine = [name for name in listed if name.startswith(tag)]
    assert mine == [f"{tag}-b:2", f"{tag}-b:1", f"{tag}-a:2", f"{tag}-a:1"]


@rule("ecs-api.md 4.6: familyPrefix is the full family name in ListTaskDefinitions")
def test_a_family_prefix_is_a_whole_name(ecs, family):
    define(ecs, family=family)
    define(ecs, family=family + "-more")

    listed = everything(ecs.list_task_definitions, "taskDefinitionArns", familyPrefix=family)

    assert names(listed) == [f"{family}:1"]
    assert everything(
        ecs.list_task_definitions, "taskDefinitionArns", familyPrefix=family[:-1]
    ) == []


@pytest.mark.parametrize("status, revisions", [
    case("list_default_status", "ecs-api.md 4.6: status default ACTIVE", None, [1]),
    case("list_active", "ecs-api.md 4.6: status ACTIVE", "ACTIVE", [1]),
    case("list_inactive", "ecs-api.md 4.6: status INACTIVE", "INACTIVE", [2]),
    case("list_deleting", "ecs-api.md 4.6: status DELETE_IN_PROGRESS", "DELETE_IN_PROGRESS", [3]),
])
def test_definitions_by_status(ecs, family, cluster, status, revisions):
    machine(ecs, cluster)
    for _ in range(3):
        define(ecs, family=family)
    run(ecs, cluster, f"{family}:3")
    for revision in (2, 3):
        ecs.deregister_task_definition(taskDefinition=f"{family}:{revision}")
    ecs.delete_task_definitions(taskDefinitions=[f"{family}:3"])

    listed = ecs.list_task_definitions(
        familyPrefix=family, **({"status": status} if status else {})
    )["taskDefinitionArns"]

    assert names(listed) == [f"{family}:{n}" for n in revisions]


@rule("ecs-api.md 1.3: enum violation in ListTaskDefinitions")
def test_definitions_of_no_such_status(loose):
    assert "status" in invalid(loose.list_task_definitions, status="GONE")


@rule("ecs-api.md 4.6: familyPrefix is a real prefix in ListTaskDefinitionFamilies")
def test_families_by_prefix(ecs):
    tag = unique("p")
    for suffix in ("b", "a", "a-more"):
        define(ecs, family=f"{tag}-{suffix}")

    listed = everything(ecs.list_task_definition_families, "families", familyPrefix=f"{tag}-")

    assert listed == [f"{tag}-a", f"{tag}-a-more", f"{tag}-b"]


@pytest.mark.parametrize("status, expected", [
    case("families_default", "ecs-api.md 4.6: families default ACTIVE and INACTIVE", None,
         ["both", "new", "old"]),
    case("families_all", "ecs-api.md 4.6: families ALL", "ALL", ["both", "new", "old"]),
    case("families_active", "ecs-api.md 4.6: ACTIVE families have an ACTIVE revision", "ACTIVE",
         ["both", "new"]),
    case("families_inactive", "ecs-api.md 4.6: INACTIVE families have none", "INACTIVE", ["old"]),
])
def test_families_by_status(ecs, status, expected):
    tag = unique("s")
    for suffix, revisions, gone in (("new", 1, 0), ("both", 2, 1), ("old", 1, 1)):
        for _ in range(revisions):
            define(ecs, family=f"{tag}-{suffix}")
        for revision in range(1, gone + 1):
            ecs.deregister_task_definition(taskDefinition=f"{tag}-{suffix}:{revision}")

    listed = everything(
        ecs.list_task_definition_families, "families", familyPrefix=tag,
        **({"status": status} if status else {}),
    )

    assert listed == [f"{tag}-{suffix}" for suffix in expected]


@rule("ecs-api.md 2.2: pages end without a token and neither repeat nor skip")
def test_definitions_page_by_page(ecs, family):
    for _ in range(7):
        define(ecs, family=family)

    found = pages(ecs.list_task_definitions, "taskDefinitionArns", familyPrefix=family, maxResults=3)

    assert [names(page) for page in found] == [
        [f"{family}:{n}" for n in page] for page in ([1, 2, 3], [4, 5, 6], [7])
    ]


@rule("ecs-api.md 2.2: inserts and deletes between pages neither repeat nor skip")
def test_a_definition_deregistered_between_pages(ecs, family):
    for _ in range(4):
        define(ecs, family=family)
    first = ecs.list_task_definitions(familyPrefix=family, maxResults=2)
    ecs.deregister_task_definition(taskDefinition=f"{family}:2")

    second = ecs.list_task_definitions(familyPrefix=family, nextToken=first["nextToken"])

    assert names(second["taskDefinitionArns"]) == [f"{family}:3", f"{family}:4"]


DEFINITION_BYTES_MAX = 64 * 1024


def of_bytes(ecs, size):
    """A definition that is so large, by what the refusal of a larger one says of its length."""
    def made(padding):
        return {"family": "size", "containerDefinitions": [container(dockerLabels={"l": "x" * padding})]}

    padding = DEFINITION_BYTES_MAX + 1000
    actual = re.search(r"Actual length: '(\d+)'", client_error(ecs.register_task_definition, **made(padding)))
    return made(padding - int(actual[1]) + size)


@rule("ecs-api.md 2.3: 64 KiB per task definition")
def test_a_definition_of_64_kib(ecs):
    given = of_bytes(ecs, DEFINITION_BYTES_MAX)

    taken = ecs.register_task_definition(**given)["taskDefinition"]

    assert taken["containerDefinitions"][0]["dockerLabels"] == (
        given["containerDefinitions"][0]["dockerLabels"]
    )


@rule("ecs-api.md 2.3: 64 KiB per task definition")
def test_a_definition_of_64_kib_and_a_byte(ecs):
    assert client_error(
        ecs.register_task_definition, **of_bytes(ecs, DEFINITION_BYTES_MAX + 1)
    ) == "Actual length: '65537'. Max allowed length is '65536' bytes."

