// Runs the GraphQL-over-HTTP audit of the graphql-http package against a
// running server and exits with 1 unless all its checks pass. The checks mix
// MUST, SHOULD and MAY; we pass them all.
//
//   URL=http://127.0.0.1:8080/graphql TOKEN=... node audit.mjs
//
// The caller needs the introspection right: check 28B9 asks for __type.
import { serverAudits } from "graphql-http";

const expected = 61;
const { URL: url, TOKEN: token } = process.env;
if (!url) {
  console.error("set URL to the GraphQL address, and TOKEN to an access token if it wants one");
  process.exit(2);
}

const fetchFn = (address, init = {}) =>
  fetch(address, {
    ...init,
    headers: { ...init.headers, ...(token && { authorization: `Bearer ${token}` }) },
  });

const audits = serverAudits({ url, fetchFn });
let passed = 0;
for (const { id, name, fn } of audits) {
  const result = await fn();
  if (result.status === "ok") {
    passed++;
    continue;
  }
  const { status, headers } = result.response;
  console.log(`${id} ${name}`);
  console.log(`  ${result.reason}; answered ${status} as ${headers.get("content-type")}`);
}
console.log(`${passed} of ${audits.length} checks passed`);
process.exit(passed === audits.length && audits.length === expected ? 0 : 1);
