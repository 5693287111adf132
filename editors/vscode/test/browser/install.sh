#!/usr/bin/env bash
# Installs a VS Code that is served to a browser (code-server), and a driver of Chromium, into a folder: install.sh FOLDER.
# Needs Node 20 with its headers, a C++ compiler, make and Python; Chromium and ripgrep are taken from the system.
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$folder"
headers=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
npm install --ignore-scripts --no-audit --no-fund code-server@4.99.4 puppeteer-core@24 node-gyp@11
code=node_modules/code-server/lib/vscode
for part in "$code" "$code/extensions"; do
    npm install --prefix "$part" --ignore-scripts --omit=dev --no-audit --no-fund
    ln -sfn node_modules "$part/node_modules.asar"
done
for module in @parcel/watcher @vscode/spdlog native-watchdog node-pty; do
    (cd "$code/node_modules/$module" && "$folder/node_modules/.bin/node-gyp" rebuild --nodedir="$headers")
done
(cd node_modules/argon2 && "$folder/node_modules/.bin/node-pre-gyp" rebuild --build-from-source --nodedir="$headers")
mkdir -p "$code/node_modules/@vscode/ripgrep/bin"
ln -sf "$(command -v rg)" "$code/node_modules/@vscode/ripgrep/bin/rg"
node node_modules/code-server/out/node/entry.js --version
