// Signs a person in at the provider as a browser would: authorization code with PKCE, and the provider's own
// pages for login and consent filled in.
import { createHash, randomBytes } from "node:crypto";

export async function login({ issuer, redirect, resource, user }) {
  const verifier = randomBytes(32).toString("base64url");
  const start = new URLSearchParams({
    client_id: "portal",
    response_type: "code",
    redirect_uri: redirect,
    scope: "openid roles",
    resource,
    state: "s",
    nonce: "n",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const cookies = new Map();
  let at = `${issuer}/auth?${start}`;
  let form;
  for (let step = 0; !at.startsWith(redirect); step++) {
    if (step > 20) throw new Error(`the login does not end: ${at}`);
    const answer = await fetch(at, {
      method: form ? "POST" : "GET",
      body: form,
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = cookie.match(/^([^=]+)=([^;]*)/);
      cookies.set(name, value);
    }
    const next = answer.headers.get("location");
    if (next) {
      at = new URL(next, at).href;
      form = undefined;
      continue;
    }
    const page = await answer.text();
    const prompt = page.match(/name="prompt" value="(login|consent)"/)?.[1];
    if (!prompt) throw new Error(`${answer.status} at ${at}: ${page.slice(0, 500)}`);
    at = new URL(page.match(/action="([^"]+)"/)[1], at).href;
    form = new URLSearchParams(prompt === "login" ? { prompt, login: user, password: "any" } : { prompt });
  }
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: "portal",
      code: new URL(at).searchParams.get("code"),
      redirect_uri: redirect,
      code_verifier: verifier,
      resource,
    }),
  });
  const tokens = await answer.json();
  if (!answer.ok) throw new Error(JSON.stringify(tokens));
  return tokens;
}
