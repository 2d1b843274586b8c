// Starts Swagger UI on our own document. Nothing is fetched from elsewhere and nothing is stored:
// key, secret and token live in the page's memory.
'use strict';

const settings = JSON.parse(document.getElementById('settings').textContent);
const field = document.getElementById('tenant');
const realm = /\/auth\/realms\/([^/]+)\//g;

// Swagger UI has a dark side of its own, behind a class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const shade = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', shade);
shade();

const tokenPath = () => `/auth/realms/${encodeURIComponent(field.value.trim())}/`;

// The document as it is published, and what its examples become for who has signed in.
let published;
let own = [];

// Examples of requests are of the day on which the demo bank of the tests begins, and rules begin later; here they
// are of today, in the zone of the demo bank: by the machine's clock, and by the sandbox's for who has signed in.
const dayOf = (now) =>
  new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', year: 'numeric', month: '2-digit', day: '2-digit' })
    .format(now).replaceAll('/', '-');
let today = dayOf(new Date());

async function readClock(token) {
  const answer = await fetch('/sandbox/clock', { headers: { Authorization: `Bearer ${token}` } });
  if (answer.ok) today = dayOf(new Date((await answer.json()).data.now));
}

const withOwn = (document) =>
  JSON.parse([['11-18-2026', today], ['01-04-2027', today], ...own].reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(document)));

// The document names one address, one tenant and no key. In their place stand the address that serves
// the page, the tenant of the field on top and, in a demo, a key that works: whatever is copied works as it is.
function withPlace(document) {
  for (const scheme of Object.values(document?.components?.securitySchemes ?? {})) {
    for (const flow of Object.values(scheme.flows ?? {})) {
      for (const name of ['tokenUrl', 'refreshUrl', 'authorizationUrl']) {
        if (!flow[name]) continue;
        field.value ||= [...flow[name].matchAll(realm)][0]?.[1] ?? '';
        flow[name] = flow[name].replace(realm, tokenPath());
      }
    }
  }
  if (document?.info?.description) {
    const [key] = settings.keys ?? [];
    document.info.description = document.info.description
      .replaceAll('http://127.0.0.1:8080', location.origin)
      .replace(realm, tokenPath())
      .replaceAll('KEY:SECRET', key ? `${key.key}:${key.secret}` : 'KEY:SECRET');
  }
  return document;
}

const placePlugin = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (original) => (document) => original(withPlace(withOwn((published ??= document)))),
      },
    },
  },
});

const ui = SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  plugins: [placePlugin],
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
  onComplete: foldFormer,
});

ui.initOAuth({ scopes: 'roles' }); // every operation asks for this one

// What is current stands open, what was before is folded, unless the address points at it.
function foldFormer() {
  for (const tag of ui.specSelectors.tags().toJS()) {
    if (!tag.name.startsWith('Former') || location.hash.includes(encodeURIComponent(tag.name))) continue;
    ui.layoutActions.show(['operations-tag', tag.name], false);
  }
}

field.addEventListener('change', () => {
  if (!field.value.trim()) return;
  const authorized = Object.keys(ui.authSelectors.authorized()?.toJS() ?? {});
  if (authorized.length > 0) ui.authActions.logout(authorized); // a token counts for one tenant
  tell(authorized.length > 0 ? 'Authorize again for this tenant.' : '');
  ui.specActions.updateJsonSpec(published);
});

document.getElementById('tenant-form').addEventListener('submit', (event) => {
  event.preventDefault();
  field.blur();
});

function tell(text) {
  const note = document.getElementById('note');
  note.textContent = text;
  note.hidden = text === '';
}

// The demo bank's keys, where this is the demo bank: one press, and every try-out has a token.
const keys = document.getElementById('keys');
for (const known of settings.keys ?? []) {
  const button = element('button', known.key);
  button.type = 'button';
  button.title = known.who;
  button.addEventListener('click', () => signIn(known));
  keys.append(button);
  keys.hidden = false;
}

async function signIn({ key, secret, who, own: examples = [] }) {
  try {
    const answer = await fetch(`${tokenPath()}protocol/openid-connect/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${key}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.error_description);
    own = examples;
    await readClock(body.access_token);
    ui.specActions.updateJsonSpec(published);
    ui.preauthorizeApiKey('bearer', body.access_token);
    const instead = own.length > 0 ? ` The examples name what is its own, such as ${own[0][1]} for customer ${own[0][0]}.` : '';
    tell(`Signed in as ${key}: ${who}.${instead} The token lasts ${body.expires_in / 3600} hours.`);
  } catch (why) {
    tell(`Not signed in as ${key}: ${why.message}`);
  }
}

// The table of codes: the areas folded, each with its codes.
const codes = document.getElementById('codes');
for (const [area, lines] of Object.entries(Object.groupBy(settings.codes ?? [], (c) => c.area))) {
  const table = element('table');
  table.append(row('th', ['Status', 'Code', 'When']));
  for (const { status, code, when } of lines) table.append(row('td', [status, code || '–', when]));
  const part = element('details');
  part.append(element('summary', area), table);
  codes.append(part);
  codes.hidden = false;
}

function row(kind, texts) {
  const line = element('tr');
  line.append(...texts.map((text) => element(kind, text)));
  return line;
}

function element(name, text = '') {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
