#!/usr/bin/env python3
"""RunTask per second against a real server, with one and with sixteen connections.

usage: run_task.py [BERTH] [--seconds N] [--instances N]

Starts a server with emulated agents in a folder of its own, registers instances, and sends RunTask
(one task a call, each with its own clientToken, as SDKs do) over kept-alive connections. The client is
raw sockets, so that its own cost is small beside the server's; both share this machine. Also tells what
the server takes: memory before and after, size of the binary, time to load everything again.
"""

import argparse
import json
import os
import selectors
import signal
import socket
import subprocess
import tempfile
import time
import uuid

TARGET = "AmazonEC2ContainerServiceV20141113."
READY_SECONDS = 20
READ_SIZE = 1 << 18
CLUSTER = "bench"


def request(action, body, port):
    text = json.dumps(body).encode()
    head = (
        f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/x-amz-json-1.1\r\n"
        f"X-Amz-Target: {TARGET}{action}\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    return head.encode() + text


class Connection:
    """One kept-alive connection with one request under way at a time."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.sent_at = 0.0

    def send(self, data):
        self.sent_at = time.perf_counter()
        self.socket.sendall(data)

    def read(self):
        """Takes what has come; (status, body) once the answer is whole, else None."""
        piece = self.socket.recv(READ_SIZE)
        if not piece:
            raise SystemExit("the server hung up")
        self.buffer += piece
        head_end = self.buffer.find(b"\r\n\r\n")
        if head_end < 0:
            return None
        head = self.buffer[:head_end].lower()
        at = head.index(b"content-length:") + len(b"content-length:")
        length = int(head[at:].split(b"\r\n", 1)[0])
        end = head_end + 4 + length
        if len(self.buffer) < end:
            return None
        body, self.buffer = self.buffer[head_end + 4 : end], self.buffer[end:]
        return int(head[9:12]), body

    def call(self, data):
        self.send(data)
        while (answer := self.read()) is None:
            pass
        status, body = answer
        if status != 200:
            raise SystemExit(f"the server answered {status}: {body.decode()}")
        return json.loads(body)


def start(berth, data, port=0):
    process = subprocess.Popen(
        [berth, "server", "--listen", f"127.0.0.1:{port}", "--data", data, "--auth", "none",
         "--emulate-agents", "--log-level", "warning"],
        stdout=subprocess.PIPE,
        text=True,
    )
    began = time.perf_counter()
    line = process.stdout.readline()
    if "ready on" not in line or time.perf_counter() - began > READY_SECONDS * 10:
        raise SystemExit("the server did not start")
    return process, int(line.rsplit(":", 1)[1]), time.perf_counter() - began


def rss_mib(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise SystemExit("no VmRSS")


def prepare(port, instances):
    connection = Connection(port)
    connection.call(request("CreateCluster", {"clusterName": CLUSTER}, port))
    for number in range(instances):
        gpus = [f"GPU-{number:08x}-{gpu}" for gpu in range(8)]
        resources = [
            {"name": "CPU", "type": "INTEGER", "integerValue": 1_000_000},
            {"name": "MEMORY", "type": "INTEGER", "integerValue": 1_000_000_000},
        ] + [{"name": f"GPU_MEMORY:{gpu}", "type": "INTEGER", "integerValue": 81559} for gpu in gpus]
        connection.call(
            request(
                "RegisterContainerInstance",
                {
                    "cluster": CLUSTER,
                    "totalResources": resources,
                    "platformDevices": [{"id": gpu, "type": "GPU"} for gpu in gpus],
                    "attributes": [{"name": "ecs.capability.gpu-sharing-mps"}],
                },
                port,
            )
        )
    sharing = {"type": "GPU", "sharingStrategy": {"nvidiaMps": {"memory": 2000}}}
    connection.call(
        request(
            "RegisterTaskDefinition",
            {
                "family": "bench",
                "containerDefinitions": [
                    {"name": "main", "image": "x", "memory": 6, "resourceRequirements": [sharing]}
                ],
            },
            port,
        )
    )


def measure(port, connections, seconds):
    """(tasks, seconds, sorted latencies in ms)."""
    selector = selectors.DefaultSelector()
    latencies = []

    def send(connection):
        body = {"cluster": CLUSTER, "taskDefinition": "bench", "clientToken": uuid.uuid4().hex}
        connection.send(request("RunTask", body, port))

    for _ in range(connections):
        connection = Connection(port)
        selector.register(connection.socket, selectors.EVENT_READ, connection)
        send(connection)
    began = time.perf_counter()
    under_way = connections
    while under_way:
        for key, _ in selector.select(60):
            connection = key.data
            answer = connection.read()
            if answer is None:
                continue
            status, body = answer
            if status != 200 or b'"failures":[]' not in body:
                raise SystemExit(f"RunTask answered {status}: {body[:500].decode()}")
            now = time.perf_counter()
            latencies.append((now - connection.sent_at) * 1000)
            if now - began < seconds:
                send(connection)
            else:
                under_way -= 1
    took = time.perf_counter() - began
    return len(latencies), took, sorted(latencies)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("berth", nargs="?", default="build/release/berth")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--instances", type=int, default=1000)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="berth-bench-") as data:
        server, port, _ = start(options.berth, data)
        try:
            time.sleep(1)
            print(f"binary: {os.path.getsize(options.berth) / 1e6:.1f} MB with its symbols")
            print(f"RSS of an idle server: {rss_mib(server):.1f} MiB")
            prepare(port, options.instances)
            print(f"RSS with {options.instances} instances of 8 GPUs: {rss_mib(server):.1f} MiB")
            total = 0
            for connections in (1, 16):
                tasks, took, latencies = measure(port, connections, options.seconds)
                total += tasks
                print(
                    f"{connections:2} connection(s): {tasks / took:8.0f} RunTask/s   "
                    f"p50 {latencies[len(latencies) // 2]:.2f} ms   "
                    f"p99 {latencies[len(latencies) * 99 // 100]:.2f} ms   ({tasks} tasks)"
                )
            print(f"RSS with {total} tasks: {rss_mib(server):.1f} MiB")
            size = sum(entry.stat().st_size for entry in os.scandir(data))
            print(f"data: {size / 1e6:.1f} MB")
            server.send_signal(signal.SIGKILL)
            server.wait()
            server, port, took = start(options.berth, data, port)
            print(f"after kill -9, ready again with all of them in {took:.2f} s")
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
