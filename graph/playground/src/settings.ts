// What the server wrote into the page: see Options and Example in playground.go.

export type Example = {
  name: string;
  title: string;
  description: string;
  rest: string[];
  /** Permissions that its fields ask for, beside those to look that every key for the explorer has. */
  needs: string[];
  /** Only a caller who speaks for a person may. */
  person: boolean;
  query: string;
  variables: string;
};

export type Settings = {
  /** The demo bank is behind this server: offer its keys as buttons. */
  demo: boolean;
  /** Tenants whose money is not real. In any other the page turns to its warning colour. */
  sandboxes: string[];
  examples: Example[];
};

export const settings: Settings = JSON.parse(document.getElementById('settings')!.textContent!);

export const demoTenant = 'sandbox';

/** The keys of the demo bank; a secret is its key with "-secret" appended. */
export const demoKeys = [
  { key: 'demo-staff', who: 'Bank staff', may: 'Sees and changes everything in the bank' },
  { key: 'demo-partner', who: 'Partner', may: 'Sees and changes its own customers only' },
  { key: 'demo-reader', who: 'Reader', may: 'Bank staff who may only look' },
  { key: 'demo-linda', who: 'Linda Chen', may: 'Head of Operations: decides on what waits' },
  { key: 'demo-maria', who: 'Maria Alvarez', may: 'Relationship manager: decides for customers' },
];

export function isLive(tenant: string): boolean {
  return !settings.sandboxes.includes(tenant);
}
