import type { Place, Values } from "./places.ts";

/** Returns the script for fish, with one line for each command, option and list of values. */
export function fishScript(places: readonly Place[]): string {
  return `# fish completion of transcribe, written by: transcribe completion fish
function __transcribe_at
  set -l at
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${places.flatMap(({ at }) => (at === "" ? [] : [quoted(at)])).join(" ")}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c transcribe -f
${places.flatMap(linesOf).join("\n")}
`;
}

function linesOf(place: Place): string[] {
  const start = `complete -c transcribe -n ${quoted(`__transcribe_at ${quoted(place.at)}`)}`;
  const commands = place.commands.map(
    ({ name, description }) => `${start} -a ${quoted(name)} -d ${quoted(description)}`,
  );
  const options = place.options.map(({ names, description, values }) => {
    const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
    return [start, ...flags, ...(values === null ? [] : [offer(values)]), `-d ${quoted(description)}`].join(" ");
  });
  const { argument } = place;
  const values = argument === "files" ? "-F" : Array.isArray(argument) ? `-a ${quoted(argument.join(" "))}` : null;
  return [...commands, ...(values === null ? [] : [`${start} ${values}`]), ...options];
}

function offer(values: Values): string {
  if (values === "files") return "-r -F";
  return values === "anything" ? "-x" : `-x -a ${quoted(values.join(" "))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
