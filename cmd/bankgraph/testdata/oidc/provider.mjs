// An identity provider on this machine, as small as it can be: whoever types a login id is that person, and
// gets a JWT for the bank's audience.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";

export async function start({ audience, redirect }) {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...key, use: "sig", alg: "ES256", kid: "first" }] },
    cookies: { keys: ["only for this test"] },
    scopes: ["openid", "roles"],
    ttl: { Interaction: 300, Session: 300, Grant: 300, AccessToken: 300, IdToken: 300 },
    clients: [
      {
        client_id: "portal",
        application_type: "native",
        token_endpoint_auth_method: "none",
        redirect_uris: [redirect],
        id_token_signed_response_alg: "ES256",
      },
    ],
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: (_, token) => ({ preferred_username: token.accountId }),
    features: {
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ audience, scope: "roles", accessTokenFormat: "jwt", jwt: { sign: { alg: "ES256" } } }),
      },
    },
  });
  server.on("request", provider.callback());
  return { issuer, stop: () => server.close() };
}
