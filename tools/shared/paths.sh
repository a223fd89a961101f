# Sourced by the commands in scripts/. Sets the paths of the checkout and its Bun.

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
# A link into the cache, created by scripts/setup.
bun=$root/build/bun/bun
bun_version=1.4.5

# Advice for a command that could not fetch a package.
without_registry="If no registry can be reached: set your proxy (HTTPS_PROXY) or your own registry (npm config set registry URL), or see
\"Without a registry\" in $root/CONTRIBUTING.md"

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}
