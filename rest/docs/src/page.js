// Starts Swagger UI on our own document. Nothing is fetched from elsewhere and nothing is stored:
// key, secret and token live in the page's memory.
'use strict';

const field = document.getElementById('tenant');
const note = document.getElementById('tenant-note');
const realm = /\/auth\/realms\/[^/]+\//;

// The document names one tenant's token address; the field on top puts another in its place.
// Authorize, try-out and the copied curl all follow.
function withTenant(document, tenant) {
  for (const scheme of Object.values(document?.components?.securitySchemes ?? {})) {
    for (const flow of Object.values(scheme.flows ?? {})) {
      for (const name of ['tokenUrl', 'refreshUrl', 'authorizationUrl']) {
        if (!flow[name]) continue;
        if (!field.value) field.value = /realms\/([^/]+)/.exec(flow[name])?.[1] ?? '';
        flow[name] = flow[name].replace(realm, `/auth/realms/${encodeURIComponent(tenant() || 'sandbox')}/`);
      }
    }
  }
  return document;
}

const chosen = () => field.value.trim();

const tenantPlugin = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (original) => (document) => original(withTenant(structuredClone(document), chosen)),
      },
    },
  },
});

const ui = SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  plugins: [tenantPlugin],
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});

field.addEventListener('change', () => {
  if (!chosen()) return;
  const known = ui.specSelectors.specJson().toJS();
  ui.authActions.logout(Object.keys(known.components?.securitySchemes ?? {})); // a token counts for one tenant
  ui.specActions.updateJsonSpec(known);
  note.textContent = 'Authorize again for this tenant.';
});

document.getElementById('tenant-form').addEventListener('submit', (event) => {
  event.preventDefault();
  field.blur();
});
