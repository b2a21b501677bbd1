// Faithful echo (ecs-api.md 4.2): every member of RegisterTaskDefinition that the SDK knows comes back
// with the value, type and order that it was given, and nothing comes along but what ECS adds itself.
// The members are read from the SDK, so that a newer one is tested with what it has.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";

import { startBerth } from "./berth.mjs";
import { Generator } from "./definition_generator.mjs";
import { DEFAULTS, KINDS, REFUSED } from "./definition_rules.mjs";
import { pointsIn, pointsOf, treeOf } from "./sdk_schema.mjs";

const MEMBERS_MIN = 165; // of RegisterTaskDefinition in 3.1164
const POINTS_MIN = 240; // and with the words of its enumerations
const ROUNDS_MAX = 200;

const tree = treeOf("RegisterTaskDefinitionRequest");
const points = pointsOf(tree);

let berth;
let body; // the last answer as it came: the SDK drops members that it does not know
before(async () => {
  berth = await startBerth({ serverFlags: ["--emulate-agents"] });
  berth.ecs.middlewareStack.addRelativeTo(
    (next) => async (args) => {
      const result = await next(args);
      const pieces = await result.response.body.toArray();
      body = Buffer.concat(pieces);
      result.response.body = Readable.from(pieces);
      return result;
    },
    { name: "keepBody", relation: "after", toMiddleware: "deserializerMiddleware" },
  );
});
after(() => berth.stop());

async function raw(call) {
  await call();
  return JSON.parse(body.toString());
}

function sameOrDefault(given, got, path) {
  if (Array.isArray(given)) {
    assert.ok(Array.isArray(got), `${path} is ${JSON.stringify(got)}`);
    assert.equal(got.length, given.length, `${path} has another length`);
    given.forEach((element, index) => sameOrDefault(element, got[index], `${path}[]`));
    return;
  }
  if (given === null || typeof given !== "object") {
    assert.strictEqual(got, given, `${path} comes back as ${JSON.stringify(got)}`);
    return;
  }
  for (const [name, value] of Object.entries(given)) {
    const below = path ? `${path}.${name}` : name;
    assert.ok(Object.hasOwn(got, name), `${below} is dropped`);
    sameOrDefault(value, got[name], below);
  }
  for (const [name, value] of Object.entries(got)) {
    if (Object.hasOwn(given, name)) continue;
    const defaults = DEFAULTS[path] ?? {};
    assert.ok(Object.hasOwn(defaults, name), `${path || "the answer"} has ${name} by itself`);
    if (defaults[name] !== null) assert.deepStrictEqual(value, defaults[name], `${path}.${name}`);
  }
}

async function registerAndCompare(definition) {
  const { ecs } = berth;
  const { tags, ...members } = definition;
  const registered = await raw(() => ecs.registerTaskDefinition(definition));
  const described = await raw(() => ecs.describeTaskDefinition({
    taskDefinition: definition.family, include: ["TAGS"],
  }));
  for (const answer of [registered, described]) {
    sameOrDefault(members, answer.taskDefinition, "");
    assert.deepStrictEqual(answer.tags, tags ?? []);
  }
  assert.deepStrictEqual(described.taskDefinition, registered.taskDefinition);
  return described.taskDefinition;
}

test("every member and word is echoed with the same value, type and order", async () => {
  const members = points.filter((point) => !point.includes("="));
  assert.ok(members.length >= MEMBERS_MIN, `the package's schema has ${members.length} members`);
  assert.ok(points.length >= POINTS_MIN, `with words ${points.length}`);
  const refused = new Set(REFUSED.flatMap((row) => row.points));
  for (const point of refused) assert.ok(points.includes(point), `${point} is gone: drop its row`);
  const wanted = points.filter((point) => !refused.has(point));

  const seen = new Set();
  const exercised = new Set();
  const generator = new Generator(tree, seen);
  let round = 0;
  while (round < ROUNDS_MAX && exercised.size < wanted.length) {
    const definition = generator.make(KINDS[round % KINDS.length], `every-${round}`);
    try {
      await registerAndCompare(definition);
    } catch (error) {
      error.message += `\nof ${JSON.stringify(definition)}`;
      throw error;
    }
    for (const point of pointsIn(definition, tree)) exercised.add(point);
    ++round;
  }

  assert.deepEqual(wanted.filter((point) => !exercised.has(point)), [], "never exercised");
  console.log(`${members.length} members and ${points.length - members.length} words in ${round} ` +
    `definitions; ${refused.size} of them refused`);
});

// One container that gives every member, and one that gives none.
const OVERRIDES = {
  cpu: "512", memory: "1024", taskRoleArn: "arn:aws:iam::000000000000:role/other",
  executionRoleArn: "arn:aws:iam::000000000000:role/another", ephemeralStorage: { sizeInGiB: 50 },
  containerOverrides: [
    {
      name: "b", command: ["z", "a"], environment: [{ name: "Z", value: "1" }, { name: "A", value: "" }],
      environmentFiles: [{ type: "s3", value: "arn:aws:s3:::bucket/z.env" }],
      cpu: 100, memory: 200, memoryReservation: 150,
      resourceRequirements: [
        { type: "GPU", sharingStrategy: { nvidiaMps: { memory: 300, maxComputePercent: 40 } } },
      ],
    },
    { name: "c", resourceRequirements: [] },
  ],
};
const OVERRIDES_REFUSED = [
  "inferenceAcceleratorOverrides", "inferenceAcceleratorOverrides[].deviceName",
  "inferenceAcceleratorOverrides[].deviceType",
  "containerOverrides[].resourceRequirements[].type=InferenceAccelerator",
  "containerOverrides[].resourceRequirements[].type=NeuronDevice",
];
// Of the two ways to ask for a GPU a task can use one.
const OVERRIDES_ELSEWHERE = ["containerOverrides[].resourceRequirements[].value"];

test("every member of a task's overrides is echoed", async () => {
  const { ecs, cluster } = berth;
  const all = treeOf("TaskOverride");
  const given = new Set(pointsIn(OVERRIDES, all));
  assert.deepEqual(
    pointsOf(all).filter((point) => !given.has(point)).sort(),
    [...OVERRIDES_REFUSED, ...OVERRIDES_ELSEWHERE].sort(),
  );
  await ecs.registerContainerInstance({
    cluster,
    totalResources: [
      { name: "CPU", type: "INTEGER", integerValue: 4096 },
      { name: "MEMORY", type: "INTEGER", integerValue: 8192 },
      { name: "GPU_MEMORY:GPU-1", type: "INTEGER", integerValue: 1000 },
    ],
    platformDevices: [{ id: "GPU-1", type: "GPU" }],
    attributes: [{ name: "ecs.capability.gpu-sharing-mps" }],
  });
  const container = (name) => ({ name, image: "i", memory: 64 });
  await ecs.registerTaskDefinition({
    family: "overridden", containerDefinitions: ["a", "b", "c"].map(container),
  });

  const answer = await raw(() => ecs.runTask({
    cluster, taskDefinition: "overridden", overrides: OVERRIDES,
  }));

  assert.deepStrictEqual(answer.failures, []);
  const { containerOverrides, inferenceAcceleratorOverrides, ...rest } = answer.tasks[0].overrides;
  const { containerOverrides: wanted, ...task } = OVERRIDES;
  assert.deepStrictEqual(rest, task);
  assert.deepStrictEqual(inferenceAcceleratorOverrides, []);
  const byName = Object.fromEntries(containerOverrides.map((o) => [o.name, o]));
  assert.deepStrictEqual(byName, { a: { name: "a" }, b: wanted[0], c: wanted[1] });
});

test("what ECS no longer has is refused by name", async () => {
  for (const { members, container, says } of REFUSED) {
    await assert.rejects(
      berth.ecs.registerTaskDefinition({
        family: "refused",
        containerDefinitions: [{ name: "c", image: "i", memory: 64, ...container }],
        ...members,
      }),
      (error) => error.name === "ClientException" && says.test(error.message),
    );
  }
});

test("nothing, zero and false are values and come back", async () => {
  await registerAndCompare({
    family: "falsy",
    networkMode: "bridge",
    containerDefinitions: [{
      name: "c", image: "i", memory: 64, cpu: 0, essential: true, command: [], entryPoint: [""],
      environment: [{ name: "EMPTY", value: "" }], privileged: false, interactive: false,
      portMappings: [{ containerPort: 80, hostPort: 0, protocol: "tcp" }],
      mountPoints: [], volumesFrom: [], links: [], dockerLabels: {}, systemControls: [],
      restartPolicy: { enabled: false, ignoredExitCodes: [0] },
      healthCheck: { command: ["CMD", "true"], startPeriod: 0 },
      linuxParameters: { capabilities: { add: [] }, maxSwap: 0, swappiness: 0 },
    }],
    volumes: [{ name: "v", host: {} }],
    placementConstraints: [],
    tags: [{ key: "k", value: "" }],
  });
});

const MINIMAL = { name: "c", image: "i", memory: 64 };
const CONTAINER = { ...MINIMAL, ...DEFAULTS["containerDefinitions[]"] };
// Definition, and what it is shown as beyond what is computed.
const MINIMA = [
  ["a container", {}, { networkMode: "bridge", volumes: [], placementConstraints: [] }],
  ["FARGATE", { requiresCompatibilities: ["FARGATE"], cpu: "256", memory: "512" }, {
    networkMode: "awsvpc", volumes: [], placementConstraints: [],
  }],
  ["a network mode", { networkMode: "none" }, { volumes: [], placementConstraints: [] }],
  ["a docker volume", { volumes: [{ name: "v", dockerVolumeConfiguration: {} }] }, {
    networkMode: "bridge", placementConstraints: [],
    volumes: [{ name: "v", dockerVolumeConfiguration: { scope: "task", driver: "local" } }],
  }],
];

for (const [what, given, added] of MINIMA) {
  test(`with ${what} alone come ECS's defaults and no others`, async () => {
    const definition = { family: "minimal", containerDefinitions: [MINIMAL], ...given };
    const shown = await raw(() => berth.ecs.registerTaskDefinition(definition));
    const {
      taskDefinitionArn, revision, registeredAt, registeredBy, compatibilities, requiresAttributes,
      ...rest
    } = shown.taskDefinition;

    assert.deepStrictEqual(rest, {
      ...definition, ...added, containerDefinitions: [CONTAINER], status: "ACTIVE",
    });
    assert.match(taskDefinitionArn, /:task-definition\/minimal:\d+$/);
    assert.equal(typeof registeredAt, "number");
    assert.ok(compatibilities.includes("EC2"));
  });
}
