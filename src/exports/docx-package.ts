import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";

/** The earliest time that ZIP can store. It is intentionally a local time, because the library writes local time. */
const fixedTime = new Date(1980, 0, 1);
const dates = /(<dcterms:(?:created|modified)[^>]*>)[^<]*/g;
/** The start of the properties that end a document's last section. The text is inserted before them. */
const sectionEnd = "<w:sectPr";

/**
 * Appends paragraphs to a document and makes its bytes reproducible: parts are sorted, their times are fixed, and
 * `created` replaces the creation time.
 * @throws {Error} when the package does not have the structure that the library writes
 */
export function finishPackage(zip: Uint8Array, paragraphs: string, created: Date): Uint8Array {
  const parts = unzipSync(zip);
  const change = (name: string, edit: (xml: string) => string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`the document has no ${name}`);
    parts[name] = strToU8(edit(strFromU8(part)));
  };
  const time = created.toISOString().replace(/\.\d+Z$/, "Z");
  change("docProps/core.xml", (xml) => xml.replace(dates, (_all, opening: string) => opening + time));
  change("word/document.xml", (xml) => {
    const end = xml.lastIndexOf(sectionEnd);
    if (end < 0) throw new Error("the document has no section");
    return xml.slice(0, end) + paragraphs + xml.slice(end);
  });
  const names = Object.keys(parts).sort();
  return zipSync(Object.fromEntries(names.map((name) => [name, parts[name] ?? new Uint8Array()])), {
    mtime: fixedTime,
  });
}
