import type { Place, Values } from "./places.ts";

/** What the scripts for bash and zsh have in common: both go by `case` over the places of the command line. */

export const isCommand = ({ path }: Place) => path.length > 0;

/** A place as the shell's variable `at` has it, quoted. */
export const quotedPlace = (place: Place) => quoted(nameOf(place));

const nameOf = ({ path }: Place) => path.map((word) => ` ${word}`).join("");

/** For each option of a place that takes a value: what matches the place and the option, `at:option`, and what it takes. */
export function valuePatterns(place: Place): { readonly patterns: string; readonly values: Values }[] {
  return place.options.flatMap(({ names, values }) => {
    if (values === null) return [];
    return [{ patterns: names.map((name) => quoted(`${nameOf(place)}:${name}`)).join("|"), values }];
  });
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
