#!/bin/sh
# Takes Swagger UI and its licence from npm into dist, gzipped, with the hash of what named their
# versions, which docs_test.go compares. Only to be run to renew Swagger UI; needs npm.
set -eu
cd "$(dirname "$0")"

npm ci --no-audit --no-fund
ui=node_modules/swagger-ui-dist
rm -rf dist
mkdir dist
cp $ui/swagger-ui-bundle.js $ui/swagger-ui.css dist
cp node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2 dist/inter.woff2
{
    printf 'Swagger UI\n\n'
    cat $ui/NOTICE $ui/LICENSE $ui/swagger-ui-bundle.js.LICENSE.txt
    printf '\n\nInter\n\n'
    cat node_modules/@fontsource-variable/inter/LICENSE
} >dist/licenses.txt
# The maps they name are not shipped; a browser's tools would ask for them in vain.
sed -i '/sourceMappingURL=/d' dist/swagger-ui-bundle.js dist/swagger-ui.css
gzip -9 -n dist/*
sha256sum build.sh package-lock.json | sha256sum | cut -d' ' -f1 >dist/sources.sha256
du -sh dist
