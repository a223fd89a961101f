import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";

/** The earliest that ZIP can say. Local time on purpose, as the library writes local time. */
const fixedTime = new Date(1980, 0, 1);
const corePart = "docProps/core.xml";

/**
 * The same package without the time at which it was made: parts sorted, their times fixed, its creation time the one given.
 */
export function makeReproducible(zip: Uint8Array, created: Date): Uint8Array {
  const parts = unzipSync(zip);
  const core = parts[corePart];
  if (core !== undefined) {
    const time = created.toISOString().replace(/\.\d+Z$/, "Z");
    const dates = /(<dcterms:(created|modified)[^>]*>)[^<]*/g;
    parts[corePart] = strToU8(strFromU8(core).replace(dates, (_all, opening: string) => opening + time));
  }
  const names = Object.keys(parts).sort();
  return zipSync(Object.fromEntries(names.map((name) => [name, parts[name] ?? new Uint8Array()])), {
    mtime: fixedTime,
  });
}
