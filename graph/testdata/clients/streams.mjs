// Subscribes with the clients that others use, graphql-ws and graphql-sse, to a running server with the demo bank, and
// exits with 1 unless each hears of a transfer, can go on at a cursor, and is told why a query is refused.
//
//   URL=http://127.0.0.1:8080/graphql TOKEN=... node streams.mjs
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createClient as createEvents } from "graphql-sse";
import { createClient as createSocket } from "graphql-ws";
import WebSocket from "ws";

const { URL: url, TOKEN: token } = process.env;
const example = (kind) => readFileSync(new URL(`../../playground/examples/16-transfer.${kind}`, import.meta.url), "utf8");
const query = "subscription($since: String) { paymentChanged(since: $since) { cursor action payment { uid status } } }";
const headers = { authorization: `Bearer ${token}` };

async function transfer() {
  const variables = JSON.parse(example("json"));
  variables.transfer.idempotencyKey = randomUUID();
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ query: example("graphql"), variables }),
  });
  const { data, errors } = await response.json();
  assert.equal(errors, undefined);
  return data.transferFunds.payment.uid;
}

const clients = {
  "graphql-ws": createSocket({ url: url.replace("http", "ws"), webSocketImpl: WebSocket, connectionParams: headers, retryAttempts: 0 }),
  "graphql-sse": createEvents({ url, headers, retryAttempts: 0 }),
};
for (const [name, client] of Object.entries(clients)) {
  const answers = client.iterate({ query });
  const first = answers.next();
  await new Promise((done) => setTimeout(done, 1000));
  const uid = await transfer();
  const { cursor, payment } = (await first).value.data.paymentChanged;
  assert.equal(payment.uid, uid);
  await answers.return();

  const second = await transfer();
  const again = client.iterate({ query, variables: { since: cursor } });
  for (;;) {
    const { value } = await again.next();
    if (value.data.paymentChanged.payment.uid === second) break;
  }
  await again.return();

  const refused = await client.iterate({ query: "{ viewer { tenant } }" }).next().then(
    ({ value }) => JSON.stringify(value),
    (problem) => JSON.stringify(problem.response ? problem.response.status : problem),
  );
  assert.match(refused, /STREAM_FOR_SUBSCRIPTIONS|406/);
  console.log(`${name}: heard of ${uid}, went on to ${second}`);
  client.dispose();
}
process.exit(0);
