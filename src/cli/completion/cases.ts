import type { Place, Values } from "./places.ts";

/** Shared parts of the scripts for bash and zsh, which both use `case` over the places of the command line. */

export const isCommand = ({ path }: Place) => path.length > 0;

/** Returns a place, quoted, in the form of the shell variable `at`. */
export const quotedPlace = (place: Place) => quoted(nameOf(place));

const nameOf = ({ path }: Place) => path.map((word) => ` ${word}`).join("");

/** Returns, for each option of a place that takes a value, its `case` patterns (`at:option`) and its values. */
export function valuePatterns(place: Place): { readonly patterns: string; readonly values: Values }[] {
  return place.options.flatMap(({ names, values }) => {
    if (values === null) return [];
    return [{ patterns: names.map((name) => quoted(`${nameOf(place)}:${name}`)).join("|"), values }];
  });
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
