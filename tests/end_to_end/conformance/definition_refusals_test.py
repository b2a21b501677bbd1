"""RegisterTaskDefinition: what it refuses, and what stands just inside each limit."""

import pytest
from lab import case, client_error, container, refusal, unique

NAME_MAX = 255


def body(*containers, **members):
    return {"family": unique("f"), "containerDefinitions": list(containers), **members}


def one(**members):
    """A definition of one container with these members."""
    return body(container(**members))


def without(member, **members):
    made = container(**members)
    del made[member]
    return body(made)


def port(*mappings, **members):
    return body(container(portMappings=list(mappings)), **members)


def volume(*volumes, mounts=(), **members):
    return body(
        container(mountPoints=[{"sourceVolume": v, "containerPath": f"/{v}"} for v in mounts]),
        volumes=list(volumes), **members,
    )


def two(first, second, **members):
    return body(container("a", **first), container("b", **second), **members)


def depends(condition="START", on="a", **first):
    return two(first, {"dependsOn": [{"containerName": on, "condition": condition}]})


def fargate(**members):
    return body(
        container(),
        **{
            "requiresCompatibilities": ["FARGATE"], "networkMode": "awsvpc", "cpu": "256",
            "memory": "512", **members,
        },
    )


def memory_required(name="main"):
    return (
        f"Invalid setting for container '{name}'. At least one of 'memory' or 'memoryReservation' "
        "must be specified."
    )


NOT_UNIQUE_SECRET = (
    "The secret name must be unique and not shared with any new or existing environment variables set "
    "on the container, such as 'S'."
)
SECRET = {"name": "S", "valueFrom": "arn:aws:ssm:us-east-1:1:parameter/s"}
PORTS_MUST_MATCH = (
    "When networkMode={}, the host ports and container ports in port mappings must match."
)

# ECS's own words, to the letter.
EXACT = [
    case("no_containers", "ecs-api.md 4.3: no containers", body(), "Container list cannot be empty."),
    case("no_container_name", "ecs-api.md 4.3: container name missing", without("name"),
         "Container.name should not be null or empty."),
    case("empty_container_name", "ecs-api.md 4.3: container name missing", one(name=""),
         "Container.name should not be null or empty."),
    case("no_image", "ecs-api.md 4.3: image missing", without("image"),
         "Container.image should not be null or empty."),
    case("duplicate_container_names", "ecs-api.md 4.3: duplicate container names",
         body(container("a"), container("a")),
         "Container names must be unique within a Task Definition."),
    case("bad_container_name", "ecs-api.md 4.3: bad characters", one(name="a b"),
         "Container.name contains invalid characters."),
    case("container_name_256", "ecs-api.md 2.1: names are 1-255 characters",
         one(name="n" * (NAME_MAX + 1)), "Container.name contains invalid characters."),
    case("bad_family", "ecs-api.md 4.3: bad characters",
         {**one(), "family": "a/b"}, "Family contains invalid characters."),
    case("family_256", "ecs-api.md 2.1: names are 1-255 characters",
         {**one(), "family": "f" * (NAME_MAX + 1)}, "Family contains invalid characters."),
    case("bad_image", "ecs-api.md 4.3: bad characters", one(image="a b"),
         "Container.image contains invalid characters."),
    case("no_memory_anywhere", "ecs-api.md 4.3: no memory anywhere for a container",
         without("memory"), memory_required()),
    case("no_memory_of_second", "ecs-api.md 4.3: no memory anywhere for a container",
         body(container("a"), {"name": "b", "image": "i"}), memory_required("b")),
    case("memory_above_task", "ecs-api.md 4.3: container limit above task memory",
         body(container(memory=513), memory="512"),
         "The 'memory' setting for container 'main' is greater than for the task."),
    case("bad_task_cpu", "ecs-api.md 4.3: bad task cpu", body(container(), cpu="lots"),
         "Invalid 'cpu' setting for task."),
    case("task_cpu_127", "ecs-api.md 4.3: task cpu 128-196608", body(container(), cpu="127"),
         "Invalid 'cpu' setting for task."),
    case("task_cpu_196609", "ecs-api.md 4.3: task cpu 128-196608", body(container(), cpu="196609"),
         "Invalid 'cpu' setting for task."),
    case("port_missing", "ecs-api.md 4.3: container port out of range or missing",
         port({"hostPort": 80}), "Invalid 'containerPort' setting for container 'main'."),
    case("port_65536", "ecs-api.md 4.3: container port out of range or missing",
         port({"containerPort": 65536}), "Invalid 'containerPort' setting for container 'main'."),
    case("port_negative", "ecs-api.md 4.3: container port out of range or missing",
         port({"containerPort": -1}), "Invalid 'containerPort' setting for container 'main'."),
    case("host_port_twice", "ecs-api.md 4.3: static host port twice",
         port({"containerPort": 80, "hostPort": 8080}, {"containerPort": 81, "hostPort": 8080}),
         "TCP host port '8080' is mapped multiple times in task."),
    case("host_port_twice_over_containers", "ecs-api.md 4.3: static host port twice",
         two({"portMappings": [{"containerPort": 80, "hostPort": 8080}]},
             {"portMappings": [{"containerPort": 80, "hostPort": 8080}]}),
         "TCP host port '8080' is mapped multiple times in task."),
    case("secret_in_environment", "ecs-api.md 4.3: secret also in environment or twice",
         one(secrets=[SECRET], environment=[{"name": "S", "value": "v"}]), NOT_UNIQUE_SECRET),
    case("secret_twice", "ecs-api.md 4.3: secret also in environment or twice",
         one(secrets=[SECRET, SECRET]), NOT_UNIQUE_SECRET),
    case("distinct_instance", "ecs-api.md 4.3: constraint other than memberOf",
         body(container(), placementConstraints=[{"type": "distinctInstance"}]),
         "constraint.type 'distinctInstance' is not supported."),
    case("awsvpc_ports_differ", "ecs-api.md 4.3: port mismatch",
         port({"containerPort": 80, "hostPort": 81}, networkMode="awsvpc"),
         PORTS_MUST_MATCH.format("awsvpc")),
    case("host_ports_differ", "ecs-api.md 4.3: port mismatch",
         port({"containerPort": 80, "hostPort": 81}, networkMode="host"),
         PORTS_MUST_MATCH.format("host")),
    case("unknown_volume", "ecs-api.md 4.3: mount of undeclared volume", volume(mounts=["v"]),
         "Unknown volume 'v'."),
    case("blank_source_path", "ecs-api.md 4.3: empty host.sourcePath string",
         volume({"name": "v", "host": {"sourcePath": ""}}), "host.sourcePath should not be blank."),
    case("link_cycle", "ecs-api.md 4.3: link cycle", two({"links": ["b"]}, {"links": ["a"]}),
         "Container links should not have a cycle"),
    case("complete_on_essential", "ecs-api.md 4.3: COMPLETE/SUCCESS on an essential container",
         depends("COMPLETE"),
         "A dependency container with SUCCESS or COMPLETE condition cannot be an essential container"),
    case("success_on_essential", "ecs-api.md 4.3: COMPLETE/SUCCESS on an essential container",
         depends("SUCCESS"),
         "A dependency container with SUCCESS or COMPLETE condition cannot be an essential container"),
    case("sum_of_cpu", "ecs-api.md 4.3: sum of container cpu",
         body(container("a", cpu=200), container("b", cpu=57), cpu="256"),
         "The sum of all container 'cpu' values cannot be greater than the value of the task 'cpu'."),
    case("awslogs_without_group", "ecs-api.md 4.3: awslogs options",
         one(logConfiguration={"logDriver": "awslogs", "options": {"awslogs-region": "r"}}),
         "Log driver awslogs requires options: awslogs-region, awslogs-group"),
    case("fargate_without_cpu", "ecs-api.md 4.3: FARGATE required", fargate(cpu=None),
         "Fargate requires that 'cpu' be defined at the task level."),
    case("fargate_without_memory", "ecs-api.md 4.3: FARGATE required", fargate(memory=None),
         "Fargate requires that 'memory' be defined at the task level."),
    case("fargate_in_bridge", "ecs-api.md 4.3: FARGATE required", fargate(networkMode="bridge"),
         "Fargate only supports network mode \u2018awsvpc\u2019."),
    case("fargate_pair", "ecs-api.md 4.3: FARGATE required", fargate(memory="4096"),
         "No Fargate configuration exists for given values."),
    case("fargate_pid_mode", "ecs-api.md 4.3: FARGATE pid mode", fargate(pidMode="host"),
         "Tasks using the Fargate launch type do not support pidMode 'host'. The supported value for "
         "pidMode is 'task'."),
]


@pytest.mark.parametrize("definition, text", EXACT)
def test_registration_says(loose, definition, text):
    assert refusal(loose.register_task_definition, **definition) == ("ClientException", text)


def containers(count):
    return [container(f"c{n}") for n in range(count)]


def ranges(count):
    return [{"containerPortRange": f"{n * 10 + 1}-{n * 10 + 2}"} for n in range(count)]


CONSTRAINT = {"type": "memberOf", "expression": "attribute:rack == r1"}
CHECK = {"command": ["CMD", "true"]}
ENV_FILE = {"type": "s3", "value": "arn:aws:s3:::b/f.env"}


def ulimit(soft, hard, name="nofile"):
    return one(ulimits=[{"name": name, "softLimit": soft, "hardLimit": hard}])


# Refused with a text of ours, which must name what is wrong.
NAMED = [
    case("no_family", "ecs-api.md 4.3: family is required", {**one(), "family": ""}, "Family"),
    case("eleven_containers", "ecs-api.md 4.3: at most 10 containers", body(*containers(11)), "11"),
    case("no_essential", "ecs-api.md 4.3: all containers essential: false", one(essential=False),
         "doesn't have any essential container"),
    case("dependency_absent", "ecs-api.md 4.3: dependsOn target absent", depends(on="x"),
         "Cannot depend on container"),
    case("dependency_absent_why", "ecs-api.md 4.3: dependsOn target absent", depends(on="x"),
         "because it does not exist"),
    case("dependency_on_itself", "ecs-api.md 4.3: dependsOn not itself", depends(on="b"), "itself"),
    case("dependency_cycle", "ecs-api.md 4.3: no cycles over dependsOn",
         two({"dependsOn": [{"containerName": "b", "condition": "START"}]},
             {"dependsOn": [{"containerName": "a", "condition": "START"}]}), "dependsOn"),
    case("healthy_without_check", "ecs-api.md 4.3: HEALTHY needs a health check on the target",
         depends("HEALTHY"), "healthCheck"),
    case("link_absent", "ecs-api.md 4.3: a container named in links must exist", one(links=["x"]),
         "links[0]"),
    case("volumes_from_absent", "ecs-api.md 4.3: a container named in volumesFrom must exist",
         one(volumesFrom=[{"sourceContainer": "x"}]), "volumesFrom[0]"),
    case("memory_below_reservation", "ecs-api.md 4.3: memory not below memoryReservation",
         one(memory=63, memoryReservation=64), "memoryReservation"),
    case("memory_5", "ecs-api.md 4.3: container memory at least 6 MiB", one(memory=5), "memory"),
    case("reservation_5", "ecs-api.md 4.3: container memory at least 6 MiB",
         one(memoryReservation=5), "memoryReservation"),
    case("reservations_above_task", "ecs-api.md 4.3: sum of container reservations",
         body(container("a", memory=300), container("b", memory=213), memory="512"), "512"),
    case("cpu_negative", "ecs-api.md 4.3: container cpu at least 0", one(cpu=-1), "cpu"),
    case("bad_task_memory", "ecs-api.md 4.2: task memory strings", body(container(), memory="much"),
         "memory"),
    case("host_port_65536", "ecs-api.md 4.3: ports 0-65535",
         port({"containerPort": 80, "hostPort": 65536}), "hostPort"),
    case("ports_without_network", "ecs-api.md 4.3: port mappings forbidden with network mode none",
         port({"containerPort": 80}, networkMode="none"), "portMappings"),
    case("port_twice", "ecs-api.md 4.3: exact duplicates of a port mapping",
         port({"containerPort": 80}, {"containerPort": 80}), "80"),
    case("ranges_101", "ecs-api.md 4.3: at most 100 ranges", port(*ranges(101)),
         "containerPortRange"),
    case("range_in_host", "ecs-api.md 4.3: ranges in bridge and awsvpc only",
         port({"containerPortRange": "80-90"}, networkMode="host"), "containerPortRange"),
    case("ranges_overlap", "ecs-api.md 4.3: ranges do not overlap",
         port({"containerPortRange": "80-90"}, {"containerPortRange": "90-95"}),
         "containerPortRange"),
    case("range_backwards", "ecs-api.md 4.3: first below last",
         port({"containerPortRange": "90-80"}), "containerPortRange"),
    case("range_beside_port", "ecs-api.md 4.3: a range excludes containerPort",
         port({"containerPortRange": "80-90", "containerPort": 80}), "containerPortRange"),
    case("port_name_65", "ecs-api.md 2.1: port-mapping names up to 64",
         port({"containerPort": 80, "name": "n" * 65}), "name"),
    case("port_name_upper", "ecs-api.md 2.1: port-mapping names of a-z0-9_-",
         port({"containerPort": 80, "name": "Web"}), "name"),
    case("port_name_hyphen", "ecs-api.md 2.1: port-mapping names do not start with -",
         port({"containerPort": 80, "name": "-web"}), "name"),
    case("links_in_host", "ecs-api.md 4.3: links only in bridge",
         two({}, {"links": ["a"]}, networkMode="host"),
         "Links are not supported when networkMode=host."),
    case("links_in_awsvpc", "ecs-api.md 4.3: links only in bridge",
         two({}, {"links": ["a"]}, networkMode="awsvpc"),
         "Links are not supported when networkMode=awsvpc."),
    case("hostname_in_awsvpc", "ecs-api.md 4.3: hostname not in awsvpc",
         body(container(hostname="h"), networkMode="awsvpc"), "hostname"),
    case("dns_servers_in_awsvpc", "ecs-api.md 4.3: dnsServers not in awsvpc",
         body(container(dnsServers=["10.0.0.2"]), networkMode="awsvpc"), "dnsServers"),
    case("dns_search_in_awsvpc", "ecs-api.md 4.3: dnsSearchDomains not in awsvpc",
         body(container(dnsSearchDomains=["local"]), networkMode="awsvpc"), "dnsSearchDomains"),
    case("extra_hosts_in_awsvpc", "ecs-api.md 4.3: extraHosts not in awsvpc",
         body(container(extraHosts=[{"hostname": "h", "ipAddress": "10.0.0.1"}]),
              networkMode="awsvpc"), "extraHosts"),
    case("disable_networking_in_awsvpc", "ecs-api.md 4.3: disableNetworking not in awsvpc",
         body(container(disableNetworking=True), networkMode="awsvpc"), "disableNetworking"),
    case("volume_twice", "ecs-api.md 4.3: volumes have unique names",
         volume({"name": "v"}, {"name": "v"}), "v"),
    case("volume_of_two_kinds", "ecs-api.md 4.3: a volume is of at most one kind",
         volume({"name": "v", "host": {}, "dockerVolumeConfiguration": {}}), "v"),
    case("two_configured_at_launch", "ecs-api.md 4.3: only one configuredAtLaunch",
         volume({"name": "v", "configuredAtLaunch": True}, {"name": "w", "configuredAtLaunch": True}),
         "configuredAtLaunch"),
    case("environment_files_11", "ecs-api.md 4.3: environmentFiles at most 10",
         one(environmentFiles=[ENV_FILE] * 11), "environmentFiles"),
    case("environment_file_suffix", "ecs-api.md 4.3: the value ends in .env",
         one(environmentFiles=[{**ENV_FILE, "value": "arn:aws:s3:::b/f.txt"}]), ".env"),
    case("environment_file_type", "ecs-api.md 4.3: environment files of type s3",
         one(environmentFiles=[{**ENV_FILE, "type": "http"}]), "environmentFiles"),
    case("ulimit_name", "ecs-api.md 4.3: ulimits names from the enum", ulimit(1, 2, "files"),
         "ulimits"),
    case("ulimit_soft_above_hard", "ecs-api.md 4.3: ulimits soft up to hard", ulimit(3, 2),
         "ulimits"),
    case("log_driver", "ecs-api.md 4.3: logDriver from the enum",
         one(logConfiguration={"logDriver": "paper"}), "logDriver"),
    case("ipc_mode", "ecs-api.md 4.3: ipcMode host/task/none", body(container(), ipcMode="all"),
         "ipcMode"),
    case("pid_mode", "ecs-api.md 4.3: pidMode host/task", body(container(), pidMode="none"),
         "pidMode"),
    case("swappiness_101", "ecs-api.md 4.3: swappiness 0-100",
         one(linuxParameters={"swappiness": 101, "maxSwap": 1}), "swappiness"),
    case("swappiness_alone", "ecs-api.md 4.3: swappiness needs maxSwap",
         one(linuxParameters={"swappiness": 1}), "swappiness"),
    case("no_expression", "ecs-api.md 4.3: a memberOf expression must parse",
         body(container(), placementConstraints=[{"type": "memberOf"}]), "expression"),
    case("expression_2001", "ecs-api.md 2.3: expression up to 2000 characters",
         body(container(), placementConstraints=[
             {"type": "memberOf", "expression": "attribute:a == " + "b" * 1986}]), "2000"),
    case("constraints_11", "ecs-api.md 2.3: constraints up to 10",
         body(container(), placementConstraints=[CONSTRAINT] * 11), "placementConstraints"),
    case("fargate_constraints", "ecs-api.md 4.3: placementConstraints not with FARGATE",
         fargate(placementConstraints=[CONSTRAINT]), "placementConstraints"),
    case("inference_accelerators", "ecs-api.md 4.3: inferenceAccelerators are gone",
         body(container(), inferenceAccelerators=[{"deviceName": "d", "deviceType": "t"}]),
         "inferenceAccelerators"),
    case("inference_accelerator_type", "ecs-api.md 4.3: resource type InferenceAccelerator is gone",
         one(resourceRequirements=[{"type": "InferenceAccelerator", "value": "d"}]),
         "InferenceAccelerator"),
    case("isolated_sandbox", "ecs-api.md 4.3: what is not offered is rejected",
         body(container(), trustedExecutionConfiguration={"isolationMode": "ISOLATED_SANDBOX"}),
         "isolationMode"),
    case("neuron_device", "ecs-api.md 4.3: NeuronDevice",
         one(resourceRequirements=[{"type": "NeuronDevice", "value": "ALL"}]), "NeuronDevice"),
    case("compatibility", "ecs-api.md 4.3: requiresCompatibilities from the enum",
         body(container(), requiresCompatibilities=["MOON"]), "requiresCompatibilities"),
    case("external_awsvpc", "ecs-api.md 4.4: EXTERNAL in bridge, host or none only",
         body(container(), requiresCompatibilities=["EXTERNAL"], networkMode="awsvpc"), "awsvpc"),
    case("managed_instances_bridge", "ecs-api.md 4.4: MANAGED_INSTANCES not in bridge",
         body(container(), requiresCompatibilities=["MANAGED_INSTANCES"], networkMode="bridge"),
         "bridge"),
    case("network_mode", "ecs-api.md 1.3: enum violations of a registration",
         body(container(), networkMode="overlay"), "networkMode"),
    case("device_without_path", "ecs-api.md 1.3: required member absent in a registration",
         one(linuxParameters={"devices": [{"containerPath": "/d"}]}), "hostPath"),
    case("health_interval_4", "ecs-api.md 4.2: health check interval 5-300",
         one(healthCheck={**CHECK, "interval": 4}), "interval"),
    case("health_interval_301", "ecs-api.md 4.2: health check interval 5-300",
         one(healthCheck={**CHECK, "interval": 301}), "interval"),
    case("health_timeout_1", "ecs-api.md 4.2: health check timeout 2-60",
         one(healthCheck={**CHECK, "timeout": 1}), "timeout"),
    case("health_timeout_61", "ecs-api.md 4.2: health check timeout 2-60",
         one(healthCheck={**CHECK, "timeout": 61}), "timeout"),
    case("health_retries_0", "ecs-api.md 4.2: health check retries 1-10",
         one(healthCheck={**CHECK, "retries": 0}), "retries"),
    case("health_retries_11", "ecs-api.md 4.2: health check retries 1-10",
         one(healthCheck={**CHECK, "retries": 11}), "retries"),
    case("health_start_301", "ecs-api.md 4.2: health check startPeriod 0-300",
         one(healthCheck={**CHECK, "startPeriod": 301}), "startPeriod"),
    case("restart_period_59", "ecs-api.md 4.2: restartAttemptPeriod 60-1800",
         one(restartPolicy={"enabled": True, "restartAttemptPeriod": 59}), "restartAttemptPeriod"),
    case("restart_period_1801", "ecs-api.md 4.2: restartAttemptPeriod 60-1800",
         one(restartPolicy={"enabled": True, "restartAttemptPeriod": 1801}), "restartAttemptPeriod"),
    case("exit_codes_51", "ecs-api.md 4.2: at most 50 ignored exit codes",
         one(restartPolicy={"enabled": True, "ignoredExitCodes": list(range(51))}),
         "ignoredExitCodes"),
]


@pytest.mark.parametrize("definition, named", NAMED)
def test_registration_names(loose, definition, named):
    assert named in client_error(loose.register_task_definition, **definition)


# Right at the limit: taken.
TAKEN = [
    case("container_name_255", "ecs-api.md 2.1: names are 1-255 characters",
         one(name="n" * NAME_MAX)),
    case("family_255", "ecs-api.md 2.1: names are 1-255 characters",
         {**one(), "family": unique("f" * 242)}),
    case("ten_containers", "ecs-api.md 4.3: at most 10 containers", body(*containers(10))),
    case("memory_6", "ecs-api.md 4.3: container memory at least 6 MiB", one(memory=6)),
    case("memory_equals_reservation", "ecs-api.md 4.3: memory equal to memoryReservation passes",
         one(memory=64, memoryReservation=64)),
    case("reservation_alone", "ecs-api.md 4.3: memory or memoryReservation",
         without("memory", memoryReservation=64)),
    case("task_memory_alone", "ecs-api.md 4.3: task memory is enough",
         body({"name": "c", "image": "i"}, memory="512")),
    case("task_cpu_128", "ecs-api.md 4.3: task cpu 128-196608", body(container(), cpu="128")),
    case("task_cpu_196608", "ecs-api.md 4.3: task cpu 128-196608", body(container(), cpu="196608")),
    case("memory_at_task", "ecs-api.md 4.3: container limit up to task memory",
         body(container(memory=512), memory="512")),
    case("cpu_at_task", "ecs-api.md 4.3: sum of container cpu up to the task's",
         body(container("a", cpu=200), container("b", cpu=56), cpu="256")),
    case("port_0", "ecs-api.md 4.3: ports 0-65535", port({"containerPort": 1, "hostPort": 0})),
    case("port_65535", "ecs-api.md 4.3: ports 0-65535",
         port({"containerPort": 65535, "hostPort": 65535})),
    case("tcp_and_udp", "ecs-api.md 4.3: the same port with tcp and udp",
         port({"containerPort": 53, "protocol": "tcp"}, {"containerPort": 53, "protocol": "udp"})),
    case("host_port_per_protocol", "ecs-api.md 4.3: a host port once per protocol",
         port({"containerPort": 53, "hostPort": 53, "protocol": "tcp"},
              {"containerPort": 53, "hostPort": 53, "protocol": "udp"})),
    case("unknown_protocol", "ecs-api.md 4.3: protocol other than udp counts as tcp",
         port({"containerPort": 53, "protocol": "TCP"})),
    case("ranges_100", "ecs-api.md 4.3: at most 100 ranges", port(*ranges(100))),
    case("range_in_awsvpc", "ecs-api.md 4.3: ranges in bridge and awsvpc",
         port({"containerPortRange": "80-90"}, networkMode="awsvpc")),
    case("port_name_64", "ecs-api.md 2.1: port-mapping names up to 64",
         port({"containerPort": 80, "name": "n" * 64})),
    case("constraints_10", "ecs-api.md 2.3: constraints up to 10",
         body(container(), placementConstraints=[CONSTRAINT] * 10)),
    case("expression_2000", "ecs-api.md 2.3: expression up to 2000 characters",
         body(container(), placementConstraints=[
             {"type": "memberOf", "expression": "attribute:a == " + "b" * 1985}])),
    case("environment_files_10", "ecs-api.md 4.3: environmentFiles at most 10",
         one(environmentFiles=[ENV_FILE] * 10)),
    case("ulimit_equal", "ecs-api.md 4.3: ulimits soft up to hard", ulimit(2, 2)),
    case("ulimit_unlimited", "ecs-api.md 4.3: ulimits soft up to hard", ulimit(-1, -1)),
    case("swappiness_100", "ecs-api.md 4.3: swappiness 0-100",
         one(linuxParameters={"swappiness": 100, "maxSwap": 0})),
    case("empty_volume", "ecs-api.md 4.3: an empty volume definition is a host volume",
         volume({"name": "v"}, mounts=["v"])),
    case("essential_omitted", "ecs-api.md 4.3: an omitted essential counts as true",
         two({"essential": False}, {})),
    case("complete_on_other", "ecs-api.md 4.3: COMPLETE on a container that is not essential",
         depends("COMPLETE", essential=False)),
    case("healthy_with_check", "ecs-api.md 4.3: HEALTHY needs a health check on the target",
         depends("HEALTHY", healthCheck=CHECK)),
    case("health_lowest", "ecs-api.md 4.2: health check limits",
         one(healthCheck={**CHECK, "interval": 5, "timeout": 2, "retries": 1, "startPeriod": 0})),
    case("health_highest", "ecs-api.md 4.2: health check limits",
         one(healthCheck={**CHECK, "interval": 300, "timeout": 60, "retries": 10,
                          "startPeriod": 300})),
    case("restart_period_60", "ecs-api.md 4.2: restartAttemptPeriod 60-1800",
         one(restartPolicy={"enabled": True, "restartAttemptPeriod": 60})),
    case("restart_period_1800", "ecs-api.md 4.2: restartAttemptPeriod 60-1800",
         one(restartPolicy={"enabled": True, "restartAttemptPeriod": 1800})),
    case("exit_codes_50", "ecs-api.md 4.2: at most 50 ignored exit codes",
         one(restartPolicy={"enabled": True, "ignoredExitCodes": list(range(50))})),
    case("shared_isolation", "ecs-api.md 4.2: members that the model knows are kept",
         body(container(), trustedExecutionConfiguration={"isolationMode": "SHARED"})),
    case("fargate_256_512", "ecs-api.md 4.3: Fargate pairs", fargate()),
    case("fargate_16384_122880", "ecs-api.md 4.3: Fargate pairs",
         fargate(cpu="16384", memory="122880")),
    case("fargate_units", "ecs-api.md 4.2: task cpu and memory strings",
         fargate(cpu="1 vCPU", memory="2GB")),
]


@pytest.mark.parametrize("definition", TAKEN)
def test_registration_takes(loose, definition):
    answer = loose.register_task_definition(**definition)

    assert answer["taskDefinition"]["status"] == "ACTIVE"
