// The main job with the AWS SDK for JavaScript, on real Docker.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitUntilTasksRunning, waitUntilTasksStopped } from "@aws-sdk/client-ecs";

import { IMAGE, startBerth } from "./berth.mjs";

const WAIT = { maxWaitTime: 60, minDelay: 1, maxDelay: 1 };
const command = ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done"];

let berth;
before(async () => {
  berth = await startBerth({ agentFlags: ["--gpus", "simulated:1x22587"] });
});
after(() => berth.stop());

function sharing(name, nvidiaMps) {
  return {
    name, image: IMAGE, memory: 16, command,
    resourceRequirements: [{ type: "GPU", sharingStrategy: { nvidiaMps } }],
  };
}

async function onlyGpu() {
  const { ecs, cluster } = berth;
  const { containerInstanceArns } = await ecs.listContainerInstances({ cluster });
  const { containerInstances } = await ecs.describeContainerInstances({
    cluster, containerInstances: containerInstanceArns,
  });
  return containerInstances[0].gpuDevices[0];
}

test("two containers share a GPU from RegisterTaskDefinition to StopTask", async () => {
  const { ecs, cluster } = berth;
  const { taskDefinition } = await ecs.registerTaskDefinition({
    family: "javascript",
    containerDefinitions: [
      sharing("a", { memory: 12288, maxComputePercent: 50 }),
      sharing("b", { memory: 8192 }),
    ],
  });
  assert.deepEqual(
    taskDefinition.containerDefinitions[0].resourceRequirements[0].sharingStrategy,
    { nvidiaMps: { memory: 12288, maxComputePercent: 50 } },
  );
  assert.ok(taskDefinition.registeredAt instanceof Date);

  const { tasks, failures } = await ecs.runTask({ cluster, taskDefinition: "javascript" });
  assert.deepEqual(failures, []);
  const { taskArn } = tasks[0];
  await waitUntilTasksRunning({ client: ecs, ...WAIT }, { cluster, tasks: [taskArn] });

  const { tasks: [running] } = await ecs.describeTasks({ cluster, tasks: [taskArn] });
  const gpu = await onlyGpu();
  assert.deepEqual(running.containers.map((c) => c.gpuIds), [[gpu.gpuId], [gpu.gpuId]]);
  assert.deepEqual(running.containers[1].gpuSharingStrategy, { nvidiaMps: { memory: 8192 } });
  assert.equal(gpu.sharingMode, "NVIDIA_MPS");
  assert.equal(gpu.remainingMemoryInMiB, 22587 - 20480);
  assert.equal(gpu.containerCount, 2);

  await ecs.stopTask({ cluster, task: taskArn });
  await waitUntilTasksStopped({ client: ecs, ...WAIT }, { cluster, tasks: [taskArn] });
  assert.equal((await onlyGpu()).sharingMode, "IDLE");
});

test("the same clientToken is the same task, another request with it is a conflict", async () => {
  const { ecs, cluster } = berth;
  await ecs.registerTaskDefinition({
    family: "token", containerDefinitions: [{ name: "a", image: IMAGE, memory: 16, command }],
  });
  const request = { cluster, taskDefinition: "token", clientToken: "javascript-1" };

  const first = await ecs.runTask(request);
  const second = await ecs.runTask(request);

  const { taskArn } = first.tasks[0];
  assert.deepEqual(second.tasks.map((task) => task.taskArn), [taskArn]);
  await assert.rejects(ecs.runTask({ ...request, count: 2 }), (error) => {
    assert.equal(error.name, "ConflictException");
    assert.deepEqual(error.resourceIds, [taskArn]);
    return true;
  });
  await ecs.stopTask({ cluster, task: taskArn });
  await waitUntilTasksStopped({ client: ecs, ...WAIT }, { cluster, tasks: [taskArn] });
});

test("a bad value is refused with the type and the member's name", async () => {
  const { ecs } = berth;
  const definition = (nvidiaMps) => ({
    family: "bad", containerDefinitions: [sharing("a", nvidiaMps)],
  });

  for (const [nvidiaMps, named] of [
    [{ memory: 0 }, /memory/],
    [{ memory: 1, maxComputePercent: 101 }, /maxComputePercent/],
    [{}, /memory/],
  ]) {
    await assert.rejects(ecs.registerTaskDefinition(definition(nvidiaMps)), (error) => {
      assert.equal(error.name, "ClientException");
      assert.match(error.message, named);
      return true;
    });
  }
});
