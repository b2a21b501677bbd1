// A berth server, and an agent where one is asked for, for the tests in JavaScript.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { ECS } from "@aws-sdk/client-ecs";

const root = resolve(fileURLToPath(import.meta.url), "../../../..");
const berth = process.env.BERTH_BINARY ?? join(root, "build/release/berth");
const READY_MS = 20_000;
const STOP_MS = 20_000;

export const IMAGE = "berth-test/busybox:latest";

export async function waitFor(what, look, ms = 60_000) {
  const deadline = Date.now() + ms;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${ms} ms`);
    await sleep(100);
  }
}

function firstLine(child, pattern) {
  return new Promise((done, fail) => {
    let text = "";
    const timer = setTimeout(() => fail(new Error(`no line like ${pattern}: ${text}`)), READY_MS);
    child.on("exit", (code) => fail(new Error(`ended with ${code}: ${text}`)));
    child.stdout.on("data", (piece) => {
      text += piece;
      const match = pattern.exec(text);
      if (match) {
        clearTimeout(timer);
        done(match);
      }
    });
  });
}

async function stop(child) {
  if (child.exitCode !== null) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}

// Starts `berth server`, and an agent on real Docker with `agentFlags` unless they are undefined.
// Returns the endpoint, a client as a user makes it, the cluster and stop().
export async function startBerth({ serverFlags = [], agentFlags = undefined } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "berth-e2e-js-"));
  const cluster = `e2e-js-${process.pid}`;
  const log = openSync(join(folder, "berth.log"), "a");
  const server = spawn(
    berth,
    ["server", "--listen", "127.0.0.1:0", "--data", join(folder, "data"), "--auth", "none", ...serverFlags],
    { stdio: ["ignore", "pipe", log] },
  );
  const endpoint = (await firstLine(server, /ready on (http:\S+)\n/))[1];
  // As the SDK's users do it: by the environment, nothing in the code.
  process.env.AWS_ENDPOINT_URL_ECS = endpoint;
  process.env.AWS_REGION = "us-east-1";
  process.env.AWS_ACCESS_KEY_ID = "test";
  process.env.AWS_SECRET_ACCESS_KEY = "test";
  const ecs = new ECS({ maxAttempts: 1 });
  await ecs.createCluster({ clusterName: cluster });

  let agent;
  if (agentFlags) {
    const made = spawnSync(join(root, "deploy/demo/make-image.sh"), [IMAGE], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(made.stderr);
    agent = spawn(
      berth,
      ["agent", "--server", endpoint, "--cluster", cluster, "--data", join(folder, "agent"),
        "--image-pull-behavior", "prefer-cached", "--introspection-port", "0", ...agentFlags],
      { stdio: ["ignore", "ignore", log] },
    );
    await waitFor("a connected instance", async () => {
      const { containerInstanceArns } = await ecs.listContainerInstances({ cluster });
      if (containerInstanceArns.length === 0) return false;
      const { containerInstances } = await ecs.describeContainerInstances({
        cluster, containerInstances: containerInstanceArns,
      });
      return containerInstances[0].agentConnected;
    }, READY_MS);
  }
  return {
    endpoint,
    ecs,
    cluster,
    async stop() {
      ecs.destroy();
      if (agent) await stop(agent);
      await stop(server);
      spawnSync(join(root, "deploy/demo/remove-containers.sh"), [cluster]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
