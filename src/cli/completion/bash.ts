import { isCommand, quoted, quotedPlace, valuePatterns } from "./cases.ts";
import type { Place, Values } from "./places.ts";

/** Returns the script for bash: one function that derives the place from the words before the cursor. */
export function bashScript(places: readonly Place[]): string {
  return `# bash completion of transcribe, made by: transcribe completion bash
_transcribe() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at= word
  # bash takes --option=value for three words
  if [[ $cur == '=' ]]; then
    cur=
  elif [[ $prev == '=' ]]; then
    prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${places.filter(isCommand).map(quotedPlace).join("|")}) at="$at $word" ;;
    esac
  done
  COMPREPLY=()
  case "$at:$prev" in
${places.flatMap(valueCases).join("\n")}
  esac
  case "$at" in
${places.map(placeCase).join("\n")}
  esac
}
complete -F _transcribe transcribe
`;
}

function valueCases(place: Place): string[] {
  return valuePatterns(place).map(({ patterns, values }) => `    ${patterns}) ${offer(values)}; return ;;`);
}

function placeCase(place: Place): string {
  const options = place.options.flatMap(({ names }) => names);
  const rest = place.commands.length > 0 ? place.commands.map(({ name }) => name) : place.argument;
  return `    ${quotedPlace(place)})
      if [[ $cur == -* ]]; then ${offer(options)}; ${rest === null ? "" : `else ${offer(rest)}; `}fi ;;`;
}

function offer(values: Values): string {
  if (values === "files") return 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur")';
  if (values === "anything") return ":";
  return `mapfile -t COMPREPLY < <(compgen -W ${quoted(values.join(" "))} -- "$cur")`;
}
