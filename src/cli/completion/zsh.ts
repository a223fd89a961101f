import { isCommand, quoted, quotedPlace, valuePatterns } from "./cases.ts";
import type { Place, Values } from "./places.ts";

/** Returns the script for zsh, to be stored as _transcribe in a directory of fpath, or sourced after compinit. */
export function zshScript(places: readonly Place[]): string {
  return `#compdef transcribe
# zsh completion of transcribe, made by: transcribe completion zsh
_transcribe() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]} at= word
  local -a offered
  if [[ $cur == --*=* ]]; then
    prev=\${cur%%=*}
    compset -P '*='
    cur=\${cur#*=}
  fi
  for word in \${words[2,CURRENT-1]}; do
    case "$at $word" in
      (${places.filter(isCommand).map(quotedPlace).join("|")}) at="$at $word" ;;
    esac
  done
  case "$at:$prev" in
${places.flatMap(valueCases).join("\n")}
  esac
  case "$at" in
${places.map(placeCase).join("\n")}
  esac
}
if [[ $funcstack[1] == _transcribe ]]; then
  _transcribe "$@"
else
  compdef _transcribe transcribe
fi
`;
}

function valueCases(place: Place): string[] {
  return valuePatterns(place).map(({ patterns, values }) => `    (${patterns}) ${offer(values)}; return ;;`);
}

function placeCase(place: Place): string {
  const options = place.options.flatMap(({ names, description }) => names.map((name) => described(name, description)));
  const rest =
    place.commands.length > 0
      ? describe(
          "command",
          place.commands.map(({ name, description }) => described(name, description)),
        )
      : place.argument === null
        ? ""
        : offer(place.argument);
  return `    (${quotedPlace(place)})
      if [[ $cur == -* ]]; then
        ${describe("option", options)}
      ${rest === "" ? "" : `else\n        ${rest}\n      `}fi ;;`;
}

/** Returns an item of _describe: the name, a colon, the description. */
function described(name: string, description: string): string {
  return quoted(`${name.replaceAll(":", "\\:")}:${description}`);
}

function describe(what: string, items: readonly string[]): string {
  return `offered=(${items.join(" ")}); _describe -t ${what}s ${what} offered`;
}

function offer(values: Values): string {
  if (values === "files") return "_files";
  if (values === "anything") return "_message value";
  return `compadd -- ${values.map(quoted).join(" ")}`;
}
