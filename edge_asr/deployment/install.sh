#!/bin/sh
# Install edge-asr from this bundle: no network, no compiler, no pip and no python3-venv are needed.
#
#   sudo ./install                 into /opt/edge-asr, models into /var/lib/edge-asr, configuration into /etc/edge-asr
#   ./install --prefix ~/edge-asr  for one user
#
# Installing over an older version replaces it and keeps models and configuration.
set -eu

usage() {
  sed -n '2,7s/^# \{0,1\}//p' "$0"
  echo "Options: --prefix DIR   where the programs go
         --no-models    leave out the models of the bundle
         --setup        run \`edge-asr setup\` afterwards"
}

complain() {
  echo "install: error: $1" >&2
  exit "$2"
}

bundle=$(cd "$(dirname "$0")" && pwd)
prefix=/opt/edge-asr
models=yes
setup=no
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || complain "--prefix wants a directory" 2; prefix=$2; shift ;;
    --no-models) models=no ;;
    --setup) setup=yes ;;
    -h | --help) usage; exit 0 ;;
    *) complain "unknown option $1; see $0 --help" 2 ;;
  esac
  shift
done

machine=$(cat "$bundle/machine")
[ "$(uname -m)" = "$machine" ] || complain "this bundle is for $machine, and this is a $(uname -m) system" 5
python=${PYTHON:-python3}
command -v "$python" >/dev/null || complain "no $python here; Debian's package python3 has it" 5
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
grep -qx "$version" "$bundle/pythons" ||
  complain "this bundle is for Python $(paste -sd/ "$bundle/pythons"), and $python is Python $version" 5
(cd "$bundle" && sha256sum --check --quiet --strict SHA256SUMS) || complain "the bundle is damaged: copy it again" 3
mkdir -p "$prefix" 2>/dev/null && [ -w "$prefix" ] ||
  complain "cannot write $prefix; run this with sudo, or name a directory of yours with --prefix" 5

echo "installing edge-asr into $prefix" >&2
"$python" -m venv --without-pip "$prefix"
# pip runs from its own wheel and is not installed: Debian's Python comes without it.
PYTHONPATH=$(echo "$bundle"/wheels/pip-*.whl) "$prefix/bin/python" -m pip install --quiet --no-index --no-cache-dir \
  --find-links "$bundle/wheels" --disable-pip-version-check --root-user-action=ignore \
  "$(cat "$bundle/requirement")"

if [ "$(id -u)" = 0 ]; then
  export EDGE_ASR_HOME=/var/lib/edge-asr
  settings=/etc/edge-asr/edge-asr.toml
  ln -sf "$prefix/bin/edge-asr" /usr/local/bin/edge-asr
else
  settings=${XDG_CONFIG_HOME:-$HOME/.config}/edge-asr/edge-asr.toml
fi

if [ -f "$bundle/edge-asr.toml" ] && [ -e "$settings" ]; then
  echo "install: note: $settings is kept; the bundle's is $bundle/edge-asr.toml" >&2
elif [ -f "$bundle/edge-asr.toml" ]; then
  mkdir -p "$(dirname "$settings")"
  install -m 644 "$bundle/edge-asr.toml" "$settings"
fi

if [ $models = yes ]; then
  for model in "$bundle"/models/*/; do
    [ -d "$model" ] && "$prefix/bin/edge-asr" models import "$model"
  done
  [ ! -f "$bundle/active" ] || "$prefix/bin/edge-asr" models activate "$(cat "$bundle/active")"
fi

if [ $setup = yes ]; then
  exec "$prefix/bin/edge-asr" setup
fi
echo "$prefix/bin/edge-asr is installed; \`edge-asr setup\` tests the board and starts the service" >&2
