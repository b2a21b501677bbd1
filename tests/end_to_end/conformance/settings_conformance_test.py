"""Tags, account settings, task protection, ExecuteCommand, agents' actions, and what is not offered."""

import pytest
from lab import (
    ACCOUNT, SCOPE, arn, case, client_error, container, define, invalid, machine, refusal, refuse_type,
    rule, run, run_until, stopped, task, unique, until,
)

MISSING_ID = "f" * 32
ROOT = f"arn:aws:iam::{ACCOUNT}:root"


def tag(key="k", value="v"):
    return {"key": key, "value": value}


def tags_of(ecs, resource):
    return {t["key"]: t["value"] for t in ecs.list_tags_for_resource(resourceArn=resource)["tags"]}


# --- tags ------------------------------------------------------------------------------------------


@pytest.fixture
def resources(ecs, cluster, family):
    """One of each kind of resource with tags, by kind."""
    instance = machine(ecs, cluster)["containerInstanceArn"]
    define(ecs, family=family)
    (new,) = run(ecs, cluster, family)
    return {
        "cluster": arn("cluster", cluster),
        "task-definition": arn("task-definition", f"{family}:1"),
        "container-instance": instance,
        "task": new["taskArn"],
    }


KINDS = ("cluster", "task-definition", "container-instance", "task")


@pytest.mark.parametrize("kind", [
    case(f"tag_{kind}", f"ecs-api.md 12.2: tags of a {kind}", kind) for kind in KINDS
])
def test_tagging(ecs, resources, kind):
    resource = resources[kind]
    assert ecs.list_tags_for_resource(resourceArn=resource)["tags"] == []

    ecs.tag_resource(resourceArn=resource, tags=[tag("a", "1"), tag("b", "")])
    ecs.tag_resource(resourceArn=resource, tags=[tag("b", "2"), tag("c", "3")])
    assert tags_of(ecs, resource) == {"a": "1", "b": "2", "c": "3"}

    ecs.untag_resource(resourceArn=resource, tagKeys=["a", "absent"])
    assert tags_of(ecs, resource) == {"b": "2", "c": "3"}


UNKNOWN = {
    "task-definition": arn("task-definition", "nowhere:1"),
    "container-instance": arn("container-instance", "{c}", MISSING_ID),
    "task": arn("task", "{c}", MISSING_ID),
}


@pytest.mark.parametrize("kind", [
    case(f"tag_unknown_{kind}", f"ecs-api.md 12.2: an unknown {kind}", kind) for kind in UNKNOWN
])
def test_tagging_what_is_not_there(ecs, cluster, kind):
    resource = UNKNOWN[kind].format(c=cluster)

    refuse_type("ResourceNotFoundException", ecs.tag_resource, resourceArn=resource, tags=[tag()])
    refuse_type("ResourceNotFoundException", ecs.untag_resource, resourceArn=resource, tagKeys=["k"])
    invalid(ecs.list_tags_for_resource, resourceArn=resource)


@rule("ecs-api.md 12.2: an unknown cluster")
def test_tagging_an_unknown_cluster(ecs):
    for call, members in (
        (ecs.tag_resource, {"tags": [tag()]}), (ecs.untag_resource, {"tagKeys": ["k"]}),
        (ecs.list_tags_for_resource, {}),
    ):
        assert refusal(call, resourceArn=arn("cluster", "nowhere"), **members) == (
            "ClusterNotFoundException", "Cluster not found.",
        )


@pytest.mark.parametrize("resource, text", [
    case("tag_no_arn", "ecs-api.md 12.2: bad ARN", "cluster/x", "The ARN provided is invalid."),
    case("tag_short_arn", "ecs-api.md 12.2: bad ARN", "arn:aws:ecs:us-east-1",
         "The ARN provided is invalid."),
    case("tag_old_task", "ecs-api.md 12.2: old-form task ARN", SCOPE + "task/" + MISSING_ID,
         "Long arn format must be used for tagging operations"),
    case("tag_old_instance", "ecs-api.md 12.2: old-form instance ARN",
         SCOPE + "container-instance/" + MISSING_ID,
         "Long arn format must be used for tagging operations"),
    case("tag_old_service", "ecs-api.md 12.2: old-form service ARN", SCOPE + "service/web",
         "Long arn format must be used for tagging operations"),
])
def test_tagging_by_a_bad_arn(ecs, resource, text):
    for call, members in (
        (ecs.tag_resource, {"tags": [tag()]}), (ecs.untag_resource, {"tagKeys": ["k"]}),
        (ecs.list_tags_for_resource, {}),
    ):
        assert refusal(call, resourceArn=resource, **members) == ("InvalidParameterException", text)


LIMITS = [
    case("tag_key_128", "ecs-api.md 12.2: key 1-128", [tag("k" * 128)], True),
    case("tag_key_129", "ecs-api.md 12.2: key 1-128", [tag("k" * 129)], False),
    case("tag_key_empty", "ecs-api.md 12.2: key 1-128", [tag("")], False),
    case("tag_value_256", "ecs-api.md 12.2: value 0-256", [tag(value="v" * 256)], True),
    case("tag_value_257", "ecs-api.md 12.2: value 0-256", [tag(value="v" * 257)], False),
    case("tag_value_empty", "ecs-api.md 12.2: an empty value", [tag(value="")], True),
    case("tag_value_null", "ecs-api.md 12.2: null value is not allowed", [{"key": "k"}], False),
    case("tag_characters", "ecs-api.md 12.2: characters of tags", [tag("aZ9 _.:/=+-@", "ä 漢")], True),
    case("tag_other_characters", "ecs-api.md 12.2: characters of tags", [tag("a#b")], False),
    case("tag_key_twice", "ecs-api.md 12.2: keys unique", [tag("k", "1"), tag("k", "2")], False),
    case("tag_reserved", "ecs-api.md 12.2: aws: is refused", [tag("aws:x")], False),
    case("tag_reserved_any_case", "ecs-api.md 12.2: aws: in any case", [tag("AwS:x")], False),
    case("tag_50", "ecs-api.md 12.2: 50 tags", [tag(f"k{n}") for n in range(50)], True),
    case("tag_51", "ecs-api.md 12.2: 50 tags", [tag(f"k{n}") for n in range(51)], False),
]


@pytest.mark.parametrize("tags, taken", LIMITS)
def test_limits_of_tags(loose, cluster, tags, taken):
    resource = arn("cluster", cluster)
    new = unique("c")
    if taken:
        loose.tag_resource(resourceArn=resource, tags=tags)
        assert tags_of(loose, resource) == {t["key"]: t["value"] for t in tags}
        loose.create_cluster(clusterName=new, tags=tags)
    else:
        invalid(loose.tag_resource, resourceArn=resource, tags=[tag("good")] + tags)
        assert tags_of(loose, resource) == {}
        invalid(loose.create_cluster, clusterName=new, tags=tags)
        assert loose.describe_clusters(clusters=[new])["clusters"] == []


@rule("ecs-api.md 12.2: 50 tags, those from before counted")
def test_the_fifty_first_tag(ecs, cluster):
    resource = arn("cluster", cluster)
    ecs.tag_resource(resourceArn=resource, tags=[tag(f"k{n}") for n in range(50)])

    invalid(ecs.tag_resource, resourceArn=resource, tags=[tag("one-more")])
    ecs.tag_resource(resourceArn=resource, tags=[tag("k7", "changed")])
    assert (len(tags_of(ecs, resource)), tags_of(ecs, resource)["k7"]) == (50, "changed")


@rule("ecs-api.md 12.2: tags of an instance are shown by DescribeContainerInstances")
def test_tags_of_an_instance_by_the_api(ecs, cluster, resources):
    ecs.tag_resource(resourceArn=resources["container-instance"], tags=[tag()])

    (shown,) = ecs.describe_container_instances(
        cluster=cluster, containerInstances=[resources["container-instance"]], include=["TAGS"]
    )["containerInstances"]

    assert shown["tags"] == [tag()]


@rule("ecs-api.md 12.2: StopTask deletes a task's tags")
def test_tags_of_a_stopped_task(ecs, cluster):
    machine(ecs, cluster)
    done = stopped(ecs, cluster, define(ecs), tags=[tag()])

    assert "k" not in {t["key"] for t in task(
        ecs, cluster, done["taskArn"], include=["TAGS"]
    ).get("tags", [])}


# --- account settings ------------------------------------------------------------------------------


def settings(ecs, **members):
    found, token = [], None
    while True:
        answer = ecs.list_account_settings(**members, **({"nextToken": token} if token else {}))
        found += answer["settings"]
        token = answer.get("nextToken")
        if not token:
            return {s["name"]: s for s in found}


@pytest.fixture
def clean_settings(ecs):
    """No explicit settings before and after."""
    def remove():
        for name in settings(ecs):
            ecs.delete_account_setting(name=name)

    remove()
    yield
    remove()



DEFAULTS = {
    "serviceLongArnFormat": "enabled", "taskLongArnFormat": "enabled",
    "containerInstanceLongArnFormat": "enabled", "containerInsights": "disabled",
    "awsvpcTrunking": "disabled", "defaultLogDriverMode": "non-blocking",
    "tagResourceAuthorization": "on", "fargateFIPSMode": "disabled",
}


@pytest.mark.parametrize("name", [
    case(f"setting_{name}", "ecs-api.md 12.1: defaults of account settings", name)
    for name in DEFAULTS
])
def test_effective_settings(ecs, clean_settings, name):
    assert settings(ecs, effectiveSettings=True)[name]["value"] == DEFAULTS[name]


@rule("ecs-api.md 12.1: effectiveSettings lists all names")
def test_all_effective_settings(ecs, clean_settings):
    names = set(ecs.meta.service_model.shape_for("SettingName").enum)

    assert set(settings(ecs, effectiveSettings=True)) == names


@rule("ecs-api.md 12.1: ListAccountSettings lists only explicit ones")
def test_explicit_settings(ecs, clean_settings):
    assert settings(ecs) == {}
    ecs.put_account_setting(name="awsvpcTrunking", value="enabled")

    assert {n: s["value"] for n, s in settings(ecs).items()} == {"awsvpcTrunking": "enabled"}


@rule("ecs-api.md 12.1: PutAccountSetting is for the caller")
def test_the_principal_of_a_setting(ecs, clean_settings):
    answer = ecs.put_account_setting(name="awsvpcTrunking", value="enabled")["setting"]

    assert (answer["name"], answer["value"]) == ("awsvpcTrunking", "enabled")
    assert answer["principalArn"].startswith(f"arn:aws:iam::{ACCOUNT}:")


@rule("ecs-api.md 12.1: PutAccountSettingDefault is answered with the root")
def test_a_default_setting(ecs, clean_settings):
    answer = ecs.put_account_setting_default(name="containerInsights", value="enhanced")["setting"]

    assert (answer["value"], answer["principalArn"]) == ("enhanced", ROOT)
    assert settings(ecs, effectiveSettings=True)["containerInsights"]["value"] == "enhanced"
    ecs.put_account_setting_default(name="containerInsights", value="disabled")


@rule("ecs-api.md 12.1: DeleteAccountSetting returns the setting then in force")
def test_deleting_a_setting(ecs, clean_settings):
    ecs.put_account_setting(name="awsvpcTrunking", value="enabled")

    answer = ecs.delete_account_setting(name="awsvpcTrunking")["setting"]

    assert (answer["name"], answer["value"]) == ("awsvpcTrunking", "disabled")
    assert settings(ecs) == {}


@rule("ecs-api.md 12.1: containerInsights sets the default of new clusters")
def test_the_insights_of_new_clusters(ecs, clean_settings):
    ecs.put_account_setting(name="containerInsights", value="enabled")

    new = ecs.create_cluster(clusterName=unique("c"))["cluster"]

    assert new["settings"] == [{"name": "containerInsights", "value": "enabled"}]


@pytest.mark.parametrize("name", [
    case("unknown_setting", "ecs-api.md 12.1: unknown name", "longArns"),
])
def test_an_unknown_setting(loose, name):
    assert f"{name} should be one of [" in invalid(loose.put_account_setting, name=name, value="enabled")


@pytest.mark.parametrize("name, value", [
    case("setting_bad_switch", "ecs-api.md 12.1: values enabled/disabled", "awsvpcTrunking", "on"),
    case("setting_bad_tags", "ecs-api.md 12.1: values on/off", "tagResourceAuthorization", "enabled"),
    case("setting_bad_days", "ecs-api.md 12.1: values 0/7/14", "fargateTaskRetirementWaitPeriod", "3"),
    case("setting_bad_mode", "ecs-api.md 12.1: values blocking/non-blocking", "defaultLogDriverMode",
         "fast"),
    case("setting_guard_duty", "ecs-api.md 12.1: guardDutyActivate is read-only", "guardDutyActivate",
         "on"),
])
def test_bad_values_of_settings(loose, name, value):
    invalid(loose.put_account_setting, name=name, value=value)


@pytest.mark.parametrize("name, value", [
    case("setting_trunking", "ecs-api.md 12.1: values enabled/disabled", "awsvpcTrunking", "enabled"),
    case("setting_tags", "ecs-api.md 12.1: values on/off", "tagResourceAuthorization", "off"),
    case("setting_days", "ecs-api.md 12.1: values 0/7/14", "fargateTaskRetirementWaitPeriod", "14"),
    case("setting_mode", "ecs-api.md 12.1: values blocking/non-blocking", "defaultLogDriverMode",
         "blocking"),
    case("setting_insights", "ecs-api.md 12.1: enhanced", "containerInsights", "enhanced"),
])
def test_values_of_settings(ecs, clean_settings, name, value):
    ecs.put_account_setting(name=name, value=value)

    assert settings(ecs, name=name)[name]["value"] == value
    assert settings(ecs, name=name, value=value)[name]["value"] == value


@rule("ecs-api.md 12.1: guardDutyActivate has type aws_managed")
def test_the_managed_setting(ecs, clean_settings):
    assert settings(ecs, effectiveSettings=True)["guardDutyActivate"]["type"] == "aws_managed"


@rule("ecs-api.md 12.1: a value filter needs a name")
def test_settings_by_value_alone(ecs):
    assert "name" in invalid(ecs.list_account_settings, value="enabled")


@pytest.mark.parametrize("size, taken", [
    case("settings_page_0", "ecs-api.md 2.2: ListAccountSettings 1-10", 0, False),
    case("settings_page_1", "ecs-api.md 2.2: ListAccountSettings 1-10", 1, True),
    case("settings_page_10", "ecs-api.md 2.2: ListAccountSettings 1-10", 10, True),
    case("settings_page_11", "ecs-api.md 2.2: ListAccountSettings 1-10", 11, False),
])
def test_pages_of_settings(loose, size, taken):
    if taken:
        whole = settings(loose, effectiveSettings=True)
        assert settings(loose, effectiveSettings=True, maxResults=size) == whole
        first = loose.list_account_settings(effectiveSettings=True, maxResults=size)
        assert len(first["settings"]) == min(size, len(whole))
    else:
        assert "maxResults" in invalid(loose.list_account_settings, maxResults=size)


@rule("ecs-api.md 12.1: principalArn must be root or self")
def test_a_setting_of_somebody_else(ecs):
    invalid(
        ecs.put_account_setting, name="awsvpcTrunking", value="enabled",
        principalArn=f"arn:aws:iam::{ACCOUNT}:user/somebody-else",
    )


# --- task protection -------------------------------------------------------------------------------


@rule("ecs-api.md 13: a standalone task is failure TASK_NOT_VALID")
def test_protecting_a_standalone_task(ecs, cluster):
    machine(ecs, cluster)
    (new,) = run(ecs, cluster, define(ecs))

    answer = ecs.update_task_protection(
        cluster=cluster, tasks=[new["taskArn"]], protectionEnabled=True
    )

    assert answer["protectedTasks"] == []
    assert [(f["arn"], f["reason"]) for f in answer["failures"]] == [
        (new["taskArn"], "TASK_NOT_VALID")
    ]


@rule("ecs-api.md 13: a missing task is failure MISSING")
def test_protecting_an_unknown_task(ecs, cluster):
    for answer in (
        ecs.update_task_protection(cluster=cluster, tasks=[MISSING_ID], protectionEnabled=True),
        ecs.get_task_protection(cluster=cluster, tasks=[MISSING_ID]),
    ):
        assert answer["protectedTasks"] == []
        assert [(f["arn"], f["reason"]) for f in answer["failures"]] == [
            (arn("task", cluster, MISSING_ID), "MISSING")
        ]


@rule("ecs-api.md 13: GetTaskProtection has exactly one entry for a task")
def test_the_protection_of_a_standalone_task(ecs, cluster):
    machine(ecs, cluster)
    (new,) = run(ecs, cluster, define(ecs))

    answer = ecs.get_task_protection(cluster=cluster, tasks=[new["taskArn"]])

    assert len(answer["protectedTasks"]) + len(answer["failures"]) == 1


@pytest.mark.parametrize("minutes, taken", [
    case("minutes_0", "ecs-api.md 13: expiresInMinutes 1-2880", 0, False),
    case("minutes_1", "ecs-api.md 13: expiresInMinutes 1-2880", 1, True),
    case("minutes_2880", "ecs-api.md 13: expiresInMinutes 1-2880", 2880, True),
    case("minutes_2881", "ecs-api.md 13: expiresInMinutes 1-2880", 2881, False),
])
def test_the_length_of_a_protection(loose, cluster, minutes, taken):
    members = {
        "cluster": cluster, "tasks": [MISSING_ID], "protectionEnabled": True,
        "expiresInMinutes": minutes,
    }
    if taken:
        assert loose.update_task_protection(**members)["failures"]
    else:
        assert "expiresInMinutes" in invalid(loose.update_task_protection, **members)


@pytest.mark.parametrize("call, count, taken, members", [
    case("protect_10", "ecs-api.md 2.3: UpdateTaskProtection 10", "update_task_protection", 10, True,
         {"protectionEnabled": True}),
    case("protect_11", "ecs-api.md 2.3: UpdateTaskProtection 10", "update_task_protection", 11, False,
         {"protectionEnabled": True}),
    case("get_protection_100", "ecs-api.md 2.3: GetTaskProtection 100", "get_task_protection", 100,
         True, {}),
    case("get_protection_101", "ecs-api.md 2.3: GetTaskProtection 100", "get_task_protection", 101,
         False, {}),
])
def test_protecting_many(ecs, cluster, call, count, taken, members):
    ids = [f"{n:032x}" for n in range(count)]
    if taken:
        assert len(getattr(ecs, call)(cluster=cluster, tasks=ids, **members)["failures"]) == count
    else:
        invalid(getattr(ecs, call), cluster=cluster, tasks=ids, **members)


@rule("ecs-api.md 13: in an unknown cluster")
def test_protecting_in_an_unknown_cluster(ecs):
    assert refusal(
        ecs.update_task_protection, cluster="nowhere", tasks=[MISSING_ID], protectionEnabled=True
    ) == ("ClusterNotFoundException", "Cluster not found.")


# --- ExecuteCommand --------------------------------------------------------------------------------

NOT_ENABLED = (
    "The execute command failed because execute command was not enabled when the task was run or the "
    "execute command agent isn\u2019t running. Wait and try again or run a new task with execute command "
    "enabled and try again."
)


@pytest.fixture
def shell(ecs, cluster):
    """A running task of two containers with execute command enabled."""
    machine(ecs, cluster)
    return run_until(
        ecs, cluster, define(ecs, container("a"), container("b")), enableExecuteCommand=True
    )


def execute(ecs, cluster, task_, **members):
    return refusal(ecs.execute_command, **{
        "cluster": cluster, "task": task_["taskArn"], "command": "sh", "interactive": True, **members,
    })


@rule("ecs-api.md 14: not enabled when the task was run")
def test_a_shell_in_a_task_without(ecs, cluster):
    machine(ecs, cluster)

    assert execute(ecs, cluster, run_until(ecs, cluster, define(ecs))) == (
        "InvalidParameterException", NOT_ENABLED,
    )


@rule("ecs-api.md 14: the task must be RUNNING")
def test_a_shell_in_a_stopped_task(ecs, cluster, shell):
    ecs.stop_task(cluster=cluster, task=shell["taskArn"])
    until(ecs, cluster, shell["taskArn"], "STOPPED")

    code, _ = execute(ecs, cluster, shell, container="a")
    assert code == "InvalidParameterException"


@pytest.mark.parametrize("members", [
    case("shell_not_interactive", "ecs-api.md 14: interactive must be true",
         {"interactive": False, "container": "a"}),
    case("shell_no_command", "ecs-api.md 14: command non-empty", {"command": "", "container": "a"}),
    case("shell_no_container", "ecs-api.md 14: container name if the task has several", {}),
    case("shell_unknown_container", "ecs-api.md 14: container name", {"container": "x"}),
])
def test_a_shell_is_refused(loose, cluster, shell, members):
    code, text = execute(loose, cluster, shell, **members)

    assert (code, bool(text)) == ("InvalidParameterException", True)


@rule("ecs-api.md 14: without a data channel; the text says what does the same, see docs/api.md")
def test_a_shell_without_a_channel(ecs, cluster, shell):
    runtime = {c["name"]: c["runtimeId"] for c in shell["containers"]}

    code, text = execute(ecs, cluster, shell, container="a")

    assert code == "TargetNotConnectedException"
    assert f"docker exec -it {runtime['a']}" in text


@rule("ecs-api.md 14: in an unknown cluster")
def test_a_shell_in_an_unknown_cluster(ecs):
    assert execute(ecs, "nowhere", {"taskArn": MISSING_ID})[0] == "ClusterNotFoundException"


# --- agents ----------------------------------------------------------------------------------------


@rule("ecs-api.md 15: DiscoverPollEndpoint answers with an endpoint")
def test_where_agents_poll(ecs, cluster):
    instance = machine(ecs, cluster)["containerInstanceArn"]

    answer = ecs.discover_poll_endpoint(cluster=cluster, containerInstance=instance)

    assert answer["endpoint"].startswith("http")


@pytest.mark.parametrize("call, members", [
    case("report_task", "ecs-api.md 15: SubmitTaskStateChange acknowledges",
         "submit_task_state_change", {"status": "RUNNING"}),
    case("report_container", "ecs-api.md 15: SubmitContainerStateChange acknowledges",
         "submit_container_state_change", {"containerName": "main", "status": "RUNNING"}),
])
def test_reports_are_acknowledged(ecs, cluster, call, members):
    machine(ecs, cluster)
    started = run_until(ecs, cluster, define(ecs))

    assert getattr(ecs, call)(cluster=cluster, task=started["taskArn"], **members)["acknowledgment"]


@rule("ecs-api.md 15: SubmitAttachmentStateChanges acknowledges")
def test_attachments_are_acknowledged(ecs, cluster):
    answer = ecs.submit_attachment_state_changes(cluster=cluster, attachments=[
        {"attachmentArn": arn("attachment", MISSING_ID), "status": "ATTACHED"}
    ])

    assert answer["acknowledgment"]


@rule("ecs-api.md 15: STOPPED is final")
def test_a_late_report_changes_nothing(ecs, cluster):
    machine(ecs, cluster)
    done = stopped(ecs, cluster, define(ecs))

    ecs.submit_task_state_change(cluster=cluster, task=done["taskArn"], status="RUNNING")

    assert task(ecs, cluster, done["taskArn"]) == done


@rule("ecs-api.md 15: essential exit becomes EssentialContainerExited")
def test_an_essential_container_that_exits(ecs, cluster):
    machine(ecs, cluster)
    started = run_until(ecs, cluster, define(ecs, container("main"), container("side")))

    ecs.submit_task_state_change(
        cluster=cluster, task=started["taskArn"], status="STOPPED",
        containers=[{"containerName": "main", "status": "STOPPED", "exitCode": 3},
                    {"containerName": "side", "status": "STOPPED", "exitCode": 143}],
    )

    done = until(ecs, cluster, started["taskArn"], "STOPPED")
    assert (done["stopCode"], done["stoppedReason"]) == (
        "EssentialContainerExited", "Essential container in task exited",
    )
    assert {c["name"]: c["exitCode"] for c in done["containers"]} == {"main": 3, "side": 143}


@rule("ecs-api.md 7.6: execution times come from the agent")
def test_the_times_an_agent_reports(ecs, cluster):
    machine(ecs, cluster)
    started = run_until(ecs, cluster, define(ecs))

    ecs.submit_task_state_change(
        cluster=cluster, task=started["taskArn"], status="STOPPED", pullStartedAt=1700000000,
        pullStoppedAt=1700000001, executionStoppedAt=1700000002,
    )

    done = until(ecs, cluster, started["taskArn"], "STOPPED")
    assert [done[m].timestamp() for m in ("pullStartedAt", "pullStoppedAt", "executionStoppedAt")] == [
        1700000000, 1700000001, 1700000002,
    ]


# --- what is not offered ---------------------------------------------------------------------------

DAEMON = arn("daemon", "default", "d")
NOT_OFFERED = [
    ("create_daemon", {"daemonName": "d", "daemonTaskDefinitionArn": "x"}, "UnsupportedFeatureException"),
    ("update_daemon", {"daemonArn": DAEMON}, "DaemonNotFoundException"),
    ("delete_daemon", {"daemonArn": DAEMON}, "DaemonNotFoundException"),
    ("describe_daemon", {"daemonArn": DAEMON}, "DaemonNotFoundException"),
    ("list_daemon_deployments", {"daemonArn": DAEMON}, "InvalidParameterException"),
    ("register_daemon_task_definition", {"family": "f"}, "ClientException"),
    ("describe_daemon_task_definition", {"daemonTaskDefinition": "f"}, "ClientException"),
    ("delete_daemon_task_definition", {"daemonTaskDefinition": "f"}, "ClientException"),
    ("create_gateway", {"name": "g", "infrastructureRoleArn": "r", "configuration": {}}, "UnsupportedFeatureException"),
    ("update_gateway", {"gateway": "g"}, "GatewayNotFoundException"),
    ("delete_gateway", {"gateway": "g"}, "GatewayNotFoundException"),
    ("describe_gateway", {"gateway": "g"}, "GatewayNotFoundException"),
    ("describe_gateway_resources", {"gateway": "g"}, "GatewayNotFoundException"),
    ("describe_gateway_route", {"gatewayRouteArn": "g"}, "ResourceNotFoundException"),
    ("associate_gateway_with_cluster", {"gateway": "g", "cluster": "default"}, "GatewayNotFoundException"),
    ("disassociate_gateway_from_cluster", {"gateway": "g", "cluster": "default"}, "GatewayNotFoundException"),
    ("list_gateway_routes", {"gateway": "g"}, "GatewayNotFoundException"),
    ("create_express_gateway_service", {"infrastructureRoleArn": "r"}, "UnsupportedFeatureException"),
    ("update_express_gateway_service", {"serviceArn": "s"}, "ServiceNotFoundException"),
    ("delete_express_gateway_service", {"serviceArn": "s"}, "ServiceNotFoundException"),
    ("describe_express_gateway_service", {"serviceArn": "s"}, "ResourceNotFoundException"),
    ("continue_service_deployment", {"serviceDeploymentArn": "d", "hookId": "h"},
     "InvalidParameterException"),
]


@pytest.mark.parametrize("call, members, code", [
    case(f"tier_c_{call}", "ecs-api.md 18: the answer of tier C", call, members, code)
    for call, members, code in NOT_OFFERED
])
def test_what_is_not_offered(loose, call, members, code):
    refuse_type(code, getattr(loose, call), **members)


EMPTY = {
    "list_daemons": "daemonSummariesList",
    "list_daemon_task_definitions": "daemonTaskDefinitions",
    "list_gateways": "gateways",
    "list_gateway_cluster_associations": "gatewayClusterAssociations",
}


@pytest.mark.parametrize("call", [
    case(f"tier_c_{call}", "ecs-api.md 18: an empty list of tier C", call) for call in EMPTY
])
def test_lists_of_what_is_not_offered(loose, call):
    assert getattr(loose, call)()[EMPTY[call]] == []


@pytest.mark.parametrize("call, member", [
    case("tier_c_describe_daemon_deployments", "ecs-api.md 18: every id a failure MISSING",
         "describe_daemon_deployments", "daemonDeploymentArns"),
    case("tier_c_describe_daemon_revisions", "ecs-api.md 18: every id a failure MISSING",
         "describe_daemon_revisions", "daemonRevisionArns"),
])
def test_describing_what_is_not_offered(loose, call, member):
    answer = getattr(loose, call)(**{member: ["x", "y"]})

    assert answer["failures"] == [
        {"arn": "x", "reason": "MISSING"}, {"arn": "y", "reason": "MISSING"},
    ]
