"""The wire: what goes in, what comes back, and how errors look, seen without an SDK."""

import dataclasses
import http.client
import json
import re

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from lab import REGION, case, container, rule, unique

PREFIX = "AmazonEC2ContainerServiceV20141113."
TYPE = "application/x-amz-json-1.1"


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


def post(server, action, body, target=None, path="/", headers=None):
    """One request as it is given, signed as botocore does it."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = AWSRequest("POST", server.endpoint + "/", data=data, headers={
        "Content-Type": TYPE,
        **({} if action is None and target is None else {"X-Amz-Target": target or PREFIX + action}),
        **(headers or {}),
    })
    SigV4Auth(Credentials("test", "test"), "ecs", REGION).add_auth(request)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request("POST", path, data, dict(request.headers))
        answer = connection.getresponse()
        lowered = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, lowered, answer.read())
    finally:
        connection.close()


def refused(answer, code):
    assert answer.status == 400
    assert answer.json["__type"] == code
    assert answer.headers["x-amzn-errortype"] == code
    assert set(answer.json) == {"__type", "message"}
    return answer.json["message"]


@rule("ecs-api.md 1.2: 200 with type, length, Date and request id")
def test_the_headers_of_an_answer(server):
    answer = post(server, "ListClusters", {})

    assert answer.status == 200
    assert answer.headers["content-type"] == TYPE
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", answer.headers["date"])
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
                        answer.headers["x-amzn-requestid"])


@rule("ecs-api.md 1.2: each request has an id of its own")
def test_request_ids_differ(server):
    first, second = (post(server, "ListClusters", {}).headers["x-amzn-requestid"] for _ in range(2))

    assert first != second


@rule("ecs-api.md 1.1: the body is read whatever the content type")
@pytest.mark.parametrize("content_type", [
    pytest.param(f"{TYPE}; charset=utf-8", id="type_with_charset"),
    pytest.param("application/json", id="type_json"),
    pytest.param("text/plain", id="type_text"),
])
def test_content_types(server, content_type):
    assert post(server, "ListClusters", {}, headers={"Content-Type": content_type}).status == 200


@rule("ecs-api.md 1.1: an empty body counts as {}")
def test_an_empty_body(server):
    assert post(server, "ListClusters", b"").status == 200


@rule("ecs-api.md 1.1: a member with null equals an absent member")
def test_null_members(server):
    answer = post(server, "ListClusters", {"maxResults": None, "nextToken": None})

    assert answer.status == 200


@rule("ecs-api.md 0: unknown request members are ignored")
def test_unknown_members(server):
    assert post(server, "ListClusters", {"unheard": {"of": [1, "x"]}}).status == 200


@pytest.mark.parametrize("target", [
    case("target_missing", "ecs-api.md 1.3: target missing", None),
    case("target_prefix", "ecs-api.md 1.3: wrong prefix", "DynamoDB_20120810.ListClusters"),
    case("target_unknown", "ecs-api.md 1.3: unknown action", PREFIX + "FlyToTheMoon"),
    case("target_case", "ecs-api.md 1.1: prefix and action are case-sensitive",
         PREFIX + "listclusters"),
    case("target_empty", "ecs-api.md 1.3: unknown action", PREFIX),
])
def test_unknown_operations(server, target):
    answer = post(server, None, {}, target=target)

    assert answer.status == 400
    assert answer.json["__type"] == "UnknownOperationException"


@rule("ecs-api.md 1.1: header names are case-insensitive")
def test_a_target_in_lower_case(server):
    answer = post(server, None, {}, headers={"x-amz-target": PREFIX + "ListClusters"})

    assert answer.status == 200


@pytest.mark.parametrize("action, body", [
    case("not_json", "ecs-api.md 1.3: body is not JSON", "ListClusters", b"{"),
    case("not_an_object", "ecs-api.md 1.3: body is not an object", "ListClusters", b"[]"),
    case("a_string", "ecs-api.md 1.3: body is not an object", "ListClusters", b'"x"'),
    case("two_values", "ecs-api.md 1.3: body is not JSON", "ListClusters", b"{} {}"),
    case("string_for_integer", "ecs-api.md 1.3: wrong JSON type", "ListClusters",
         {"maxResults": "many"}),
    case("number_for_string", "ecs-api.md 1.3: wrong JSON type", "ListTasks", {"cluster": 5}),
    case("object_for_string", "ecs-api.md 1.3: wrong JSON type", "ListTasks", {"cluster": {}}),
    case("string_for_list", "ecs-api.md 1.3: wrong JSON type", "DescribeTasks", {"tasks": "t"}),
    case("list_for_structure", "ecs-api.md 1.3: wrong JSON type", "RunTask",
         {"taskDefinition": "f", "overrides": []}),
    case("string_for_boolean", "ecs-api.md 1.3: wrong JSON type", "RunTask",
         {"taskDefinition": "f", "enableExecuteCommand": "yes"}),
    case("bad_utf8", "ecs-api.md 1.3: body is not JSON", "ListTasks", b'{"cluster":"\xff"}'),
])
def test_serialization_errors(server, action, body):
    assert refused(post(server, action, body), "SerializationException")


@rule("ecs-api.md 1.3: errors have __type and message, and a header that agrees")
def test_a_modelled_error(server):
    assert refused(post(server, "ListTasks", {"cluster": "nowhere"}), "ClusterNotFoundException") == (
        "Cluster not found."
    )


@rule("ecs-api.md 1.3: extra modelled members travel at top level")
def test_the_resource_ids_of_a_conflict(server, ecs, cluster):
    from lab import define, machine

    machine(ecs, cluster)
    body = {"cluster": cluster, "taskDefinition": define(ecs), "clientToken": unique("t")}
    first = post(server, "RunTask", body)
    arns = [task["taskArn"] for task in first.json["tasks"]]

    again = post(server, "RunTask", {**body, "count": 2})

    assert again.json["__type"] == "ConflictException"
    assert again.json["resourceIds"] == arns


@rule("ecs-api.md 0: timestamps are JSON numbers")
def test_timestamps_are_numbers(server):
    answer = post(server, "RegisterTaskDefinition", {
        "family": unique("f"), "containerDefinitions": [container()],
    })

    assert isinstance(answer.json["taskDefinition"]["registeredAt"], float)
    assert 1.5e9 < answer.json["taskDefinition"]["registeredAt"] < 5e9


@rule("ecs-api.md 0: integers are written without fraction or exponent")
def test_integers_are_written_plain(server):
    answer = post(server, "RegisterTaskDefinition", {
        "family": unique("f"), "containerDefinitions": [container(cpu=100000, memory=1000000)],
    })

    assert re.search(rb'"cpu":\s*100000[,}]', answer.body)
    assert re.search(rb'"memory":\s*1000000[,}]', answer.body)
    assert re.search(rb'"revision":\s*1[,}]', answer.body)


@rule("ecs-api.md 1.2: absent members are omitted")
def test_absent_members_are_left_out(server):
    answer = post(server, "RegisterTaskDefinition", {
        "family": unique("f"), "containerDefinitions": [container()],
    })

    assert b"null" not in answer.body


@pytest.mark.parametrize("action, body, members", [
    case("empty_failures_clusters", "ecs-api.md 1.2: empty lists of Describe", "DescribeClusters",
         {}, ["clusters", "failures"]),
    case("empty_list_tasks", "ecs-api.md 1.2: empty lists of List", "ListTasks", {}, ["taskArns"]),
    case("empty_list_instances", "ecs-api.md 1.2: empty lists of List", "ListContainerInstances", {},
         ["containerInstanceArns"]),
    case("empty_list_attributes", "ecs-api.md 1.2: empty lists of List", "ListAttributes",
         {"targetType": "container-instance"}, ["attributes"]),
    case("empty_families", "ecs-api.md 1.2: empty lists of List", "ListTaskDefinitionFamilies",
         {"familyPrefix": "nowhere"}, ["families"]),
])
def test_empty_lists_are_there(server, action, body, members):
    answer = post(server, action, body).json

    assert {member: isinstance(answer[member], list) for member in members} == dict.fromkeys(
        members, True
    )


@pytest.mark.parametrize("action", [
    case("void_tag", "ecs-api.md 1.2: void results are {}", "TagResource"),
    case("void_untag", "ecs-api.md 1.2: void results are {}", "UntagResource"),
])
def test_void_results(server, cluster, action):
    from lab import arn

    given = {"tags": [{"key": "k", "value": "v"}]} if action == "TagResource" else {"tagKeys": ["k"]}
    answer = post(server, action, {"resourceArn": arn("cluster", cluster), **given})

    assert (answer.status, answer.json) == (200, {})


@rule("ecs-api.md 1.1: a request timestamp may be a number, a fraction or a string of one")
@pytest.mark.parametrize("moment", [
    pytest.param(1700000000, id="moment_integer"),
    pytest.param(1700000000.123, id="moment_fraction"),
    pytest.param("1700000000", id="moment_string"),
])
def test_timestamps_of_a_request(server, cluster, moment):
    answer = post(server, "SubmitTaskStateChange", {
        "cluster": cluster, "task": "f" * 32, "status": "RUNNING", "pullStartedAt": moment,
    })

    # The task is unknown; what matters is that the moment is read.
    assert answer.json.get("__type") in (None, "InvalidParameterException")


@rule("ecs-api.md 1.1: a union has exactly one member")
def test_a_union_with_two_members(server):
    answer = post(server, "RegisterTaskDefinition", {
        "family": unique("f"), "containerDefinitions": [container(resourceRequirements=[{
            "type": "GPU", "sharingStrategy": {"nvidiaMps": {"memory": 1}, "other": {}},
        }])],
    })

    assert "nvidiaMps" in refused(answer, "ClientException")


@rule("ecs-api.md 1.2: no compression")
def test_no_compression(server):
    answer = post(server, "ListClusters", {}, headers={"Accept-Encoding": "gzip, br"})

    assert "content-encoding" not in answer.headers
    assert "clusterArns" in answer.json


@rule("ecs-api.md 1.1: keep-alive")
def test_one_connection_takes_many_requests(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    request = AWSRequest("POST", server.endpoint + "/", data=b"{}", headers={
        "Content-Type": TYPE, "X-Amz-Target": PREFIX + "ListClusters",
    })
    SigV4Auth(Credentials("test", "test"), "ecs", REGION).add_auth(request)
    sockets = set()
    for _ in range(3):
        connection.request("POST", "/", b"{}", dict(request.headers))
        assert connection.getresponse().read()
        sockets.add(connection.sock)
    connection.close()

    assert len(sockets) == 1 and None not in sockets
