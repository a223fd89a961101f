# Sourced by the scripts in the parent folder. Sets the paths of the checkout and its Bun.

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
# A link into the cache, created by scripts/setup.
bun=$root/build/bun/bun
bun_version=1.4.5

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}
