"""`berth plan` and `berth explain` against a real server whose agents are emulated."""

import json
import subprocess
import urllib.request

import harness
import pytest

GPU_MIB = harness.GPU_MIB
FITS = 0
DOES_NOT_FIT = 3


@pytest.fixture
def emulating():
    with harness.running_server("--emulate-agents") as server:
        yield server


def berth(server, *arguments, code):
    done = subprocess.run(
        [harness.BERTH, *arguments, "--server", server.endpoint],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def berth_json(server, *arguments, code):
    return json.loads(berth(server, *arguments, "--output", "json", code=code).stdout)


def register(ecs, gpus=1):
    devices = [{"id": f"GPU-{n}", "type": "GPU"} for n in range(gpus)]
    memory = [
        {"name": f"GPU_MEMORY:GPU-{n}", "type": "INTEGER", "integerValue": GPU_MIB} for n in range(gpus)
    ]
    instance = ecs.register_container_instance(
        totalResources=[
            {"name": "CPU", "type": "INTEGER", "integerValue": 8192},
            {"name": "MEMORY", "type": "INTEGER", "integerValue": 32768},
            *memory,
        ],
        platformDevices=devices,
        attributes=[{"name": "ecs.capability.gpu-sharing-mps"}],
    )["containerInstance"]
    arn = instance["containerInstanceArn"]
    harness.wait_until(
        "its agent is connected",
        lambda: ecs.describe_container_instances(containerInstances=[arn])["containerInstances"][0][
            "agentConnected"
        ],
    )
    return arn


def call(server, action, body):
    request = urllib.request.Request(
        server.endpoint,
        data=json.dumps(body).encode(),
        headers={
            "X-Amz-Target": f"AmazonEC2ContainerServiceV20141113.{action}",
            "Content-Type": "application/x-amz-json-1.1",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def define_shared(server, family, gpu_memory):
    share = {"type": "GPU", "sharingStrategy": {"nvidiaMps": {"memory": gpu_memory}}}
    call(
        server,
        "RegisterTaskDefinition",
        {
            "family": family,
            "containerDefinitions": [
                {"name": "app", "image": "i", "memory": 64, "resourceRequirements": [share]}
            ],
        },
    )


def id_of(arn):
    return arn.rsplit("/", 1)[1]


def test_a_plan_comes_to_pass_and_says_how_many_more_fit(emulating):
    ecs = emulating.client()
    instances = {register(ecs), register(ecs)}
    define_shared(emulating, "train", 10000)

    plan = berth_json(emulating, "plan", "--task-definition", "train:1", "--count", "3", code=FITS)
    tasks = ecs.run_task(taskDefinition="train", count=3)["tasks"]

    assert plan["fits"] and plan["more"] == 1 and not plan["moreIsLimit"]
    planned = [place["containerInstanceArn"] for place in plan["placements"]]
    assert planned == [task["containerInstanceArn"] for task in tasks]
    assert set(planned) == instances
    assert [place["criterion"] for place in plan["placements"]][:2] == ["LOWEST_ID", "GPU_POLICY"]
    assert plan["gpuPolicy"] == "worth"
    assert plan["placements"][1]["detail"].startswith("worth: it loses less of what recent tasks could use")


def test_what_does_not_fit_is_explained_and_the_remedy_works(emulating):
    ecs = emulating.client()
    register(ecs)
    define_shared(emulating, "train", 20000)
    task = ecs.run_task(taskDefinition="train")["tasks"][0]["taskArn"]
    failure = ecs.run_task(taskDefinition="train")["failures"][0]
    assert failure["reason"] == "RESOURCE:GPU"
    assert failure["detail"].startswith("needs 20000 MiB on one GPU; the largest gap is 2587 MiB on")

    explained = berth_json(emulating, "explain", "group", "family:train", code=DOES_NOT_FIT)

    why = explained["failure"]["explanation"]
    assert explained["failure"]["times"] == 1
    assert why["verdict"] == "NOT_NOW"
    assert why["detail"] == failure["detail"]
    stop = next(remedy for remedy in why["remedies"] if remedy["kind"] == "STOP_TASKS")
    assert [stopped["taskArn"] for stopped in stop["tasks"]] == [task]
    ecs.stop_task(task=task)
    harness.wait_until(
        "the task is STOPPED",
        lambda: ecs.describe_tasks(tasks=[task])["tasks"][0]["lastStatus"] == "STOPPED",
    )
    assert len(ecs.run_task(taskDefinition="train")["tasks"]) == 1
    assert "failure" not in berth_json(emulating, "explain", "group", "family:train", code=FITS)


def test_what_is_printed_is_for_people(emulating):
    ecs = emulating.client()
    instance = register(ecs)
    define_shared(emulating, "train", 30000)

    plan = berth(emulating, "plan", "--task-definition", "train", code=DOES_NOT_FIT).stdout
    definition = berth(emulating, "explain", "definition", "train", code=DOES_NOT_FIT).stdout
    service = berth(emulating, "explain", "service", "web", code=FITS).stdout

    assert plan == definition
    assert plan.startswith("0 of 1 task of train:1 would find a place\n")
    assert "never: no instance could hold it, even empty" in plan
    assert f"the largest has {GPU_MIB} MiB" in plan
    assert f"ask for at most {GPU_MIB} MiB of GPU memory: instance {id_of(instance)} has that" in plan
    assert "No task of group service:web was turned away" in service


def test_a_task_is_told_where_it_is_and_why(emulating):
    ecs = emulating.client()
    instance = register(ecs)
    define_shared(emulating, "train", 1000)
    task = ecs.run_task(taskDefinition="train")["tasks"][0]["taskArn"]

    text = berth(emulating, "explain", "task", id_of(task), code=FITS).stdout

    assert text.startswith(f"Task {id_of(task)} of train:1 is ")
    assert f" on {id_of(instance)} GPU-0\n" in text
    assert "Placed today it would go there again: no other instance has room" in text


def test_constraints_are_given_as_the_aws_cli_takes_them(emulating):
    ecs = emulating.client()
    register(ecs)
    define_shared(emulating, "train", 1000)
    distinct = json.dumps([{"type": "distinctInstance"}])

    plan = berth_json(
        emulating, "plan", "--task-definition", "train", "--count", "2",
        "--placement-constraints", distinct, code=DOES_NOT_FIT,
    )

    assert len(plan["placements"]) == 1
    assert plan["explanation"]["verdict"] == "FORBIDDEN"
    assert plan["explanation"]["remedies"][0]["placementConstraint"] == {"type": "distinctInstance"}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["plan", "--task-definition", "none"], 1, "ClientException"),
        (["plan", "--task-definition", "x", "--count", "0"], 2, "--count"),
        (["plan", "--task-definition", "x", "--placement-constraints", "[{"], 2,
         "--placement-constraints: not JSON at character"),
        (["plan"], 2, "--task-definition"),
        (["explain", "task", "0" * 32], 1, "The referenced task was not found."),
        (["explain", "pod", "x"], 2, "subcommand"),
        (["explain", "group", "g", "--cluster", "none"], 1, "ClusterNotFoundException"),
    ],
)
def test_what_is_wrong_is_said_with_its_exit_code(emulating, arguments, code, said):
    done = berth(emulating, *arguments, code=code)

    assert said in done.stdout + done.stderr
