"""What the conformance cases are made of: rules, refusals, machines, definitions, tasks.

A case is a pytest id with a rule: the place in the specification, `ecs-api.md 4.6: ...`, that it checks.
`@rule(...)` gives it to a test, `case(...)` to one row of a table; conformance_suite_test.py counts them.
"""

import json
import uuid

import pytest
from botocore.exceptions import ClientError

import harness
from harness import wait_until

ACCOUNT = "000000000000"
REGION = "us-east-1"
SCOPE = f"arn:aws:ecs:{REGION}:{ACCOUNT}:"


def rule(text):
    return pytest.mark.rule(text)


def case(name, rule_text, *values):
    """One row of a table of cases."""
    return pytest.param(*values, id=name, marks=rule(rule_text))


def unique(prefix="x"):
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


def arn(kind, *path):
    return f"{SCOPE}{kind}/{'/'.join(path)}"


def refusal(call, *arguments, **members):
    """(type, text) of the error that the call ends with."""
    with pytest.raises(ClientError) as raised:
        call(*arguments, **members)
    error = raised.value.response["Error"]
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400, error
    return error["Code"], error["Message"]


def refuse_type(code, call, **members):
    """The text of the refusal, which has that type and says something."""
    found, text = refusal(call, **members)
    assert (found, bool(text)) == (code, True), text
    return text


def invalid(call, **members):
    return refuse_type("InvalidParameterException", call, **members)


def client_error(call, **members):
    return refuse_type("ClientException", call, **members)


# --- machines ------------------------------------------------------------------------------------


def identity(instance_id, zone="us-east-1a", instance_type="m5.large", image="ami-1", **more):
    return json.dumps({
        "instanceId": instance_id,
        "availabilityZone": zone,
        "instanceType": instance_type,
        "imageId": image,
        "architecture": "x86_64",
        **more,
    })


def resources(cpu=4096, memory=8192, tcp=("22",), udp=()):
    return [
        {"name": "CPU", "type": "INTEGER", "integerValue": cpu},
        {"name": "MEMORY", "type": "INTEGER", "integerValue": memory},
        {"name": "PORTS", "type": "STRINGSET", "stringSetValue": list(tcp)},
        {"name": "PORTS_UDP", "type": "STRINGSET", "stringSetValue": list(udp)},
    ]


# What an agent on Linux with Docker registers, as far as the cases ask for it.
CAPABILITIES = (
    "com.amazonaws.ecs.capability.docker-remote-api.1.18",
    "com.amazonaws.ecs.capability.docker-remote-api.1.21",
    "com.amazonaws.ecs.capability.logging-driver.json-file",
    "ecs.capability.task-cpu-mem-limit",
    "ecs.capability.execute-command",
)


def machine(
    ecs, cluster, *, cpu=4096, memory=8192, tcp=("22",), udp=(), attributes=None, gpus=(),
    gpu_mib=16000, capabilities=CAPABILITIES, instance_id=None, zone="us-east-1a",
    instance_type="m5.large", sharing=True, **more,
):
    """Registers a machine; its agent is emulated, so that tasks placed on it run at once."""
    instance_id = instance_id or f"i-{uuid.uuid4().hex[:17]}"
    total = resources(cpu, memory, tcp, udp)
    # The model has no gpuInfo; this is how a stock SDK gives the memory of a GPU.
    total += [
        {"name": f"GPU_MEMORY:{gpu}", "type": "INTEGER", "integerValue": gpu_mib}
        for gpu in (gpus if sharing else ())
    ]
    names = list(capabilities)
    if gpus and sharing:
        names.append("ecs.capability.gpu-sharing-mps")
    given = [{"name": name} for name in names]
    given += [
        {"name": name, **({} if value is None else {"value": value})}
        for name, value in (attributes or {}).items()
    ]
    if gpus:
        more["platformDevices"] = [{"id": gpu, "type": "GPU"} for gpu in gpus]
    return ecs.register_container_instance(
        cluster=cluster,
        instanceIdentityDocument=identity(instance_id, zone, instance_type),
        instanceIdentityDocumentSignature="",
        totalResources=total,
        attributes=given,
        versionInfo={"agentVersion": "1.99.0", "agentHash": "a1b2c3d4", "dockerVersion": "24.0.7"},
        **more,
    )["containerInstance"]


def instance(ecs, cluster, instance_arn, **more):
    answer = ecs.describe_container_instances(
        cluster=cluster, containerInstances=[instance_arn], **more
    )
    assert answer["failures"] == []
    return answer["containerInstances"][0]


def resource(instance_, which, name):
    (found,) = [r for r in instance_[which] if r["name"] == name]
    return found


def attributes_of(instance_):
    return {a["name"]: a.get("value") for a in instance_["attributes"]}


# --- definitions and tasks -----------------------------------------------------------------------


def container(name="main", **members):
    return {"name": name, "image": "busybox", "memory": 64, **members}


def define(ecs, *containers, family=None, **members):
    """family:revision of a new definition."""
    answer = ecs.register_task_definition(
        family=family or unique("family"),
        containerDefinitions=list(containers) or [container()],
        **members,
    )["taskDefinition"]
    return f"{answer['family']}:{answer['revision']}"


def run(ecs, cluster, definition, count=1, **members):
    """The tasks, of which all must have been placed."""
    answer = ecs.run_task(cluster=cluster, taskDefinition=definition, count=count, **members)
    assert answer["failures"] == []
    assert len(answer["tasks"]) == count
    return answer["tasks"]


def reasons(answer):
    return sorted({failure["reason"] for failure in answer["failures"]})


def task(ecs, cluster, task_arn, **more):
    answer = ecs.describe_tasks(cluster=cluster, tasks=[task_arn], **more)
    assert answer["failures"] == []
    return answer["tasks"][0]


def until(ecs, cluster, task_arn, status):
    """The task once it is in that status."""

    def look():
        found = task(ecs, cluster, task_arn)
        return found if found["lastStatus"] == status else None

    return wait_until(f"{task_arn} {status}", look, seconds=20, every=0.02)


def run_until(ecs, cluster, definition, status="RUNNING", **members):
    (started,) = run(ecs, cluster, definition, **members)
    return until(ecs, cluster, started["taskArn"], status)


def stopped(ecs, cluster, definition, **members):
    """A task that has run and was stopped."""
    started = run_until(ecs, cluster, definition, **members)
    ecs.stop_task(cluster=cluster, task=started["taskArn"])
    return until(ecs, cluster, started["taskArn"], "STOPPED")


def hosts(tasks):
    return sorted(task_["containerInstanceArn"] for task_ in tasks)


# --- pages ---------------------------------------------------------------------------------------


def pages(call, member, **members):
    """Every page of a list, by hand as clients without a paginator do it."""
    token, found = None, []
    while True:
        answer = call(**members, **({"nextToken": token} if token else {}))
        found.append(answer[member])
        previous, token = token, answer.get("nextToken")
        if not token:
            return found
        assert token != previous, "the same token twice"
        assert len(found) < 1000


def everything(call, member, **members):
    return [item for page in pages(call, member, **members) for item in page]


def strict(server):
    return server.client()


def loose(server):
    """boto3 without its own checks, so that the server's are seen."""
    return harness.make_client(server.endpoint, parameter_validation=False)
