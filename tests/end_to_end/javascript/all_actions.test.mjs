// Every action of the API model, called with nothing: none hangs, drops the connection, or answers
// with what the SDK cannot parse.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import * as sdk from "@aws-sdk/client-ecs";

import { startBerth } from "./berth.mjs";

const ACTIONS_MIN = 88;
const ANSWER_MS = 10_000;
const actions = Object.keys(sdk)
  .filter((name) => name.endsWith("Command") && name !== "$Command")
  .sort();

let berth;
before(async () => {
  berth = await startBerth();
});
after(() => berth.stop());

test("the SDK knows the 88 actions at least", () => {
  assert.ok(actions.length >= ACTIONS_MIN, `${actions.length}`);
});

for (const name of actions) {
  test(`${name} with {} gets an answer that the SDK can parse`, async () => {
    const client = new sdk.ECSClient({ maxAttempts: 1 });
    try {
      const answer = await client.send(new sdk[name]({}), {
        abortSignal: AbortSignal.timeout(ANSWER_MS),
      });
      assert.equal(answer.$metadata.httpStatusCode, 200);
      assert.match(answer.$metadata.requestId, /^[0-9a-f-]{36}$/);
    } catch (error) {
      // A modelled or common AWS error, in words; not a parse error, a time-out or a lost connection.
      assert.ok(error instanceof sdk.ECSServiceException, `${error.name}: ${error.message}`);
      assert.match(error.name, /^[A-Z][A-Za-z]+(Exception)$/);
      assert.notEqual(error.name, "UnknownOperationException");
      assert.ok([400, 500].includes(error.$metadata.httpStatusCode));
      assert.notEqual(error.name, "ServerException", error.message);
      assert.match(error.$metadata.requestId, /^[0-9a-f-]{36}$/);
      assert.ok(error.message.length > 0);
    } finally {
      client.destroy();
    }
  });
}
