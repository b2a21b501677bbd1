"""Whatever is sent, the server answers with an AWS error or hangs up within its limits, and lives."""

import json
import socket
import time

import pytest

TARGET = "AmazonEC2ContainerServiceV20141113."
HANG_UP_SECONDS = 70  # more than any of the server's limits


def exchange(server, request, seconds=HANG_UP_SECONDS, half_close=False):
    """Sends the bytes as they are; everything that comes back until the other side hangs up."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=seconds) as connection:
        answer = b""
        try:
            connection.sendall(request)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has seen enough; what it said may still be there
        try:
            while piece := connection.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
        return answer


def post(body, target="ListClusters", extra=(), length=None):
    lines = [
        "POST / HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/x-amz-json-1.1",
        f"X-Amz-Target: {TARGET}{target}",
        f"Content-Length: {len(body) if length is None else length}",
        "Connection: close",
        *extra,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def parse(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    return status, head.decode().lower(), json.loads(body)


def assert_alive(server):
    status, _, body = parse(exchange(server, post(b"{}")))
    assert status == 200
    assert body["clusterArns"]


@pytest.mark.parametrize(
    ("why", "request_", "error"),
    [
        ("no JSON", post(b"{nonsense"), "SerializationException"),
        ("half a JSON object", post(b'{"a":'), "SerializationException"),
        ("not an object", post(b"[1]"), "SerializationException"),
        ("something after the object", post(b"{} {}"), "SerializationException"),
        ("a member of the wrong type", post(b'{"maxResults":"many"}'), "SerializationException"),
        ("deep nesting", post(b'{"a":' * 5000 + b"1" + b"}" * 5000), "SerializationException"),
        ("not UTF-8", post(b'{"nextToken":"\xff\xfe"}'), "SerializationException"),
        ("an unknown action", post(b"{}", "MakeCoffee"), "UnknownOperationException"),
        ("an action in the wrong case", post(b"{}", "listclusters"), "UnknownOperationException"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_a_malformed_request_gets_an_aws_error_in_both_forms(server, why, request_, error):
    status, head, body = parse(exchange(server, request_))

    assert status == 400, why
    assert body["__type"].split("#")[-1] == error
    assert f"x-amzn-errortype: {error.lower()}" in head
    assert "x-amzn-requestid: " in head
    assert_alive(server)


def test_a_request_without_a_target_gets_an_aws_error(server):
    request = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"

    status, _, body = parse(exchange(server, request))

    assert status == 400
    assert body["__type"].split("#")[-1] == "UnknownOperationException"


def test_an_empty_body_is_an_empty_object(server):
    status, _, body = parse(exchange(server, post(b"")))

    assert status == 200
    assert "clusterArns" in body


def test_unknown_members_and_null_are_ignored(server):
    status, _, body = parse(exchange(server, post(b'{"flavour":"sour","nextToken":null}')))

    assert status == 200
    assert "clusterArns" in body


def test_an_oversized_body_is_refused_before_it_is_read(server):
    answer = exchange(server, post(b"{", length=1 << 40))

    assert answer == b"" or int(answer.split(b" ", 2)[1]) in (400, 413)
    assert_alive(server)


def test_oversized_headers_are_refused(server):
    answer = exchange(server, post(b"{}", extra=["X-Long: " + "x" * 10_000_000]))

    assert answer == b"" or int(answer.split(b" ", 2)[1]) in (400, 413, 431)
    assert_alive(server)


@pytest.mark.parametrize(
    "junk",
    [
        b"\x00" * 100,
        b"GARBAGE\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: minus one\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,  # a TLS client
    ],
    ids=["zeros", "no-request-line", "half-a-request-line", "http-9.9", "bad-length", "tls"],
)
def test_what_is_not_http_is_answered_with_400_or_hung_up_on(server, junk):
    answer = exchange(server, junk, half_close=True)

    assert answer == b"" or answer.split(b" ", 2)[1] in (b"400", b"505")
    assert_alive(server)


def test_a_half_sent_body_is_cut_off(server):
    began = time.monotonic()

    answer = exchange(server, post(b'{"clusterName":', "CreateCluster", length=100))

    assert time.monotonic() - began < HANG_UP_SECONDS
    assert answer == b"" or answer.split(b" ", 2)[1] in (b"400", b"408")
    assert_alive(server)


def test_a_client_that_hangs_up_in_the_middle_harms_nobody(server):
    for cut in (1, 10, 50, 100, 200):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(post(b"{}" + b" " * 200)[:cut])
    assert_alive(server)


def test_requests_sent_one_behind_the_other_are_answered_in_order(server):
    request = post(b"{}", "ListClusters").replace(b"Connection: close\r\n", b"")
    unknown = post(b"{}", "MakeCoffee").replace(b"Connection: close\r\n", b"")

    answer = exchange(server, request + unknown + post(b"{}"))

    assert [int(piece[:3]) for piece in answer.split(b"HTTP/1.1 ")[1:]] == [200, 400, 200]


def test_a_web_page_that_was_led_here_by_dns_is_turned_away(server):
    request = post(b"{}").replace(b"Host: 127.0.0.1", b"Host: evil.example")

    status, _, body = parse(exchange(server, request))

    assert status == 403
    assert body["__type"] == "AccessDeniedException"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_operators_find_health_and_metrics(server, path):
    answer = exchange(
        server, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
    )

    assert answer.split(b" ", 2)[1] == b"200"


def test_another_path_is_answered_not_dropped(server):
    answer = exchange(server, b"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")

    assert answer.split(b" ", 2)[1] in (b"400", b"404", b"405")
