// A person signs in at an identity provider that is not ours (npm: oidc-provider), and the demo bank accepts
// the access token once the operator has said so, and no longer than that.
//
//   BANKGRAPH=…/bankgraph BANKGRAPH_DATA=… BASE_URL=http://127.0.0.1:8080 node test.mjs
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { login } from "./login.mjs";
import { start } from "./provider.mjs";

const { BANKGRAPH: program, BASE_URL: base } = process.env;
assert(program && base, "set BANKGRAPH, BANKGRAPH_DATA and BASE_URL");
const audience = "https://api.bank.example";
const redirect = "http://127.0.0.1/signed-in";

const run = promisify(execFile);
const command = async (...args) => { // beside the provider, which runs in this process
  const { stdout, stderr } = await run(program, args);
  console.log((stdout + stderr).trim());
  return stdout + stderr;
};
const ask = (path, token, init = {}) =>
  fetch(base + path, { ...init, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } });
const viewer = (token) =>
  ask("/graphql", token, {
    method: "POST",
    body: JSON.stringify({ query: "{ viewer { tenant client login reach permissions limits { name limits { name value } } } }" }),
  });

// A bank reads its issuers anew every ten seconds, and remembers a verified token as long.
async function becomes(status, token) {
  for (let seconds = 0; seconds < 20; seconds++) {
    if ((await viewer(token)).status === status) return;
    await sleep(1000);
  }
  assert.fail(`the answer has not become ${status} within 20 seconds`);
}

const provider = await start({ audience, redirect });
try {
  const person = await login({ ...provider, redirect, resource: audience, user: "demo.admin" });
  const stranger = await login({ ...provider, redirect, resource: audience, user: "mallory" });
  assert.equal((await viewer(person.access_token)).status, 401, "before the issuer is added");

  const added = await command("issuer", "add", provider.issuer, "--tenant", "sandbox", "--audience", audience);
  assert.match(added, /Keys that it shows: 1\./);
  await becomes(200, person.access_token);

  const { data, errors } = await (await viewer(person.access_token)).json();
  assert.equal(errors, undefined);
  assert.equal(data.viewer.tenant, "sandbox");
  assert.equal(data.viewer.client, provider.issuer);
  assert.equal(data.viewer.login, "demo.admin");
  assert.equal(data.viewer.reach, "BANK");
  console.log("GraphQL knows", data.viewer.login, "who may", data.viewer.permissions.join(", ") || "nothing yet");

  const rest = await ask("/v2/customers?page=1&limit=1", person.access_token);
  assert.equal(rest.status, data.viewer.permissions.some((p) => p === "vCust" || p === "mCust") ? 200 : 403);
  console.log("REST answers", rest.status, "to that person");

  assert.equal((await viewer(person.id_token)).status, 401, "an id token is no access token");
  assert.equal((await viewer(stranger.access_token)).status, 401, "a person whom the bank does not know");
  assert.equal((await ask("/v2/customers?page=1&limit=1", stranger.access_token)).status, 401);

  await command("issuer", "disable", provider.issuer, "--tenant", "sandbox");
  await becomes(401, person.access_token);
  assert.equal((await ask("/v2/customers?page=1&limit=1", person.access_token)).status, 401);
} finally {
  provider.stop();
}
process.exit(0);
