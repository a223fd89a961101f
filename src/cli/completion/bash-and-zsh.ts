import type { Place, Values } from "./places.ts";

/** Returns the script for bash: one function that derives the place from the words before the cursor. */
export function bashScript(places: readonly Place[]): string {
  const placeCases = places.map(({ at, commands, options, argument }) => {
    const rest = commands.length > 0 ? commands.map(({ name }) => name) : argument;
    const names = options.flatMap((option) => option.names);
    return `    ${quoted(at)})
      if [[ $cur == -* ]]; then ${offerInBash(names)}; ${rest === null ? "" : `else ${offerInBash(rest)}; `}fi ;;`;
  });
  return `# bash completion of transcribe, written by: transcribe completion bash
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
      ${commandPatterns(places)}) at="$at $word" ;;
    esac
  done
  COMPREPLY=()
  case "$at:$prev" in
${valueCases(places, "", offerInBash)}
  esac
  case "$at" in
${placeCases.join("\n")}
  esac
}
complete -F _transcribe transcribe
`;
}

function offerInBash(values: Values): string {
  if (values === "files") return 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur")';
  if (values === "anything") return ":";
  return `mapfile -t COMPREPLY < <(compgen -W ${quoted(values.join(" "))} -- "$cur")`;
}

/** Returns the script for zsh, to be stored as _transcribe in a directory of fpath, or sourced after compinit. */
export function zshScript(places: readonly Place[]): string {
  const placeCases = places.map(({ at, commands, options, argument }) => {
    const rest = commands.length > 0 ? describeInZsh("command", commands) : argument && offerInZsh(argument);
    const named = options.flatMap(({ names, description }) => names.map((name) => ({ name, description })));
    return `    (${quoted(at)})
      if [[ $cur == -* ]]; then
        ${describeInZsh("option", named)}
      ${rest === null ? "" : `else\n        ${rest}\n      `}fi ;;`;
  });
  return `#compdef transcribe
# zsh completion of transcribe, written by: transcribe completion zsh
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
      (${commandPatterns(places)}) at="$at $word" ;;
    esac
  done
  case "$at:$prev" in
${valueCases(places, "(", offerInZsh)}
  esac
  case "$at" in
${placeCases.join("\n")}
  esac
}
if [[ $funcstack[1] == _transcribe ]]; then
  _transcribe "$@"
else
  compdef _transcribe transcribe
fi
`;
}

/** Returns a call of _describe; its items are a name, a colon and a description. */
function describeInZsh(
  kind: string,
  items: readonly { readonly name: string; readonly description: string }[],
): string {
  const offered = items.map(({ name, description }) => quoted(`${name.replaceAll(":", "\\:")}:${description}`));
  return `offered=(${offered.join(" ")}); _describe -t ${kind}s ${kind} offered`;
}

function offerInZsh(values: Values): string {
  if (values === "files") return "_files";
  return values === "anything" ? "_message value" : `compadd -- ${values.map(quoted).join(" ")}`;
}

/** Returns the `case` patterns of all commands, in the form of the shell variable `at`. */
function commandPatterns(places: readonly Place[]): string {
  return places.flatMap(({ at }) => (at === "" ? [] : [quoted(at)])).join("|");
}

/** Returns the cases of all options that take a value, whose patterns are `at:option`. */
function valueCases(places: readonly Place[], opening: "" | "(", offer: (values: Values) => string): string {
  const cases = places.flatMap(({ at, options }) =>
    options.flatMap(({ names, values }) => {
      const patterns = names.map((name) => quoted(`${at}:${name}`)).join("|");
      return values === null ? [] : [`    ${opening}${patterns}) ${offer(values)}; return ;;`];
    }),
  );
  return cases.join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
