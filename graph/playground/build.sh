#!/bin/sh
# Builds the committed bundle: dist/index.html, dist/assets/*.gz, dist/licenses.md.gz, and the hash
# of everything it was built from, which playground_test.go compares. Needs Node.js 20.19 and npm.
set -eu
cd "$(dirname "$0")"

npm ci --no-audit --no-fund
npm run build

# Only the gzipped form is kept: every browser takes it, and the handler unpacks it for who does not.
find dist -type f ! -name index.html -exec gzip -9 -n {} +

find package.json package-lock.json tsconfig.json vite.config.ts index.html build.sh src -type f |
    LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d' ' -f1 >dist/sources.sha256
du -sh dist
