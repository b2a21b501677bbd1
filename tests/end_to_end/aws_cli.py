"""The newest AWS CLI of PyPI, by AWS_ENDPOINT_URL_ECS alone.

Its model (1.46.3 bundles botocore 1.43.62) is older than GPU sharing, whatever boto3 knows, so it gets
clients/botocore; a CLI that knows the feature is not disturbed by that.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys

import harness

AWS = pathlib.Path(sys.executable).with_name("aws")

# Most of a CLI call is starting Python. This runs the CLI's own main over many argument lists.
BATCH = """
import contextlib, io, json, sys
from awscli.clidriver import create_clidriver
answers = []
for arguments in json.load(sys.stdin):
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = create_clidriver().main(arguments)
    out.flush()
    answers.append([code, out.buffer.getvalue().decode(), err.getvalue()])
json.dump(answers, sys.stdout)
"""


@dataclasses.dataclass
class Answer:
    code: int
    out: str
    err: str


def environment(server):
    return {
        **os.environ,
        "AWS_ENDPOINT_URL_ECS": server.endpoint,
        "AWS_DATA_PATH": str(harness.REPOSITORY / "clients/botocore"),
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_PAGER": "",
        "COLUMNS": "200",
    }


def aws(server, *arguments, output="json"):
    """One call of `aws ecs`, as from a shell."""
    done = subprocess.run(
        [shutil.which(str(AWS)) or "aws", "ecs", *arguments, "--output", output],
        capture_output=True, text=True, check=False, timeout=60, env=environment(server),
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def aws_json(server, *arguments):
    """The answer of a call that succeeds."""
    answer = aws(server, *arguments)
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def batch(server, calls, output="json"):
    """The answers of many calls of `aws ecs`, made one after the other by one process."""
    done = subprocess.run(
        [sys.executable, "-c", BATCH],
        input=json.dumps([["ecs", *call, "--output", output] for call in calls]),
        capture_output=True, text=True, check=True, timeout=120, env=environment(server),
    )
    return [Answer(*answer) for answer in json.loads(done.stdout)]
