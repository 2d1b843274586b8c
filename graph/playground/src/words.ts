// Every failure in plain words: what happened and what to do about it.

/** An error whose message is meant for the person at the page. */
export class Told extends Error {}

export const unreachable =
  'The server cannot be reached. See that bankgraph still runs and that this machine is connected to it, then try again.';

export const unsure = 'Whether the mutation arrived is not known: look at the data before you run it again.';

export const ended =
  'Your session has ended: the token has expired and the key no longer gets a new one. Sign in again; your documents are still here.';

export const interrupted =
  'The subscription was interrupted. Run it again; give the last cursor as since, and nothing is missed.';

export const schemaClosed =
  'This key may run these documents, but not read the schema: its permissions lack Explore_GraphQL, which partners do not get. ' +
  'So the documentation and the completion stay empty.';

export const signedOut = 'You are not signed in. Sign in at the top right, then run the document again.';

/** Why a sign-in did not work, from the token endpoint's status and error body. */
export function signInRefused(status: number, tenant: string, wait: string | null, told: string): string {
  if (status === 404) return `There is no tenant “${tenant}” at this server. Check the spelling of its code.`;
  if (status === 429) return `Too many attempts. Wait ${wait ? `${wait} seconds` : 'a minute'} and try again.`;
  if (status >= 500) return `The server could not answer the sign-in (HTTP ${status}). Try again in a moment.`;
  const detail = told ? ` The server says: ${told}.` : '';
  if (status === 400 || status === 401 || status === 403)
    return `The key or the secret is wrong for tenant “${tenant}”, or the key is disabled.${detail}`;
  return `The sign-in failed with HTTP ${status}.${detail}`;
}

/** Why an answer of /graphql is not a GraphQL answer. */
export function notGraphQL(status: number, wait: string | null): string {
  switch (status) {
    case 401:
      return ended;
    case 403:
      return 'This key may not do that. Free documents and the schema need the explorer right; sign in with another key.';
    case 404:
      return 'This server does not serve /graphql.';
    case 413:
      return 'The document is too large. At most 32 KiB are taken.';
    case 429:
      return `Too many requests. Wait ${wait ? `${wait} seconds` : 'a moment'} and run it again.`;
    default:
      return status >= 500
        ? `The server could not answer (HTTP ${status}).`
        : `The server answered HTTP ${status} without a GraphQL answer.`;
  }
}
