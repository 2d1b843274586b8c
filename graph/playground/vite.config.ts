import { defineConfig } from 'vite';

// `npm run dev` serves this page and passes the rest on to a running bankgraph.
const server = process.env.BASE_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  base: '/playground/',
  worker: { format: 'es' },
  server: { proxy: { '/graphql': server, '/auth': server } },
  build: {
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0, // the page's policy allows no script from a data address
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 10_000, // Monaco is one big editor; it is cached for ever
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      // Libraries carry "use client" for servers that render; here everything runs in the browser.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
    },
  },
});
