"""`berth simulate`: what it prints, how it refuses, and the published table run by run.

The table needs the openb data: BERTH_OPENB names its folder (docs/placement.md says where it comes
from). Without it those tests are skipped."""

import csv
import json
import os
import pathlib
import statistics
import subprocess
import xml.etree.ElementTree

import harness
import pytest

RANDOM_POINTS = 0.3  # how far the means of a policy that draws may be from the published ones
SECONDS = 600

PUBLISHED_NAMES = {
    "DotProd": "dot-product",
    "GpuClustering": "gpu-clustering",
    "GpuPacking": "gpu-packing",
    "BestFit": "best-fit",
    "FGD": "fgd",
}

NODES = "sn,cpu_milli,memory_mib,gpu,model\n" + "".join(
    f"n{i},64000,262144,4,T4\n" for i in range(6)
)
TASKS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n" + "".join(
    f"t{i},{1000 + i % 5 * 500},4096,1,{300 + i % 7 * 100},\n" for i in range(40)
)


def simulate(*arguments):
    return subprocess.run(
        [harness.BERTH, "simulate", *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture
def trace(tmp_path):
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "tasks.csv").write_text(TASKS)
    return ["--nodes", str(tmp_path / "nodes.csv"), "--tasks", str(tmp_path / "tasks.csv")]


def test_json_has_one_object_for_each_policy_and_seed(trace):
    done = simulate(*trace, "--policy", "fgd,best-fit", "--seeds", "1,5-6", "--output", "json")

    runs = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert [(run["policy"], run["seed"]) for run in runs] == [
        (policy, seed) for policy in ("fgd", "best-fit") for seed in (1, 5, 6)
    ]
    assert set(runs[0]) == {
        "policy", "seed", "arrived", "failed", "alloc_pct_at_100", "alloc_pct_at_130", "decision_hash"
    }


def test_the_same_seed_gives_the_same_answer(trace):
    arguments = [*trace, "--seeds", "42-51", "--output", "csv"]

    assert simulate(*arguments).stdout == simulate(*arguments).stdout


def test_a_known_mix_changes_what_worth_does_and_nothing_else(trace):
    arguments = [*trace, "--policy", "worth,fgd", "--seeds", "42", "--output", "json"]

    learned = json.loads(simulate(*arguments).stdout)
    known = json.loads(simulate(*arguments, "--mix", "known").stdout)

    assert learned[0]["decision_hash"] != known[0]["decision_hash"]
    assert learned[1] == known[1]


def test_the_table_names_every_policy_and_the_drawing_is_xml(trace, tmp_path):
    done = simulate(*trace, "--svg", str(tmp_path / "out.svg"))

    assert done.returncode == 0, done.stderr
    policies = ["random", "first-fit", "worst-fit", *PUBLISHED_NAMES.values(), "worth"]
    assert all(policy in done.stdout for policy in policies)
    drawing = xml.etree.ElementTree.parse(tmp_path / "out.svg").getroot()
    lines = drawing.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 3 * len(policies)


@pytest.mark.parametrize(
    ("why", "arguments", "named"),
    [
        ("an unknown policy", ["--policy", "fdg"], "'fdg'"),
        ("a policy twice", ["--policy", "fgd,fgd"], "'fgd' is given twice"),
        ("no number", ["--seeds", "x"], "'x'"),
        ("backwards", ["--seeds", "51-42"], "51-42"),
        ("too many", ["--seeds", "1-999999999"], "more than 10000"),
        ("a file that is not there", ["--tasks", "/no/such.csv"], "/no/such.csv"),
    ],
)
def test_wrong_usage_is_2_and_is_named(trace, why, arguments, named):
    done = simulate(*trace, *arguments)

    assert done.returncode == 2, why
    assert named in done.stderr


def test_a_malformed_trace_is_2_and_names_file_and_line(trace, tmp_path):
    (tmp_path / "tasks.csv").write_text(TASKS + "t99,1000,many,1,500,\n")

    done = simulate(*trace)

    assert done.returncode == 2
    assert f"{tmp_path}/tasks.csv: line 42: memory_mib is 'many'" in done.stderr


def test_models_that_no_node_has_are_told(trace, tmp_path):
    (tmp_path / "tasks.csv").write_text(TASKS + "t99,1000,1,1,500,H900\n")

    done = simulate(*trace, "--policy", "fgd", "--seeds", "1")

    assert done.returncode == 0, done.stderr
    assert "no node has GPUs of H900: tasks that want them fail" in done.stderr


@pytest.fixture(scope="session")
def openb():
    if not os.environ.get("BERTH_OPENB"):
        pytest.skip("BERTH_OPENB names no folder with the openb data")
    # Relative to the repository, as .ci/run sets it.
    return (harness.REPOSITORY / os.environ["BERTH_OPENB"]).resolve()


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="session")
def published_runs(openb):
    variants = sorted({row["variant"] for row in rows(openb / "decision_check.csv")})
    done = simulate(
        "--nodes", str(openb / "openb_node_list_gpu_node.csv"),
        "--tasks", ",".join(str(openb / f"openb_pod_list_{variant}.csv") for variant in variants),
        "--policy", ",".join([*PUBLISHED_NAMES.values(), "random"]),
        "--seeds", "42-51",
        "--output", "json",
    )
    assert done.returncode == 0, done.stderr
    return [
        {**run, "variant": run["tasks"].removeprefix("openb_pod_list_")}
        for run in json.loads(done.stdout)
    ]


def test_all_650_published_runs_are_made_again_decision_by_decision(openb, published_runs):
    ours = {
        (run["variant"], run["policy"], run["seed"]): run["decision_hash"] for run in published_runs
    }
    published = rows(openb / "decision_check.csv")

    differ = [
        row
        for row in published
        if ours[row["variant"], PUBLISHED_NAMES[row["policy"]], int(row["seed"])]
        != row["fnv1a64_decisions"]
    ]
    assert len(published) == 650
    assert differ == []


@pytest.mark.parametrize("column", ["alloc_pct_at_100", "alloc_pct_at_130"])
def test_random_comes_as_near_as_chance_lets_it(openb, published_runs, column):
    for row in rows(openb / "expected.csv"):
        if row["policy"] != "Random":
            continue
        ours = statistics.mean(
            run[column]
            for run in published_runs
            if run["variant"] == row["variant"] and run["policy"] == "random"
        )
        assert ours == pytest.approx(float(row[column]), abs=RANDOM_POINTS), row["variant"]
