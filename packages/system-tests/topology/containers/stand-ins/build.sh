#!/usr/bin/env bash
# Stand-ins for node:24-slim, postgres:17, redis:7 and prom/prometheus, made from packages of Debian and npm where no
# registry of images can be reached. As root, with debootstrap, npm and a running engine:
# build.sh WORK_FOLDER node|postgres|redis|prometheus …
# Unlike the official images they have no locales and no *_FILE variables. Never push them: that of node may carry this
# machine's certificates.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$1
shift
# Whatever mirror this machine uses.
mirror=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2> /dev/null \
  | sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' | grep -m 1 '/debian/*$' || true)
mirror=${mirror:-http://deb.debian.org/debian}

debian() {
  docker image inspect "stand-in-debian:$1" > /dev/null 2>&1 && return
  debootstrap --variant=minbase "$1" "$work/$1" "$mirror" > "$work/debootstrap.log" || {
    tail -n 5 "$work/debootstrap.log" >&2
    exit 1
  }
  # What slim images leave out too.
  rm -rf "$work/$1"/var/cache/apt/* "$work/$1"/var/lib/apt/lists/* "$work/$1"/usr/share/{doc,man,info,locale}/*
  tar --numeric-owner -C "$work/$1" -c . | docker import -c 'CMD ["bash"]' - "stand-in-debian:$1"
  rm -rf "${work:?}/$1"
}

# The binary and the npm of the packages in the npm registry, at the path where the official image has them.
node_files() {
  local files=$1/files cpu=x64
  case $(uname -m) in aarch64 | arm64) cpu=arm64 ;; esac
  mkdir -p "$files/usr/local/bin" "$files/usr/local/lib/node_modules"
  npm install --silent --no-save --ignore-scripts --prefix "$work/npm" "node-linux-$cpu@24" npm@11
  cp "$work/npm/node_modules/node-linux-$cpu/bin/node" "$files/usr/local/bin/"
  cp -r "$work/npm/node_modules/npm" "$files/usr/local/lib/node_modules/"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$files/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$files/usr/local/bin/npx"
  ln -s node "$files/usr/local/bin/nodejs"
  # A machine whose npm needs certificates of its own: builds need them too.
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
    mkdir -p "$files/etc/stand-in"
    cp "$NODE_EXTRA_CA_CERTS" "$files/etc/stand-in/ca.pem"
    echo 'ENV NODE_EXTRA_CA_CERTS=/etc/stand-in/ca.pem SSL_CERT_FILE=/etc/stand-in/ca.pem' >> "$1/Dockerfile"
  fi
}

build() {
  cp -r "$here/$1" "$work/context-$1"
  if [ "$1" = node ]; then node_files "$work/context-$1"; fi
  docker build --network host --tag "$2" "$work/context-$1"
  rm -rf "$work/context-$1"
}

for each in "$@"; do
  case $each in
    node) debian bookworm; build node node:24-slim ;;
    redis) debian bookworm; build redis redis:7 ;;
    postgres) debian trixie; build postgres postgres:17 ;;
    prometheus) debian trixie; build prometheus prom/prometheus:v3.5.0 ;;
  esac
done
