// Conformance through the AWS SDK for JavaScript: what only its deserialiser, its error classes, its
// paginators and its waiters show. The bulk of the cases is in ../conformance.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import * as sdk from "@aws-sdk/client-ecs";

import { startBerth } from "./berth.mjs";

const ARN = "arn:aws:ecs:us-east-1:000000000000:";
const MISSING = "f".repeat(32);
const WAIT = { maxWaitTime: 20, minDelay: 1, maxDelay: 1 };
const RESOURCES = [
  { name: "CPU", type: "INTEGER", integerValue: 4096 },
  { name: "MEMORY", type: "INTEGER", integerValue: 8192 },
  { name: "PORTS", type: "STRINGSET", stringSetValue: ["22"] },
  { name: "PORTS_UDP", type: "STRINGSET", stringSetValue: [] },
];

let berth;
let ecs;
let cluster;
let taskDefinition;
let number = 0;
const unique = (prefix) => `${prefix}-js-${process.pid}-${number++}`;

before(async () => {
  berth = await startBerth({ serverFlags: ["--emulate-agents"] });
  ({ ecs, cluster } = berth);
  await machine(cluster);
  taskDefinition = await define();
});
after(() => berth.stop());

async function machine(where) {
  const { containerInstance } = await ecs.registerContainerInstance({
    cluster: where, totalResources: RESOURCES,
  });
  return containerInstance;
}

async function define(container = {}, more = {}) {
  const family = unique("family");
  await ecs.registerTaskDefinition({
    family, containerDefinitions: [{ name: "main", image: "i", memory: 16, ...container }], ...more,
  });
  return family;
}

async function run(more = {}) {
  const { tasks, failures } = await ecs.runTask({ cluster, taskDefinition, ...more });
  assert.deepEqual(failures, []);
  return tasks;
}

async function collect(pages, member) {
  const found = [];
  for await (const page of pages) found.push(page[member]);
  return found;
}

// Each error is of the class that the SDK has for it, with its text and status.
const ERRORS = [
  ["ecs-api.md 17: ClusterNotFoundException", () => ecs.listTasks({ cluster: "nowhere" }),
    sdk.ClusterNotFoundException, /^Cluster not found\.$/],
  ["ecs-api.md 17: ClientException", () => ecs.describeTaskDefinition({ taskDefinition: "nowhere" }),
    sdk.ClientException, /^Unable to describe task definition\.$/],
  ["ecs-api.md 7.10: InvalidParameterException", () => ecs.describeTasks({ cluster, tasks: [] }),
    sdk.InvalidParameterException, /^Tasks cannot be empty\.$/],
  ["ecs-api.md 7.11: ServiceNotFoundException",
    () => ecs.listTasks({ cluster, serviceName: "nowhere" }),
    sdk.ServiceNotFoundException, /^Service not found\.$/],
  ["ecs-api.md 6.6: TargetNotFoundException",
    () => ecs.putAttributes({
      cluster,
      attributes: [{ name: "a", targetId: `${ARN}container-instance/${cluster}/${MISSING}` }],
    }), sdk.TargetNotFoundException, /./],
  ["ecs-api.md 12.2: ResourceNotFoundException",
    () => ecs.tagResource({
      resourceArn: `${ARN}task/${cluster}/${MISSING}`, tags: [{ key: "k", value: "v" }],
    }), sdk.ResourceNotFoundException, /./],
  ["ecs-api.md 6.7: NoUpdateAvailableException",
    async () => ecs.updateContainerAgent({
      cluster, containerInstance: (await machine(cluster)).containerInstanceArn,
    }), sdk.NoUpdateAvailableException, /./],
  ["ecs-api.md 18: DaemonNotFoundException",
    () => ecs.describeDaemon({ daemonArn: `${ARN}daemon/default/d` }), sdk.DaemonNotFoundException, /./],
  ["ecs-api.md 18: UnsupportedFeatureException",
    () => ecs.createExpressGatewayService({ infrastructureRoleArn: "r" }),
    sdk.UnsupportedFeatureException, /./],
  ["ecs-api.md 3: ClusterContainsContainerInstancesException", () => ecs.deleteCluster({ cluster }),
    sdk.ClusterContainsContainerInstancesException,
    /^The Cluster cannot be deleted while Container Instances are active or draining\.$/],
];

for (const [rule, call, type, text] of ERRORS) {
  test(`${rule}: an error of its class`, async () => {
    await assert.rejects(call(), (error) => {
      assert.ok(error instanceof type, `${error.name}: ${error.message}`);
      assert.match(error.message, text);
      assert.equal(error.$fault, "client");
      assert.equal(error.$metadata.httpStatusCode, 400);
      assert.match(error.$metadata.requestId, /^[0-9a-f-]{36}$/);
      return true;
    });
  });
}

test("ecs-api.md 7.3: ConflictException carries resourceIds", async () => {
  const clientToken = unique("token");
  const [{ taskArn }] = await run({ clientToken });

  await assert.rejects(ecs.runTask({ cluster, taskDefinition, clientToken, group: "other" }), (error) => {
    assert.ok(error instanceof sdk.ConflictException);
    assert.deepEqual(error.resourceIds, [taskArn]);
    return true;
  });
});

test("ecs-api.md 0: RunTask of this SDK carries a clientToken, a new one for each call", async () => {
  const first = await run();
  const second = await run();

  assert.notEqual(first[0].taskArn, second[0].taskArn);
});

test("ecs-api.md 0: timestamps become dates", async () => {
  const [task] = await run();
  const { taskDefinition: shown } = await ecs.describeTaskDefinition({ taskDefinition });

  for (const moment of [task.createdAt, shown.registeredAt]) {
    assert.ok(moment instanceof Date);
    assert.ok(Math.abs(Date.now() - moment.getTime()) < 60_000);
  }
});

test("ecs-api.md 0: container cpu and memory are integers in the definition, strings in tasks", async () => {
  const family = await define({ cpu: 7, memory: 17 });
  const [task] = await run({ taskDefinition: family });
  const { taskDefinition: shown } = await ecs.describeTaskDefinition({ taskDefinition: family });

  assert.deepEqual([shown.containerDefinitions[0].cpu, shown.containerDefinitions[0].memory], [7, 17]);
  assert.deepEqual([task.containers[0].cpu, task.containers[0].memory], ["7", "17"]);
  assert.deepEqual([task.cpu, task.memory], ["7", "17"]);
});

test("ecs-api.md 7.10: waitUntilTasksRunning succeeds when all are RUNNING", async () => {
  const tasks = (await run({ count: 3 })).map((task) => task.taskArn);

  const { state } = await sdk.waitUntilTasksRunning({ client: ecs, ...WAIT }, { cluster, tasks });

  assert.equal(state, "SUCCESS");
});

test("ecs-api.md 7.10: waitUntilTasksStopped succeeds when all are STOPPED", async () => {
  const tasks = (await run({ count: 2 })).map((task) => task.taskArn);
  for (const task of tasks) await ecs.stopTask({ cluster, task });

  const { state } = await sdk.waitUntilTasksStopped({ client: ecs, ...WAIT }, { cluster, tasks });

  assert.equal(state, "SUCCESS");
});

test("ecs-api.md 7.10: waitUntilTasksRunning fails on a missing task", async () => {
  await assert.rejects(
    sdk.waitUntilTasksRunning({ client: ecs, ...WAIT }, { cluster, tasks: [MISSING] }),
    (error) => JSON.parse(error.message).state === "FAILURE",
  );
});

// Every paginator of the SDK over a list of this API, to the last page.
const PAGES = [
  ["ecs-api.md 2.2: paginateListClusters", sdk.paginateListClusters, "clusterArns", () => ({}),
    (n) => ecs.createCluster({ clusterName: unique(`page${n}`) })],
  ["ecs-api.md 2.2: paginateListTasks", sdk.paginateListTasks, "taskArns", () => ({ cluster }),
    () => run()],
  ["ecs-api.md 2.2: paginateListContainerInstances", sdk.paginateListContainerInstances,
    "containerInstanceArns", () => ({ cluster }), () => machine(cluster)],
  ["ecs-api.md 2.2: paginateListTaskDefinitions", sdk.paginateListTaskDefinitions,
    "taskDefinitionArns", () => ({}), () => define()],
  ["ecs-api.md 2.2: paginateListTaskDefinitionFamilies", sdk.paginateListTaskDefinitionFamilies,
    "families", () => ({}), () => define()],
  ["ecs-api.md 2.2: paginateListAttributes", sdk.paginateListAttributes, "attributes",
    () => ({ cluster, targetType: "container-instance" }), () => machine(cluster)],
  ["ecs-api.md 2.2: paginateListAccountSettings", sdk.paginateListAccountSettings, "settings",
    () => ({ effectiveSettings: true }), () => {}],
];

for (const [rule, paginate, member, input, make] of PAGES) {
  test(`${rule} to the last page`, async () => {
    for (let n = 0; n < 5; ++n) await make(n);

    const small = await collect(paginate({ client: ecs, pageSize: 2 }, input()), member);
    const large = await collect(paginate({ client: ecs }, input()), member);

    assert.ok(small.length >= 3);
    assert.ok(small.every((page) => page.length <= 2));
    assert.deepEqual(small.flat(), large.flat());
    assert.equal(new Set(small.flat().map((item) => JSON.stringify(item))).size, small.flat().length);
  });
}

test("ecs-api.md 2.2: a token of another action is refused", async () => {
  await run({ count: 3 });
  const { nextToken } = await ecs.listTasks({ cluster, maxResults: 1 });

  await assert.rejects(
    ecs.listContainerInstances({ cluster, nextToken }),
    (error) => error instanceof sdk.InvalidParameterException,
  );
});

test("ecs-api.md 7.2: failures stand beside tasks", async () => {
  const where = unique("small");
  await ecs.createCluster({ clusterName: where });
  const { containerInstanceArn } = await machine(where);
  const big = await define({ memory: 5000 });

  const { tasks, failures } = await ecs.runTask({ cluster: where, taskDefinition: big, count: 2 });

  assert.equal(tasks.length, 1);
  assert.deepEqual(failures.map(({ arn, reason }) => [arn, reason]), [
    [containerInstanceArn, "RESOURCE:MEMORY"],
  ]);
});

test("ecs-api.md 5.6: the union sharingStrategy reads as a union", async () => {
  const sharingStrategy = { nvidiaMps: { memory: 12288, maxComputePercent: 50 } };
  const family = await define({ resourceRequirements: [{ type: "GPU", sharingStrategy }] });
  const { taskDefinition: shown } = await ecs.describeTaskDefinition({ taskDefinition: family });

  assert.deepEqual(shown.containerDefinitions[0].resourceRequirements[0].sharingStrategy,
    sharingStrategy);
});

test("ecs-api.md 12.2: tags of every kind of resource", async () => {
  const instance = await machine(cluster);
  const [task] = await run();
  const { taskDefinition: shown } = await ecs.describeTaskDefinition({ taskDefinition });
  const resources = [
    `${ARN}cluster/${cluster}`, instance.containerInstanceArn, task.taskArn, shown.taskDefinitionArn,
  ];

  for (const resourceArn of resources) {
    await ecs.tagResource({ resourceArn, tags: [{ key: "js", value: "1" }] });
    const { tags } = await ecs.listTagsForResource({ resourceArn });
    assert.deepEqual(tags, [{ key: "js", value: "1" }]);
    await ecs.untagResource({ resourceArn, tagKeys: ["js"] });
    assert.deepEqual((await ecs.listTagsForResource({ resourceArn })).tags, []);
  }
});

test("ecs-api.md 8.4: a filter by the query language", async () => {
  const { containerInstanceArn } = await machine(cluster);
  await ecs.putAttributes({
    cluster, attributes: [{ name: "js", value: "yes", targetId: containerInstanceArn }],
  });

  const { containerInstanceArns } = await ecs.listContainerInstances({
    cluster, filter: "attribute:js == yes",
  });

  assert.deepEqual(containerInstanceArns, [containerInstanceArn]);
});

test("ecs-api.md 4.6: a definition from registration to deletion", async () => {
  const family = await define();
  await ecs.deregisterTaskDefinition({ taskDefinition: `${family}:1` });

  const { taskDefinitions, failures } = await ecs.deleteTaskDefinitions({
    taskDefinitions: [`${family}:1`],
  });

  assert.deepEqual(failures, []);
  assert.equal(taskDefinitions[0].status, "DELETE_IN_PROGRESS");
});
