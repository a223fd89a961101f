# Sourced by the scripts beside this folder: where the checkout and its Bun are.

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
# A link that scripts/setup makes into the cache.
bun=$root/build/bun/bun
bun_version=1.4.5

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}
