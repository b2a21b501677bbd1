"""Definitions such as AWS publishes and its users have register as they stand."""

import json
import pathlib

import pytest

import aws_cli
import harness

SAMPLES = sorted((pathlib.Path(__file__).parent / "samples").glob("*.json"))
SAMPLES_MIN = 30
# "1 vCPU", "3 GB" and "1GB" are shown as plain numbers.
UNITS = {"1 vCPU": "1024", "3 GB": "3072", "1GB": "1024"}


@pytest.fixture(scope="module")
def server():
    with harness.running_server() as running:
        yield running


def assert_carries(given, got, where):
    """What was given is there, with the same type and order; more may be there."""
    if isinstance(given, dict):
        for name, value in given.items():
            assert name in got, f"{where}.{name} is dropped"
            assert_carries(value, got[name], f"{where}.{name}")
    elif isinstance(given, list):
        assert len(got) == len(given), where
        for index, value in enumerate(given):
            assert_carries(value, got[index], f"{where}[{index}]")
    else:
        assert (type(got), got) == (type(given), UNITS.get(given, given)), where


def check(sample, answer):
    given = json.loads(sample.read_text())
    assert answer.get("tags", []) == given.pop("tags", [])
    assert_carries(given, answer["taskDefinition"], sample.stem)


def test_there_are_many():
    assert len(SAMPLES) >= SAMPLES_MIN


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_registers_with_boto3(server, sample):
    ecs = server.client()
    registered = ecs.register_task_definition(**json.loads(sample.read_text()))
    check(sample, registered)

    check(sample, ecs.describe_task_definition(
        taskDefinition=registered["taskDefinition"]["taskDefinitionArn"], include=["TAGS"]
    ))


def test_the_samples_register_with_the_aws_cli(server):
    answers = aws_cli.batch(server, [
        ["register-task-definition", "--cli-input-json", f"file://{sample}"] for sample in SAMPLES
    ])

    for sample, answer in zip(SAMPLES, answers, strict=True):
        assert answer.code == 0, f"{sample.stem}: {answer.err}"
        check(sample, json.loads(answer.out))
