"""Conformance through the AWS CLI: tables as AWS's look, exit codes, texts, files and shorthand."""

import json
import re

import pytest
from lab import case, define, machine, rule, run_until, unique

import aws_cli

SERVICE_ERROR = 255  # what version 1 of the CLI exits with when the service refuses


@pytest.fixture(scope="module")
def site(server, ecs):
    """A cluster with a machine and a running task, and what they are called."""
    cluster, family = unique("cli"), unique("family")
    ecs.create_cluster(clusterName=cluster, tags=[{"key": "team", "value": "ops"}])
    instance = machine(ecs, cluster, attributes={"rack": "r1"})["containerInstanceArn"]
    define(ecs, family=family)
    task = run_until(ecs, cluster, family)["taskArn"]
    return {"c": cluster, "f": family, "i": instance, "t": task}


# The command; the sections of its table in order, as the CLI shows AWS's answer; a column or text of
# the innermost that must be there.
TABLES = [
    ("list-clusters", "list-clusters", ["ListClusters", "clusterArns"], ["cluster/"]),
    ("describe-clusters", "describe-clusters --clusters {c}", ["DescribeClusters", "clusters"],
     ["activeServicesCount", "clusterArn", "clusterName", "pendingTasksCount",
      "registeredContainerInstancesCount", "runningTasksCount", "status"]),
    ("describe-clusters-settings", "describe-clusters --clusters {c} --include SETTINGS TAGS",
     ["DescribeClusters", "clusters", "settings", "tags"], ["containerInsights", "team"]),
    ("describe-clusters-missing", "describe-clusters --clusters nowhere",
     ["DescribeClusters", "failures"], ["arn", "reason", "MISSING"]),
    ("list-container-instances", "list-container-instances --cluster {c}",
     ["ListContainerInstances", "containerInstanceArns"], ["{i}"]),
    ("describe-container-instances",
     "describe-container-instances --cluster {c} --container-instances {i}",
     ["DescribeContainerInstances", "containerInstances", "attributes", "registeredResources",
      "stringSetValue", "remainingResources", "versionInfo"],
     ["agentConnected", "containerInstanceArn", "ec2InstanceId", "pendingTasksCount",
      "registeredAt", "runningTasksCount", "status", "version", "agentVersion", "dockerVersion"]),
    ("list-tasks", "list-tasks --cluster {c}", ["ListTasks", "taskArns"], ["{t}"]),
    ("describe-tasks", "describe-tasks --cluster {c} --tasks {t}",
     ["DescribeTasks", "tasks", "attributes", "containers", "overrides", "containerOverrides"],
     ["availabilityZone", "clusterArn", "connectivity", "containerInstanceArn", "cpu", "createdAt",
      "desiredStatus", "enableExecuteCommand", "group", "healthStatus", "lastStatus", "launchType",
      "memory", "startedAt", "taskArn", "taskDefinitionArn", "version"]),
    ("list-task-definitions", "list-task-definitions --family-prefix {f}",
     ["ListTaskDefinitions", "taskDefinitionArns"], ["task-definition/{f}:1"]),
    ("list-task-definition-families", "list-task-definition-families --family-prefix {f}",
     ["ListTaskDefinitionFamilies", "families"], ["{f}"]),
    ("describe-task-definition", "describe-task-definition --task-definition {f}",
     ["DescribeTaskDefinition", "taskDefinition", "compatibilities", "containerDefinitions"],
     ["family", "networkMode", "registeredAt", "registeredBy", "revision", "status",
      "taskDefinitionArn", "essential", "image"]),
    ("list-attributes", "list-attributes --cluster {c} --target-type container-instance "
     "--attribute-name rack", ["ListAttributes", "attributes"], ["name", "targetId", "value", "r1"]),
    ("list-tags-for-resource",
     "list-tags-for-resource --resource-arn arn:aws:ecs:us-east-1:000000000000:cluster/{c}",
     ["ListTagsForResource", "tags"], ["key", "value", "team", "ops"]),
    ("list-account-settings",
     "list-account-settings --effective-settings --name awsvpcTrunking",
     ["ListAccountSettings", "settings"], ["name", "principalArn", "value", "disabled"]),
    ("get-task-protection", "get-task-protection --cluster {c} --tasks {t}",
     ["GetTaskProtection", None], []),
]


def table_sections(text):
    """The titles of a table's sections, each once: cells alone in their row, centred, above a rule."""
    lines = text.splitlines()
    found = {}
    for above, line, below in zip(lines, lines[1:], lines[2:]):
        title = re.fullmatch(r"\|+( *)(\w+)( *)\|+", line)
        is_rule = re.fullmatch(r"[|+-]+", below) and re.fullmatch(r"[|+-]+", above)
        if title and is_rule and abs(len(title[1]) - len(title[3])) <= 1:
            found[title[2]] = True
    return list(found)


@pytest.fixture(scope="module")
def tables(server, site):
    calls = [command.format(**site).split() for _, command, _, _ in TABLES]
    answers = aws_cli.batch(server, calls, output="table")
    return {name: answer for (name, *_), answer in zip(TABLES, answers, strict=True)}


@pytest.mark.parametrize("name, sections, texts", [
    case(f"table_{name}", "ecs-api.md 1.2: the members of an answer, as the CLI's table shows them",
         name, sections, texts)
    for name, _, sections, texts in TABLES
])
def test_the_table_of(site, tables, name, sections, texts):
    answer = tables[name]
    assert answer.code == 0, answer.err

    found = table_sections(answer.out)

    if None in sections:
        assert found[0] == sections[0]
    else:
        assert found == sections, answer.out
    for text in texts:
        assert text.format(**site) in answer.out


# Commands whose answers are read as JSON, or that are refused.
CALLS = [
    ("cli_error", "list-tasks --cluster nowhere", SERVICE_ERROR,
     "An error occurred (ClusterNotFoundException) when calling the ListTasks operation",
     "ecs-api.md 1.3: the code in the body as __type"),
    ("cli_error_text", "describe-task-definition --task-definition nowhere", SERVICE_ERROR,
     "(ClientException) when calling the DescribeTaskDefinition operation: Unable to describe task "
     "definition.", "ecs-api.md 4.6: not found"),
    ("cli_default_cluster", "list-tasks", 0, '"taskArns": [', "ecs-api.md 2.1: missing cluster"),
    ("cli_started_by", "list-tasks --cluster {c} --started-by nobody", 0, '"taskArns": []',
     "ecs-api.md 7.11: by startedBy"),
    ("cli_query", "describe-clusters --clusters {c} --query clusters[0].status", 0, '"ACTIVE"',
     "ecs-api.md 3: status ACTIVE"),
    ("cli_max_items", "list-clusters --max-items 1", 0, '"NextToken"', "ecs-api.md 2.2: pages"),
    ("cli_page_size", "list-clusters --page-size 1", 0, "cluster/default", "ecs-api.md 2.2: pages"),
    ("cli_delete_full", "delete-cluster --cluster {c}", SERVICE_ERROR,
     "The Cluster cannot be deleted while Container Instances are active or draining.",
     "ecs-api.md 3: DeleteCluster"),
    ("cli_deregister", "deregister-task-definition --task-definition {f}", SERVICE_ERROR,
     "(ClientException) when calling the DeregisterTaskDefinition operation: Revision is missing.",
     "ecs-api.md 4.6: DeregisterTaskDefinition"),
    ("cli_put_attributes",
     "put-attributes --cluster {c} --attributes name=row,value=7,targetId={i}", 0, '"row"',
     "ecs-api.md 6.6: PutAttributes"),
    ("cli_tag",
     "tag-resource --resource-arn arn:aws:ecs:us-east-1:000000000000:cluster/{c} "
     "--tags key=by,value=cli", 0, "", "ecs-api.md 12.2: TagResource"),
    ("cli_setting", "put-account-setting --name awsvpcTrunking --value enabled", 0,
     '"value": "enabled"', "ecs-api.md 12.1: PutAccountSetting"),
    ("cli_setting_removed", "delete-account-setting --name awsvpcTrunking", 0,
     '"value": "disabled"', "ecs-api.md 12.1: DeleteAccountSetting"),
    ("cli_create", "create-cluster --cluster-name {c}-2 --settings "
     "name=containerInsights,value=enabled", 0, '"status": "ACTIVE"', "ecs-api.md 3: CreateCluster"),
    ("cli_delete", "delete-cluster --cluster {c}-2", 0, '"status": "INACTIVE"',
     "ecs-api.md 3: DeleteCluster"),
    ("cli_run", "run-task --cluster {c} --task-definition {f} --count 2 --started-by cli "
     "--placement-constraints type=memberOf,expression=attribute:rack==r1 "
     "--placement-strategy type=binpack,field=memory", 0, '"failures": []', "ecs-api.md 7.1: RunTask"),
    ("cli_start", "start-task --cluster {c} --task-definition {f} --container-instances {i}", 0,
     '"failures": []', "ecs-api.md 7.4: StartTask"),
    ("cli_drain", "update-container-instances-state --cluster {c} --container-instances {i} "
     "--status DRAINING", 0, '"status": "DRAINING"', "ecs-api.md 6.4: DRAINING"),
    ("cli_filter", "list-container-instances --cluster {c} --filter attribute:rack==r1", 0,
     "container-instance/", "ecs-api.md 8.4: filter"),
    ("cli_force", "deregister-container-instance --cluster {c} --container-instance {i} --force", 0,
     '"status": "INACTIVE"', "ecs-api.md 6.5: force"),
]


@pytest.fixture(scope="module")
def calls(server, site, tables):
    """In order: the later ones change what the earlier ones look at."""
    answers = aws_cli.batch(server, [command.format(**site).split() for _, command, *_ in CALLS])
    return {name: answer for (name, *_), answer in zip(CALLS, answers, strict=True)}


@pytest.mark.parametrize("name, code, text", [
    case(name, rule_text, name, code, text) for name, _, code, text, rule_text in CALLS
])
def test_the_answer_to(calls, name, code, text):
    answer = calls[name]

    assert answer.code == code, answer.err
    assert text in (answer.out if code == 0 else answer.err)


@rule("ecs-api.md 7.10: aws ecs wait tasks-running and tasks-stopped")
def test_the_waiters_of_the_cli(server, ecs, cluster):
    machine(ecs, cluster)
    running = run_until(ecs, cluster, define(ecs))["taskArn"]
    ended = run_until(ecs, cluster, define(ecs))["taskArn"]
    ecs.stop_task(cluster=cluster, task=ended)
    from lab import until

    until(ecs, cluster, ended, "STOPPED")

    answers = aws_cli.batch(server, [
        ["wait", "tasks-running", "--cluster", cluster, "--tasks", running],
        ["wait", "tasks-stopped", "--cluster", cluster, "--tasks", ended],
        ["wait", "tasks-running", "--cluster", cluster, "--tasks", ended],
    ])

    assert [answer.code for answer in answers] == [0, 0, 255]
    assert "TasksRunning failed" in answers[2].err


@rule("ecs-api.md 4.2: --cli-input-json and --generate-cli-skeleton go together")
def test_a_definition_from_the_clis_skeleton(server):
    (skeleton,) = aws_cli.batch(
        server, [["register-task-definition", "--generate-cli-skeleton"]]
    )
    members = json.loads(skeleton.out)

    assert {"family", "containerDefinitions", "volumes", "tags"} <= set(members)
