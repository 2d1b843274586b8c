// Starts Swagger UI on our own document. Nothing is fetched from elsewhere and nothing is stored:
// key, secret and token live in the page's memory.
'use strict';

const field = document.getElementById('tenant');
const note = document.getElementById('tenant-note');
const realm = /\/auth\/realms\/([^/]+)\//;

// The document names one tenant's token address; the field on top puts another in its place.
// Authorize, try-out and the copied curl all follow.
function withTenant(document) {
  for (const scheme of Object.values(document?.components?.securitySchemes ?? {})) {
    for (const flow of Object.values(scheme.flows ?? {})) {
      for (const name of ['tokenUrl', 'refreshUrl', 'authorizationUrl']) {
        if (!flow[name]) continue;
        field.value ||= realm.exec(flow[name])?.[1] ?? '';
        flow[name] = flow[name].replace(realm, `/auth/realms/${encodeURIComponent(field.value.trim())}/`);
      }
    }
  }
  return document;
}

const tenantPlugin = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (original) => (document) => original(withTenant(structuredClone(document))),
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

ui.initOAuth({ scopes: 'roles' }); // every operation asks for this one

field.addEventListener('change', () => {
  if (!field.value.trim()) return;
  const authorized = Object.keys(ui.authSelectors.authorized()?.toJS() ?? {});
  if (authorized.length > 0) ui.authActions.logout(authorized); // a token counts for one tenant
  note.textContent = authorized.length > 0 ? 'Authorize again for this tenant.' : '';
  ui.specActions.updateJsonSpec(ui.specSelectors.specJson().toJS());
});

document.getElementById('tenant-form').addEventListener('submit', (event) => {
  event.preventDefault();
  field.blur();
});
