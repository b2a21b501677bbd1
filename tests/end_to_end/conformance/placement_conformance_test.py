"""Placement: constraints, strategies, groups, the cluster query language."""

import collections

import pytest
from lab import (
    arn, case, container, define, invalid, machine, reasons, refusal, rule, run, run_until, unique,
)

DISTINCT = [{"type": "distinctInstance"}]


def member_of(expression):
    return [{"type": "memberOf", "expression": expression}]


def spread(tasks):
    """How many tasks each instance has, in descending order."""
    counts = collections.Counter(t["containerInstanceArn"] for t in tasks)
    return sorted(counts.values(), reverse=True)


# --- the query language ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(ecs):
    """Three machines, a, b and c, and who they are; b runs tasks of two groups."""
    name = unique("site")
    ecs.create_cluster(clusterName=name)
    machines = {
        "a": machine(ecs, name, instance_id="i-aaaa", zone="us-east-1a", instance_type="t2.small",
                     attributes={"rack": "r1", "speed": "10", "ssd": None, "path": "/x/y:z"}),
        "b": machine(ecs, name, instance_id="i-bbbb", zone="us-east-1b", instance_type="g2.2xlarge",
                     attributes={"rack": "r2", "speed": "9"}),
        "c": machine(ecs, name, instance_id="i-cccc", zone="us-east-1d", instance_type="g2.8xlarge"),
    }
    arns = {key: value["containerInstanceArn"] for key, value in machines.items()}
    definition = define(ecs, family="db")
    run_until(ecs, name, definition, placementConstraints=member_of("ec2InstanceId == i-bbbb"))
    run_until(ecs, name, definition, placementConstraints=member_of("ec2InstanceId == i-bbbb"),
              group="custom")
    return name, arns


def matching(ecs, site, expression):
    name, arns = site
    found = ecs.list_container_instances(cluster=name, filter=expression)["containerInstanceArns"]
    return "".join(sorted(key for key, value in arns.items() if value in found))


LANGUAGE = [
    case("q_equal", "ecs-api.md 8.4: ==", "attribute:ecs.instance-type == t2.small", "a"),
    case("q_equal_word", "ecs-api.md 8.4: equals", "attribute:rack equals r2", "b"),
    case("q_not_equal", "ecs-api.md 8.4: != is false where the attribute is absent",
         "attribute:rack != r1", "b"),
    case("q_not_equal_word", "ecs-api.md 8.4: not_equals", "attribute:rack not_equals r2", "a"),
    case("q_in", "ecs-api.md 8.4: in",
         "attribute:ecs.availability-zone in [us-east-1a, us-east-1b]", "ab"),
    case("q_in_one", "ecs-api.md 8.4: in with one value", "attribute:rack in [r1]", "a"),
    case("q_not_in", "ecs-api.md 8.4: !in is false where the attribute is absent",
         "attribute:rack !in [r1]", "b"),
    case("q_not_in_word", "ecs-api.md 8.4: not_in", "attribute:rack not_in [r2, r3]", "a"),
    case("q_exists", "ecs-api.md 8.4: exists", "attribute:rack exists", "ab"),
    case("q_not_exists", "ecs-api.md 8.4: !exists", "attribute:rack !exists", "c"),
    case("q_not_exists_word", "ecs-api.md 8.4: not_exists", "attribute:rack not_exists", "c"),
    case("q_exists_name_only", "ecs-api.md 8.4: a name-only attribute exists", "attribute:ssd exists",
         "a"),
    case("q_empty_value", "ecs-api.md 8.4: a name-only attribute has the empty value",
         "attribute:ssd == ''", "a"),
    case("q_matches", "ecs-api.md 8.4: =~", "attribute:ecs.instance-type =~ g2.*", "bc"),
    case("q_matches_whole", "ecs-api.md 8.4: =~ must match the whole value",
         "attribute:ecs.instance-type =~ g2", ""),
    case("q_matches_word", "ecs-api.md 8.4: matches", "attribute:rack matches 'r[12]'", "ab"),
    case("q_not_matches", "ecs-api.md 8.4: !~ is false where the attribute is absent",
         "attribute:rack !~ r1.*", "b"),
    case("q_not_matches_word", "ecs-api.md 8.4: not_matches", "attribute:rack not_matches r2", "a"),
    case("q_greater", "ecs-api.md 8.4: > on attributes is string comparison", "attribute:speed > 8",
         "b"),
    case("q_greater_word", "ecs-api.md 8.4: greater_than", "attribute:rack greater_than r1", "b"),
    case("q_greater_equal", "ecs-api.md 8.4: >=", "attribute:rack >= r1", "ab"),
    case("q_greater_equal_word", "ecs-api.md 8.4: greater_than_equal",
         "attribute:rack greater_than_equal r2", "b"),
    case("q_less", "ecs-api.md 8.4: <", "attribute:rack < r2", "a"),
    case("q_less_word", "ecs-api.md 8.4: less_than", "attribute:rack less_than r2", "a"),
    case("q_less_equal", "ecs-api.md 8.4: <=", "attribute:rack <= r2", "ab"),
    case("q_less_equal_word", "ecs-api.md 8.4: less_than_equal", "attribute:rack less_than_equal r1",
         "a"),
    case("q_and", "ecs-api.md 8.4: and",
         "attribute:ecs.instance-type =~ g2.* and attribute:ecs.availability-zone != us-east-1d", "b"),
    case("q_and_symbol", "ecs-api.md 8.4: &&", "attribute:rack exists && attribute:ssd exists", "a"),
    case("q_or", "ecs-api.md 8.4: or", "attribute:rack == r1 or attribute:rack == r2", "ab"),
    case("q_or_symbol", "ecs-api.md 8.4: ||", "attribute:rack == r1 || ec2InstanceId == i-cccc", "ac"),
    case("q_precedence", "ecs-api.md 8.4: and binds tighter than or",
         "attribute:rack == r1 or attribute:rack == r2 and attribute:rack == nowhere", "a"),
    case("q_parentheses", "ecs-api.md 8.4: (a or b) and c",
         "(attribute:rack == r1 or attribute:rack == r2) and attribute:speed == 9", "b"),
    case("q_not", "ecs-api.md 8.4: not matches where the attribute is absent",
         "not attribute:rack == r1", "bc"),
    case("q_not_symbol", "ecs-api.md 8.4: !", "!(attribute:rack == r1)", "bc"),
    case("q_not_without_blank", "ecs-api.md 8.4: not( needs no blank", "not(task:group == family:db)",
         "ac"),
    case("q_not_before_and", "ecs-api.md 8.4: not binds tighter than and",
         "not attribute:rack == r1 and attribute:rack exists", "b"),
    case("q_double_not", "ecs-api.md 8.4: not not", "not not attribute:rack == r1", "a"),
    case("q_group", "ecs-api.md 8.4: task:group of any task", "task:group == family:db", "b"),
    case("q_group_custom", "ecs-api.md 8.4: task:group of a custom word", "task:group == custom", "b"),
    case("q_group_matches", "ecs-api.md 8.4: task:group =~", "task:group =~ family:.*", "b"),
    case("q_group_in", "ecs-api.md 8.4: task:group in", "task:group in [x, custom]", "b"),
    case("q_connected", "ecs-api.md 8.4: agentConnected", "agentConnected == true", "abc"),
    case("q_not_connected", "ecs-api.md 8.4: agentConnected as a string", "agentConnected != true", ""),
    case("q_version", "ecs-api.md 8.4: agentVersion is compared by numbers", "agentVersion > 1.100.0",
         ""),
    case("q_version_less", "ecs-api.md 8.4: agentVersion is compared by numbers",
         "agentVersion >= 1.9", "abc"),
    case("q_id", "ecs-api.md 8.4: ec2InstanceId", "ec2InstanceId == i-aaaa", "a"),
    case("q_id_in", "ecs-api.md 8.4: quoted values", "ec2InstanceId in ['i-aaaa', \"i-cccc\"]", "ac"),
    case("q_id_matches", "ecs-api.md 8.4: ec2InstanceId !~", "ec2InstanceId !~ 'i-[ab]+'", "c"),
    case("q_registered", "ecs-api.md 8.4: registeredAt", "registeredAt > 2018-06-18T22:28:28+00:00",
         "abc"),
    case("q_registered_zulu", "ecs-api.md 8.4: registeredAt in Z", "registeredAt < 2018-06-18T22:28:28Z",
         ""),
    case("q_registered_date", "ecs-api.md 8.4: registeredAt as a date", "registeredAt >= 2018-06-18",
         "abc"),
    case("q_running", "ecs-api.md 8.4: runningTasksCount", "runningTasksCount >= 2", "b"),
    case("q_running_none", "ecs-api.md 8.4: runningTasksCount", "runningTasksCount == 0", "ac"),
    case("q_value_characters", "ecs-api.md 8.4: values may contain : / . - unquoted",
         "attribute:path == /x/y:z", "a"),
]


@pytest.mark.parametrize("expression, expected", LANGUAGE)
def test_the_query_language(ecs, site, expression, expected):
    assert matching(ecs, site, expression) == expected


BROKEN = [
    case("q_empty", "ecs-api.md 8.4: an expression must parse", " "),
    case("q_no_operator", "ecs-api.md 8.4: an expression must parse", "attribute:rack"),
    case("q_no_value", "ecs-api.md 8.4: an expression must parse", "attribute:rack =="),
    case("q_no_subject", "ecs-api.md 8.4: an expression must parse", "== r1"),
    case("q_unknown_subject", "ecs-api.md 8.4: an unknown subject", "rack == r1"),
    case("q_unknown_operator", "ecs-api.md 8.4: an expression must parse", "attribute:rack ~ r1"),
    case("q_operator_of_other", "ecs-api.md 8.4: an operator not allowed for the subject",
         "agentConnected > true"),
    case("q_operator_of_count", "ecs-api.md 8.4: an operator not allowed for the subject",
         "runningTasksCount =~ 1.*"),
    case("q_open_parenthesis", "ecs-api.md 8.4: an expression must parse", "(attribute:rack == r1"),
    case("q_close_parenthesis", "ecs-api.md 8.4: an expression must parse", "attribute:rack == r1)"),
    case("q_open_list", "ecs-api.md 8.4: an expression must parse", "attribute:rack in [r1"),
    case("q_empty_list", "ecs-api.md 8.4: a list has a value", "attribute:rack in []"),
    case("q_open_quote", "ecs-api.md 8.4: an expression must parse", "attribute:rack == 'r1"),
    case("q_upper_case", "ecs-api.md 8.4: keywords are lower case",
         "attribute:rack == r1 AND attribute:rack == r1"),
    case("q_dangling", "ecs-api.md 8.4: an expression must parse", "attribute:rack == r1 and"),
    case("q_bad_regexp", "ecs-api.md 8.4: what cannot compile is rejected", "attribute:rack =~ r[1"),
    case("q_bad_count", "ecs-api.md 8.4: runningTasksCount is an integer", "runningTasksCount > many"),
    case("q_bad_date", "ecs-api.md 8.4: registeredAt is a moment", "registeredAt > yesterday"),
    case("q_2001", "ecs-api.md 8.4: up to 2000 characters", "attribute:rack == " + "r" * 1983),
]


@pytest.mark.parametrize("expression", BROKEN)
def test_what_does_not_parse(ecs, site, expression):
    name, _ = site
    definition = define(ecs)
    invalid(ecs.list_container_instances, cluster=name, filter=expression)
    invalid(ecs.run_task, cluster=name, taskDefinition=definition,
            placementConstraints=member_of(expression))
    code, _ = refusal(
        ecs.register_task_definition, family=unique("f"), containerDefinitions=[container()],
        placementConstraints=member_of(expression),
    )
    assert code in ("ClientException", "InvalidParameterException")


# --- constraints -----------------------------------------------------------------------------------


@rule("ecs-api.md 8.3: distinctInstance within one call")
def test_distinct_instances_of_one_call(ecs, cluster):
    for _ in range(2):
        machine(ecs, cluster)

    answer = ecs.run_task(
        cluster=cluster, taskDefinition=define(ecs), count=3, placementConstraints=DISTINCT
    )

    assert spread(answer["tasks"]) == [1, 1]
    assert reasons(answer) == ["DistinctInstance placement constraint unsatisfied."]


@rule("ecs-api.md 8.3: distinctInstance over calls of the same group")
def test_distinct_instances_of_a_group(ecs, cluster):
    for _ in range(2):
        machine(ecs, cluster)
    for family in ("one", "two"):
        define(ecs, family=family)
    placed = [
        run(ecs, cluster, family, placementConstraints=DISTINCT, group="g")[0]
        for family in ("one", "two")
    ]

    assert spread(placed) == [1, 1]


@rule("ecs-api.md 8.3: distinctInstance looks at the same group alone")
def test_distinct_instances_of_other_groups(ecs, cluster):
    machine(ecs, cluster)
    definition = define(ecs)
    for group in ("g", "h"):
        run(ecs, cluster, definition, placementConstraints=DISTINCT, group=group)


@rule("ecs-api.md 8.3: memberOf of the request")
def test_member_of_the_request(ecs, cluster):
    wanted = machine(ecs, cluster, attributes={"rack": "r1"})["containerInstanceArn"]
    machine(ecs, cluster, attributes={"rack": "r2"})

    placed = run(ecs, cluster, define(ecs), count=4,
                 placementConstraints=member_of("attribute:rack == r1"))

    assert {t["containerInstanceArn"] for t in placed} == {wanted}


@rule("ecs-api.md 8.3: memberOf of the task definition")
def test_member_of_the_definition(ecs, cluster):
    wanted = machine(ecs, cluster, attributes={"rack": "r1"})["containerInstanceArn"]
    machine(ecs, cluster, attributes={"rack": "r2"})
    definition = define(ecs, placementConstraints=member_of("attribute:rack == r1"))

    placed = run(ecs, cluster, definition, count=4)

    assert {t["containerInstanceArn"] for t in placed} == {wanted}


@rule("ecs-api.md 8.1: the task definition's and the request's constraints must all hold")
def test_constraints_of_both(ecs, cluster):
    for rack, row in (("r1", "1"), ("r1", "2"), ("r2", "2")):
        machine(ecs, cluster, attributes={"rack": rack, "row": row})
    definition = define(ecs, placementConstraints=member_of("attribute:rack == r1"))

    placed = run(ecs, cluster, definition, count=3,
                 placementConstraints=member_of("attribute:row == 2"))
    answer = ecs.run_task(cluster=cluster, taskDefinition=definition,
                          placementConstraints=member_of("attribute:row == 3"))

    assert len({t["containerInstanceArn"] for t in placed}) == 1
    assert answer["tasks"] == []


@rule("ecs-api.md 2.3: constraints up to 10 counting those of the task definition")
def test_too_many_constraints_together(ecs, cluster):
    machine(ecs, cluster)
    definition = define(ecs, placementConstraints=member_of("agentConnected == true") * 6)

    invalid(ecs.run_task, cluster=cluster, taskDefinition=definition,
            placementConstraints=member_of("agentConnected == true") * 5)


@rule("ecs-api.md 8.4: anti-affinity is not(task:group == g)")
def test_anti_affinity(ecs, cluster):
    for _ in range(2):
        machine(ecs, cluster)
    (database,) = run(ecs, cluster, define(ecs), group="database")

    (web,) = run(ecs, cluster, define(ecs), group="web",
                 placementConstraints=member_of("not(task:group == database)"))

    assert web["containerInstanceArn"] != database["containerInstanceArn"]


@rule("ecs-api.md 8.3: memberOf is evaluated before placement")
def test_affinity(ecs, cluster):
    for _ in range(3):
        machine(ecs, cluster)
    (first,) = run(ecs, cluster, define(ecs), group="g")

    placed = run(ecs, cluster, define(ecs), count=3,
                 placementConstraints=member_of("task:group == g"))

    assert {t["containerInstanceArn"] for t in placed} == {first["containerInstanceArn"]}


@rule("ecs-api.md 8.3: attributes put later count at the next placement")
def test_a_constraint_on_a_new_attribute(ecs, cluster):
    wanted = [machine(ecs, cluster)["containerInstanceArn"] for _ in range(2)][0]
    ecs.put_attributes(cluster=cluster, attributes=[
        {"name": "rack", "value": "r9", "targetId": wanted}
    ])

    placed = run(ecs, cluster, define(ecs), count=3,
                 placementConstraints=member_of("attribute:rack == r9"))

    assert {t["containerInstanceArn"] for t in placed} == {wanted}


@pytest.mark.parametrize("name, value", [
    case("builtin_zone", "ecs-api.md 6.1: ecs.availability-zone", "ecs.availability-zone", "us-east-1z"),
    case("builtin_type", "ecs-api.md 6.1: ecs.instance-type", "ecs.instance-type", "p5.large"),
    case("builtin_os", "ecs-api.md 6.1: ecs.os-type", "ecs.os-type", "linux"),
    case("builtin_cpu", "ecs-api.md 6.1: ecs.cpu-architecture", "ecs.cpu-architecture", "x86_64"),
])
def test_constraints_on_built_in_attributes(ecs, cluster, name, value):
    wanted = machine(ecs, cluster, zone="us-east-1z", instance_type="p5.large")

    (placed,) = run(ecs, cluster, define(ecs),
                    placementConstraints=member_of(f"attribute:{name} == {value}"))

    assert placed["containerInstanceArn"] == wanted["containerInstanceArn"]


# --- strategies ------------------------------------------------------------------------------------


def strategy(*steps):
    return [
        {"type": kind, **({"field": field} if field else {})}
        for kind, _, field in (step.partition(":") for step in steps)
    ]


@rule("ecs-api.md 8.2: spread over instanceId")
@pytest.mark.parametrize("field", [
    pytest.param("instanceId", id="spread_instance_id"), pytest.param("host", id="spread_host"),
])
def test_spreading_over_instances(ecs, cluster, field):
    for _ in range(3):
        machine(ecs, cluster)

    placed = run(ecs, cluster, define(ecs), count=6, placementStrategy=strategy(f"spread:{field}"))

    assert spread(placed) == [2, 2, 2]


@rule("ecs-api.md 8.2: spread over an attribute")
def test_spreading_over_zones(ecs, cluster):
    zones = {
        machine(ecs, cluster, zone=zone)["containerInstanceArn"]: zone
        for zone in ("us-east-1a", "us-east-1a", "us-east-1a", "us-east-1b")
    }

    placed = run(ecs, cluster, define(ecs), count=8,
                 placementStrategy=strategy("spread:attribute:ecs.availability-zone"))

    counts = collections.Counter(zones[t["containerInstanceArn"]] for t in placed)
    assert counts == {"us-east-1a": 4, "us-east-1b": 4}


@rule("ecs-api.md 8.2: spread counts tasks of the same group")
def test_spreading_counts_its_group(ecs, cluster):
    arns = [machine(ecs, cluster)["containerInstanceArn"] for _ in range(2)]
    definition = define(ecs)
    ecs.start_task(cluster=cluster, taskDefinition=definition, containerInstances=[arns[0]],
                   group="other")
    ecs.start_task(cluster=cluster, taskDefinition=definition, containerInstances=[arns[1]], group="g")

    (placed,) = run(ecs, cluster, definition, group="g",
                    placementStrategy=strategy("spread:instanceId"))

    assert placed["containerInstanceArn"] == arns[0]


@rule("ecs-api.md 8.2: instances without the attribute share one value")
def test_spreading_over_an_absent_attribute(ecs, cluster):
    with_rack = machine(ecs, cluster, attributes={"rack": "r1"})["containerInstanceArn"]
    for _ in range(2):
        machine(ecs, cluster)

    placed = run(ecs, cluster, define(ecs), count=4,
                 placementStrategy=strategy("spread:attribute:rack"))

    counts = collections.Counter(t["containerInstanceArn"] == with_rack for t in placed)
    assert counts == {True: 2, False: 2}


@pytest.mark.parametrize("field", [
    case("binpack_cpu", "ecs-api.md 8.2: binpack cpu", "cpu"),
    case("binpack_memory", "ecs-api.md 8.2: binpack memory", "memory"),
    case("binpack_upper", "ecs-api.md 8.2: field is case-insensitive", "MEMORY"),
])
def test_packing(ecs, cluster, field):
    tight = machine(ecs, cluster, cpu=1000, memory=1000)["containerInstanceArn"]
    machine(ecs, cluster, cpu=4000, memory=4000)

    placed = run(ecs, cluster, define(ecs, container(cpu=100, memory=100)), count=10,
                 placementStrategy=strategy(f"binpack:{field}"))

    assert {t["containerInstanceArn"] for t in placed} == {tight}


@rule("ecs-api.md 8.2: binpack needs enough to fit")
def test_packing_beyond_the_tightest(ecs, cluster):
    machine(ecs, cluster, memory=250)
    machine(ecs, cluster, memory=4000)

    placed = run(ecs, cluster, define(ecs, container(memory=100)), count=4,
                 placementStrategy=strategy("binpack:memory"))

    assert spread(placed) == [2, 2]


@rule("ecs-api.md 8.2: strategies in order, each breaking ties of the one before")
def test_packing_inside_a_spread(ecs, cluster):
    small = {}
    for zone in ("us-east-1a", "us-east-1b"):
        machine(ecs, cluster, zone=zone, memory=4000)
        small[zone] = machine(ecs, cluster, zone=zone, memory=1000)["containerInstanceArn"]

    placed = run(
        ecs, cluster, define(ecs), count=4,
        placementStrategy=strategy("spread:attribute:ecs.availability-zone", "binpack:memory"),
    )

    assert collections.Counter(t["containerInstanceArn"] for t in placed) == dict.fromkeys(
        small.values(), 2
    )


@rule("ecs-api.md 8.2: random uses any that fits")
def test_placing_at_random(ecs, cluster):
    for _ in range(3):
        machine(ecs, cluster)
    definition = define(ecs)

    placed = [
        t for _ in range(6)
        for t in run(ecs, cluster, definition, count=10, placementStrategy=strategy("random"))
    ]

    # 60 tasks all on less than three of three machines: once in 10^10.
    assert len({t["containerInstanceArn"] for t in placed}) == 3


@rule("ecs-api.md 8.2: binpack on gpuMemory, an extension")
def test_packing_gpu_memory(ecs, cluster):
    machine(ecs, cluster, gpus=["GPU-big"], gpu_mib=40000)
    tight = machine(ecs, cluster, gpus=["GPU-small"], gpu_mib=10000)["containerInstanceArn"]
    share = [{"type": "GPU", "sharingStrategy": {"nvidiaMps": {"memory": 1000}}}]

    placed = run(ecs, cluster, define(ecs, container(resourceRequirements=share)), count=8,
                 placementStrategy=strategy("binpack:gpuMemory"))

    assert {t["containerInstanceArn"] for t in placed} == {tight}


# --- GPUs ------------------------------------------------------------------------------------------


def share(memory, percent=None):
    mps = {"memory": memory, **({"maxComputePercent": percent} if percent is not None else {})}
    return [{"type": "GPU", "sharingStrategy": {"nvidiaMps": mps}}]


def whole(value):
    return [{"type": "GPU", "value": value}]


GPU_REFUSED = [
    case("gpu_neither", "ecs-api.md 5.1: neither value nor sharingStrategy", [{"type": "GPU"}]),
    case("gpu_both", "ecs-api.md 5.1: both value and sharingStrategy",
         [{**share(1)[0], "value": "1"}]),
    case("gpu_two_entries", "ecs-api.md 5.1: at most one GPU entry per container",
         whole("1") + whole("1")),
    case("gpu_zero", "ecs-api.md 5.1: value at least 1", whole("0")),
    case("gpu_negative", "ecs-api.md 5.1: value at least 1", whole("-1")),
    case("gpu_decimal", "ecs-api.md 5.1: decimals are rejected", whole("0.25")),
    case("gpu_word", "ecs-api.md 5.1: ALL is the only word", whole("all")),
    case("gpu_memory_0", "ecs-api.md 5.1: memory at least 1", share(0)),
    case("gpu_percent_0", "ecs-api.md 5.1: maxComputePercent 1-100", share(1, 0)),
    case("gpu_percent_101", "ecs-api.md 5.1: maxComputePercent 1-100", share(1, 101)),
    case("gpu_no_memory", "ecs-api.md 5.1: memory is required",
         [{"type": "GPU", "sharingStrategy": {"nvidiaMps": {}}}]),
    case("gpu_empty_union", "ecs-api.md 1.1: a union has exactly one member",
         [{"type": "GPU", "sharingStrategy": {}}]),
]


@pytest.mark.parametrize("requirements", GPU_REFUSED)
def test_gpu_requirements_refused(loose, requirements):
    code, _ = refusal(
        loose.register_task_definition, family=unique("f"),
        containerDefinitions=[container(resourceRequirements=requirements)],
    )
    assert code == "ClientException"


@pytest.mark.parametrize("requirements", [
    case("gpu_one", "ecs-api.md 5.1: whole devices", whole("1")),
    case("gpu_all", "ecs-api.md 5.1: ALL", whole("ALL")),
    case("gpu_memory_1", "ecs-api.md 5.1: memory at least 1", share(1)),
    case("gpu_percent_1", "ecs-api.md 5.1: maxComputePercent 1-100", share(1, 1)),
    case("gpu_percent_100", "ecs-api.md 5.1: maxComputePercent 1-100", share(1, 100)),
])
def test_gpu_requirements_taken(ecs, requirements):
    shown = ecs.register_task_definition(
        family=unique("f"), containerDefinitions=[container(resourceRequirements=requirements)]
    )["taskDefinition"]

    assert shown["containerDefinitions"][0]["resourceRequirements"] == requirements


@rule("ecs-api.md 5.1: whole-GPU and MPS containers are not mixed in one task")
def test_mixed_gpu_containers(ecs):
    code, _ = refusal(ecs.register_task_definition, family=unique("f"), containerDefinitions=[
        container("a", resourceRequirements=share(1)), container("b", resourceRequirements=whole("1")),
    ])
    assert code == "ClientException"


@rule("ecs-api.md 5.1: MPS excludes EXTERNAL")
def test_shares_on_external_instances(ecs):
    code, _ = refusal(
        ecs.register_task_definition, family=unique("f"), requiresCompatibilities=["EXTERNAL"],
        containerDefinitions=[container(resourceRequirements=share(1))],
    )
    assert code == "ClientException"


@rule("ecs-api.md 5.1: GPUs need Linux")
def test_gpus_on_windows(ecs):
    code, _ = refusal(
        ecs.register_task_definition, family=unique("f"),
        runtimePlatform={"operatingSystemFamily": "WINDOWS_SERVER_2022_CORE"},
        containerDefinitions=[container(resourceRequirements=whole("1"))],
    )
    assert code == "ClientException"


@pytest.fixture
def gpus(ecs, cluster):
    """A machine of two GPUs of 16000 MiB."""
    return machine(ecs, cluster, gpus=["GPU-a", "GPU-b"])["containerInstanceArn"]


def devices(ecs, cluster, instance_arn):
    (found,) = ecs.describe_container_instances(
        cluster=cluster, containerInstances=[instance_arn]
    )["containerInstances"]
    (free,) = [r for r in found["remainingResources"] if r["name"] == "GPU"]
    modes = {
        d["gpuId"]: (d["sharingMode"], d["remainingMemoryInMiB"], d["containerCount"])
        for d in found["gpuDevices"]
    }
    return modes, sorted(free["stringSetValue"])


IDLE = ("IDLE", 16000, 0)


@rule("ecs-api.md 5.2: devices become a resource, gpuDevices show them IDLE")
def test_gpus_of_a_new_machine(ecs, cluster, gpus):
    assert devices(ecs, cluster, gpus) == ({"GPU-a": IDLE, "GPU-b": IDLE}, ["GPU-a", "GPU-b"])


@rule("ecs-api.md 5.3: IDLE to NVIDIA_MPS")
def test_a_share_of_a_gpu(ecs, cluster, gpus):
    (new,) = run(ecs, cluster, define(
        ecs, container("a", resourceRequirements=share(4000, 50)),
        container("b", resourceRequirements=share(5000)),
    ))

    shown = {c["name"]: c for c in new["containers"]}
    assert shown["a"]["gpuIds"] == shown["b"]["gpuIds"]
    assert shown["a"]["gpuSharingStrategy"] == {"nvidiaMps": {"memory": 4000, "maxComputePercent": 50}}
    (used,) = shown["a"]["gpuIds"]
    modes, free = devices(ecs, cluster, gpus)
    assert modes[used] == ("NVIDIA_MPS", 7000, 2)
    assert free == [gpu for gpu in ("GPU-a", "GPU-b") if gpu != used]


@rule("ecs-api.md 5.3: IDLE to DEDICATED")
def test_a_whole_gpu(ecs, cluster, gpus):
    (new,) = run(ecs, cluster, define(ecs, container(resourceRequirements=whole("1"))))

    (used,) = new["containers"][0]["gpuIds"]
    assert "gpuSharingStrategy" not in new["containers"][0]
    modes, free = devices(ecs, cluster, gpus)
    assert modes[used] == ("DEDICATED", 0, 1)
    assert used not in free


@rule("ecs-api.md 5.4: ALL takes every device, all IDLE")
def test_all_gpus(ecs, cluster, gpus):
    definition = define(ecs, container(resourceRequirements=whole("ALL")))
    (new,) = run(ecs, cluster, definition)
    again = ecs.run_task(cluster=cluster, taskDefinition=definition)

    assert sorted(new["containers"][0]["gpuIds"]) == ["GPU-a", "GPU-b"]
    assert reasons(again) == ["RESOURCE:GPU"]


@rule("ecs-api.md 5.3: a device is IDLE again when its last container is released")
def test_a_gpu_given_back(ecs, cluster, gpus):
    started = run_until(ecs, cluster, define(ecs, container(resourceRequirements=share(4000))))
    ecs.stop_task(cluster=cluster, task=started["taskArn"])
    from lab import until

    until(ecs, cluster, started["taskArn"], "STOPPED")

    assert devices(ecs, cluster, gpus)[0] == {"GPU-a": IDLE, "GPU-b": IDLE}


@pytest.mark.parametrize("memory, placed", [
    case("share_exact", "ecs-api.md 5.4: a device with exactly the memory", 16000, True),
    case("share_above", "ecs-api.md 5.4: one MiB above the device", 16001, False),
])
def test_a_share_at_the_limit(ecs, cluster, gpus, memory, placed):
    answer = ecs.run_task(
        cluster=cluster, taskDefinition=define(ecs, container(resourceRequirements=share(memory)))
    )

    assert bool(answer["tasks"]) == placed
    assert reasons(answer) == ([] if placed else ["RESOURCE:GPU"])


@rule("ecs-api.md 5.4: the shares of a task lie on one device")
def test_shares_of_a_task_do_not_split(ecs, cluster, gpus):
    answer = ecs.run_task(cluster=cluster, taskDefinition=define(
        ecs, container("a", resourceRequirements=share(9000)),
        container("b", resourceRequirements=share(9000)),
    ))

    assert reasons(answer) == ["RESOURCE:GPU"]


@rule("ecs-api.md 5.4: an agent without the capability yields ATTRIBUTE")
def test_a_share_without_the_capability(ecs, cluster):
    machine(ecs, cluster, gpus=["GPU-a"], sharing=False)

    answer = ecs.run_task(
        cluster=cluster, taskDefinition=define(ecs, container(resourceRequirements=share(1)))
    )

    assert reasons(answer) == ["ATTRIBUTE"]


@rule("ecs-api.md 5.2: gpuDevices only on instances that support sharing")
def test_gpus_without_the_capability(ecs, cluster):
    new = machine(ecs, cluster, gpus=["GPU-a"], sharing=False)

    assert new.get("gpuDevices", []) == []
    (registered,) = [r for r in new["registeredResources"] if r["name"] == "GPU"]
    assert registered["stringSetValue"] == ["GPU-a"]


@rule("ecs-api.md 5.6: overrides can replace resourceRequirements per container")
def test_overriding_gpu_requirements(ecs, cluster, gpus):
    (new,) = run(
        ecs, cluster, define(ecs, container(resourceRequirements=share(4000))),
        overrides={"containerOverrides": [{"name": "main", "resourceRequirements": share(6000)}]},
    )

    assert new["containers"][0]["gpuSharingStrategy"] == {"nvidiaMps": {"memory": 6000}}
    (used,) = new["containers"][0]["gpuIds"]
    assert devices(ecs, cluster, gpus)[0][used] == ("NVIDIA_MPS", 10000, 1)


@rule("ecs-api.md 5.1: GPU rules are checked again after overrides are merged")
def test_overriding_gpu_requirements_badly(loose, cluster):
    machine(loose, cluster, gpus=["GPU-a"])

    invalid(loose.run_task, cluster=cluster, taskDefinition=define(loose), overrides={
        "containerOverrides": [{"name": "main", "resourceRequirements": share(1, 101)}]
    })


# --- launch types ----------------------------------------------------------------------------------


@rule("ecs-api.md 7.1: EXTERNAL means nodes with ecs.capability.external")
def test_external_tasks_on_external_nodes(ecs, cluster):
    machine(ecs, cluster)
    external = machine(ecs, cluster, attributes={"ecs.capability.external": None})

    placed = run(ecs, cluster, define(ecs), count=3, launchType="EXTERNAL")

    assert {t["containerInstanceArn"] for t in placed} == {external["containerInstanceArn"]}
    assert {t["launchType"] for t in placed} == {"EXTERNAL"}


@rule("ecs-api.md 7.1: EC2 means nodes without ecs.capability.external")
def test_ec2_tasks_off_external_nodes(ecs, cluster):
    ordinary = machine(ecs, cluster)
    machine(ecs, cluster, attributes={"ecs.capability.external": None})

    placed = run(ecs, cluster, define(ecs), count=3, launchType="EC2")

    assert {t["containerInstanceArn"] for t in placed} == {ordinary["containerInstanceArn"]}


@rule("ecs-api.md 7.1: EXTERNAL tasks are counted apart")
def test_external_tasks_in_the_statistics(ecs, cluster):
    machine(ecs, cluster, attributes={"ecs.capability.external": None})
    run_until(ecs, cluster, define(ecs), launchType="EXTERNAL")

    (shown,) = ecs.describe_clusters(clusters=[cluster], include=["STATISTICS"])["clusters"]

    assert {"name": "runningExternalTasksCount", "value": "1"} in shown["statistics"]
    assert shown["clusterArn"] == arn("cluster", cluster)
