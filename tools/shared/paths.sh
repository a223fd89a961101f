# Sourced by the commands in scripts/. Sets the paths of the checkout and its Bun, and reads the help of a command: the
# comment at its beginning. The help needs no other program, because nothing may be set up yet.

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

usage_error() {
  printf '%s: %s; scripts/%s --help lists the options\n' "${0##*/}" "$*" "${0##*/}" >&2
  exit 2
}

print_help() {
  local line
  while IFS= read -r line; do
    case $line in
      '#!'*) ;;
      '#'*) line=${line#'#'} && printf '%s\n' "${line# }" ;;
      *) return 0 ;;
    esac
  done <"$0"
}

# Prints the help and exits if --help or -h is among the arguments.
answer_help() {
  local argument
  for argument; do
    case $argument in
      --) return 0 ;;
      --help | -h) print_help && exit 0 ;;
    esac
  done
}

# Answers --help. Exits with 2 for an option that the help does not list, and for an argument if the first line of the
# help ends with [OPTION…]. A line of the help that begins with two spaces and a dash lists an option: --name, --name VALUE
# or --name=VALUE. After --, if the first line lists it, nothing is checked.
check_arguments() {
  answer_help "$@"
  local usage='' flags=$'\n' valued=$'\n' joined=$'\n' line argument name='' value=''
  while IFS= read -r line; do
    [ -n "$usage" ] || usage=$line
    [[ $line =~ ^'  '(--?[a-z][a-z-]*)([ =]?)([A-Z]?) ]] || continue
    name=${BASH_REMATCH[1]}$'\n'
    case ${BASH_REMATCH[2]}${BASH_REMATCH[3]} in
      ' '[A-Z]) valued+=$name joined+=$name ;;
      =*) joined+=$name ;;
      *) flags+=$name ;;
    esac
  done <<<"$(print_help)"
  for argument; do
    if [ -n "$value" ]; then
      value=
      continue
    fi
    name=${argument%%=*}
    case $argument in
      --) [[ $usage == *'[-- '* ]] && return 0 || usage_error "unexpected argument --" ;;
      -?*=*)
        [[ $joined == *$'\n'"$name"$'\n'* ]] && continue
        [[ $flags != *$'\n'"$name"$'\n'* ]] || usage_error "$name takes no value"
        usage_error "unknown option $(printf %q "$name")"
        ;;
      -?*)
        [[ $flags == *$'\n'"$name"$'\n'* ]] && continue
        [[ $joined == *$'\n'"$name"$'\n'* ]] || usage_error "unknown option $(printf %q "$name")"
        [[ $valued == *$'\n'"$name"$'\n'* ]] || usage_error "$name needs a value: $name=VALUE"
        value=needed
        ;;
      *) [[ $usage != *'[OPTION…]' ]] || usage_error "unexpected argument $(printf %q "$argument")" ;;
    esac
  done
  [ -z "$value" ] || usage_error "$name needs a value"
}
