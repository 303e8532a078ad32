# Shared by tools/demo and tools/test: a virtual environment that is made once and renewed when the package changes.

# ensure_venv DIRECTORY REQUIREMENT...
ensure_venv() {
  local directory=$1 stamp
  shift
  stamp=$(printf '%s ' "$@"; cat pyproject.toml)
  if [ -x "$directory/bin/python" ] && [ "$(cat "$directory/installed-for" 2>/dev/null)" = "$stamp" ]; then
    return
  fi
  if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "edge-asr needs Python 3.11 or newer; this is $(python3 --version)" >&2
    exit 1
  fi
  if ! python3 -c 'import ensurepip' 2>/dev/null; then
    echo "python3 has no venv; run: sudo apt install python3-venv" >&2
    exit 1
  fi
  echo "making $directory (once; some minutes on a small board)" >&2
  python3 -m venv "$directory"
  "$directory/bin/python" -m pip install --quiet --disable-pip-version-check -e "$@"
  printf '%s' "$stamp" >"$directory/installed-for"
}
