// What ECS asks of a task definition beyond its schema, as far as generating right ones needs it:
// kinds of definition that exclude each other, and rules by member.
//
// A rule may have: `when(definition, place)`: given at all? `value(definition, place)`: the value;
// `length`: of a list; `allowed(word, definition)`: which words; `alternatives`: sets of members of
// which an element has one, each an element of its own. `place.container` is the container's number.

const GPU_LESS = "none";

// Each is registered again and again until nothing new comes of it.
export const KINDS = [
  { networkMode: "bridge", compatibilities: ["EC2"], gpu: "share" },
  { networkMode: "host", compatibilities: ["EC2", "MANAGED_INSTANCES"], gpu: "whole" },
  { networkMode: "awsvpc", compatibilities: ["EC2"], gpu: "share" },
  { networkMode: "none", compatibilities: ["EC2"], gpu: GPU_LESS },
  { networkMode: "bridge", compatibilities: ["EC2"], gpu: GPU_LESS, windows: true },
  { networkMode: "awsvpc", compatibilities: ["EC2", "FARGATE"], gpu: GPU_LESS, plain: true },
  { networkMode: "bridge", compatibilities: ["EXTERNAL"], gpu: "whole", plain: true },
];

const isAwsvpc = (d) => d.networkMode === "awsvpc";
const notAwsvpc = { when: (d) => !isAwsvpc(d) };
const samePorts = (d) => isAwsvpc(d) || d.networkMode === "host";
// What neither Fargate nor an external instance has.
const notPlain = { when: (d) => !d.plain };
const second = (d, place) => place.container > 0;
const C = "containerDefinitions[]";

export const RULES = {
  family: { value: (d) => d.family },
  networkMode: { value: (d) => d.networkMode },
  requiresCompatibilities: { value: (d) => d.compatibilities },
  cpu: { value: () => "1024" },
  memory: { value: () => "4096" },
  placementConstraints: notPlain,
  "placementConstraints[].expression": {
    value: (d, place) => `attribute:rack =~ r${place.next()}.* and not(task:group == database)`,
  },
  pidMode: { allowed: (word, d) => word === "task" || !d.plain },
  ipcMode: notPlain,
  proxyConfiguration: { when: isAwsvpc },
  "proxyConfiguration.containerName": { value: () => "container-0" },
  enableFaultInjection: { when: (d) => samePorts(d) && !d.plain },
  "ephemeralStorage.sizeInGiB": { value: () => 100 },
  "runtimePlatform.operatingSystemFamily": {
    allowed: (word, d) => word.startsWith("WINDOWS") === Boolean(d.windows),
  },

  volumes: notPlain,
  "volumes[]": {
    alternatives: [
      ["host"], ["dockerVolumeConfiguration"], ["efsVolumeConfiguration"],
      ["s3filesVolumeConfiguration"], ["fsxWindowsFileServerVolumeConfiguration"],
      ["configuredAtLaunch"],
    ],
    allowed: (member, d) =>
      member !== "dockerVolumeConfiguration" || !d.compatibilities.includes("MANAGED_INSTANCES"),
  },
  "volumes[].name": { value: (d, place) => `volume-${place.index}` },
  "volumes[].configuredAtLaunch": { value: () => true },

  [`${C}.name`]: { value: (d, place) => `container-${place.container}` },
  [`${C}.image`]: {
    value: (d, place) => `registry.example:5000/team_a/image-${place.next()}:v1.2`,
  },
  [`${C}.cpu`]: { value: (d, place) => 16 + place.container },
  [`${C}.memory`]: { value: (d, place) => 512 + place.container },
  [`${C}.memoryReservation`]: { value: (d, place) => 256 + place.container },
  [`${C}.essential`]: { value: second },
  [`${C}.links`]: {
    when: (d, place) => d.networkMode === "bridge" && !d.plain && second(d, place),
    value: () => ["container-0:alias"],
  },
  [`${C}.dependsOn`]: { when: second, length: 1 },
  [`${C}.dependsOn[].containerName`]: { value: () => "container-0" },
  [`${C}.volumesFrom`]: { when: second, length: 1 },
  [`${C}.volumesFrom[].sourceContainer`]: { value: () => "container-0" },
  [`${C}.mountPoints`]: { when: (d) => !d.plain, length: 2 },
  [`${C}.mountPoints[].sourceVolume`]: { value: (d, place) => `volume-${1 - place.index}` },
  [`${C}.portMappings`]: { when: (d) => d.networkMode !== "none" },
  [`${C}.portMappings[]`]: {
    alternatives: [["containerPort", "hostPort"], ["containerPortRange"]],
    allowed: (member, d) => member !== "containerPortRange" || d.networkMode !== "host",
  },
  [`${C}.portMappings[].containerPort`]: { value: (d, place) => 8000 + place.container },
  [`${C}.portMappings[].hostPort`]: {
    value: (d, place) => (samePorts(d) ? 8000 : 9000) + place.container,
  },
  [`${C}.portMappings[].name`]: { value: (d, place) => `port_name-${place.next()}` },
  [`${C}.portMappings[].containerPortRange`]: {
    value: (d, place) => `${1000 * (place.container + 1)}-${1000 * (place.container + 1) + 9}`,
  },
  [`${C}.environmentFiles[].value`]: {
    value: (d, place) => `arn:aws:s3:::bucket/file-${place.next()}.env`,
  },
  [`${C}.privileged`]: notPlain,
  [`${C}.dockerSecurityOptions`]: notPlain,
  [`${C}.hostname`]: notAwsvpc,
  [`${C}.dnsServers`]: notAwsvpc,
  [`${C}.dnsSearchDomains`]: notAwsvpc,
  [`${C}.extraHosts`]: notAwsvpc,
  [`${C}.disableNetworking`]: notAwsvpc,
  [`${C}.linuxParameters`]: notPlain,
  [`${C}.linuxParameters.swappiness`]: { value: () => 60 },
  [`${C}.stopTimeout`]: { value: () => 90 },
  [`${C}.ulimits`]: { when: (d) => !d.plain },
  [`${C}.ulimits[].softLimit`]: { value: () => 1024 },
  [`${C}.ulimits[].hardLimit`]: { value: () => 2048 },
  [`${C}.logConfiguration.logDriver`]: {
    allowed: (word, d) =>
      ["awslogs", "splunk", "awsfirelens"].includes(word) ||
      (!d.compatibilities.includes("FARGATE") &&
        (word === "json-file" || !d.compatibilities.includes("MANAGED_INSTANCES"))),
  },
  [`${C}.logConfiguration.options`]: {
    value: () => ({ tag: "z", "awslogs-region": "us-east-1", "awslogs-group": "g", env: "a" }),
  },
  [`${C}.healthCheck.interval`]: { value: () => 299 },
  [`${C}.healthCheck.timeout`]: { value: () => 59 },
  [`${C}.healthCheck.retries`]: { value: () => 9 },
  [`${C}.healthCheck.startPeriod`]: { value: () => 299 },
  [`${C}.restartPolicy.restartAttemptPeriod`]: { value: () => 1799 },
  [`${C}.resourceRequirements`]: {
    when: (d, place) => d.gpu !== GPU_LESS && second(d, place),
    length: 1,
  },
  [`${C}.resourceRequirements[].type`]: { allowed: (word) => word === "GPU" },
  [`${C}.resourceRequirements[].value`]: { when: (d) => d.gpu === "whole", value: () => "2" },
  [`${C}.resourceRequirements[].sharingStrategy`]: { when: (d) => d.gpu === "share" },
  [`${C}.resourceRequirements[].sharingStrategy.nvidiaMps.maxComputePercent`]: { value: () => 37 },
  inferenceAccelerators: { when: () => false },
  "trustedExecutionConfiguration.isolationMode": { allowed: (word) => word === "SHARED" },
};

// What ECS has given up, or has on its own hardware only: refused, by name.
export const REFUSED = [
  {
    points: [
      "inferenceAccelerators",
      "inferenceAccelerators[].deviceName",
      "inferenceAccelerators[].deviceType",
    ],
    members: { inferenceAccelerators: [{ deviceName: "d", deviceType: "eia2.medium" }] },
    says: /inferenceAccelerators/,
  },
  {
    points: [`${C}.resourceRequirements[].type=InferenceAccelerator`],
    container: { resourceRequirements: [{ type: "InferenceAccelerator", value: "d" }] },
    says: /InferenceAccelerator/,
  },
  {
    points: [`${C}.resourceRequirements[].type=NeuronDevice`],
    container: { resourceRequirements: [{ type: "NeuronDevice", value: "ALL" }] },
    says: /NeuronDevice/,
  },
  ...["ISOLATED_SANDBOX", "CONFIDENTIAL_SANDBOX"].map((isolationMode) => ({
    points: [`trustedExecutionConfiguration.isolationMode=${isolationMode}`],
    members: { trustedExecutionConfiguration: { isolationMode } },
    says: new RegExp(`isolationMode is '${isolationMode}'`),
  })),
];

// ecs-api.md 4.2: what ECS adds to what was given; null: any value, since it is computed.
const CONTAINER = {
  cpu: 0, essential: true, portMappings: [], environment: [], mountPoints: [], volumesFrom: [],
  systemControls: [],
};
export const DEFAULTS = {
  "": {
    taskDefinitionArn: null, revision: null, status: "ACTIVE", compatibilities: null,
    requiresAttributes: null, registeredAt: null, registeredBy: null,
    volumes: [], placementConstraints: [], networkMode: "bridge",
  },
  [C]: CONTAINER,
  [`${C}.portMappings[]`]: { protocol: "tcp", hostPort: null },
  [`${C}.healthCheck`]: { interval: 30, timeout: 5, retries: 3 },
  "volumes[].efsVolumeConfiguration": { rootDirectory: "/" },
  "volumes[].dockerVolumeConfiguration": { scope: "task", driver: "local" },
};
