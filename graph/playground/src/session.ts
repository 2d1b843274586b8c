// Who is signed in. Key, secret and token live in this module's memory and nowhere else: not in
// storage, not in an address, not in the page. Closing or reloading the page forgets them.

import { Store } from './store';
import { ended, signInRefused, signedOut, Told, unreachable } from './words';

export type Viewer = {
  tenant: string;
  key: string;
  // Absent when the server does not tell:
  keyName?: string;
  /** Acts for the bank itself, as opposed to one of its partners. */
  reach?: string;
  permissions?: string[];
  /** Whom the key speaks for; null for a program. */
  login?: string | null;
};

export type Session =
  | { phase: 'out'; why?: string }
  | { phase: 'in'; /** another number for every sign-in */ number: number; viewer: Viewer };

export const session = new Store<Session>({ phase: 'out' });

/** The schema is open to the caller, as far as is known. */
export function mayExplore(state: Session): boolean {
  return state.phase !== 'in' || !state.viewer.permissions || state.viewer.permissions.includes('Explore_GraphQL');
}

type Credentials = { tenant: string; key: string; secret: string };
type Token = { text: string; /** milliseconds since 1970 */ renewAt: number };

let credentials: Credentials | null = null;
let token: Token | null = null;
let renewing: Promise<Token> | null = null;
let number = 0;

export async function signIn(tenant: string, key: string, secret: string): Promise<void> {
  const asked = { tenant, key, secret };
  const got = await fetchToken(asked);
  credentials = asked;
  token = got;
  session.set({ phase: 'in', number: ++number, viewer: await askViewer(asked, got) });
}

export function signOut(why?: string): void {
  credentials = null;
  token = null;
  renewing = null;
  session.set({ phase: 'out', why });
}

/** The token to send now; a new one when the present one is about to expire or `refused` by the server. */
export async function currentToken(refused?: string): Promise<string> {
  if (!credentials || !token) throw new Told(signedOut);
  if (token.text !== refused && Date.now() < token.renewAt) return token.text;
  renewing ??= renew(credentials).finally(() => (renewing = null));
  return (await renewing).text;
}

// The refresh token is left alone: it dies long before the access token does (1,800 s against
// 14,400 s). Asking again with the key works after any pause, and a page nobody uses asks for nothing.
async function renew(asked: Credentials): Promise<Token> {
  try {
    const got = await fetchToken(asked);
    if (credentials === asked) token = got;
    return got;
  } catch (problem) {
    if (!(problem instanceof Refused)) throw problem; // the server is away: the next request tries again
    if (credentials === asked) signOut(ended);
    throw new Told(ended);
  }
}

/** The token endpoint said no, as opposed to being away. */
class Refused extends Told {}

async function fetchToken({ tenant, key, secret }: Credentials): Promise<Token> {
  const asked = Date.now();
  let response: Response;
  try {
    response = await fetch(`/auth/realms/${encodeURIComponent(tenant)}/protocol/openid-connect/token`, {
      method: 'POST',
      cache: 'no-store',
      credentials: 'omit',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: key, client_secret: secret }),
    });
  } catch {
    throw new Told(unreachable);
  }
  const body = await response.json().catch(() => ({}));
  if (response.ok && typeof body.access_token === 'string') {
    const life = Number(body.expires_in ?? 300) * 1000;
    return { text: body.access_token, renewAt: asked + life - Math.min(60_000, life / 4) };
  }
  const told = typeof body.error_description === 'string' ? body.error_description.replace(/\.$/, '') : '';
  const words = signInRefused(response.status, tenant, response.headers.get('retry-after'), told);
  throw response.status < 500 && response.status !== 429 ? new Refused(words) : new Told(words);
}

// The header shows who the server thinks we are. A server that does not tell (an older schema, no
// right to ask) leaves what we know from the sign-in itself.
async function askViewer(asked: Credentials, { text }: Token): Promise<Viewer> {
  const known: Viewer = { tenant: asked.tenant, key: asked.key };
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${text}`,
        accept: 'application/json',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ query: 'query Viewer { viewer { tenant client clientName login reach permissions } }' }),
    });
    const viewer = (await response.json()).data?.viewer;
    return {
      tenant: viewer?.tenant ?? known.tenant,
      key: viewer?.client ?? known.key,
      keyName: viewer?.clientName ?? undefined,
      reach: viewer?.reach ?? undefined,
      login: viewer?.login,
      permissions: Array.isArray(viewer?.permissions) ? viewer.permissions.map(String).sort() : undefined,
    };
  } catch {
    return known;
  }
}
