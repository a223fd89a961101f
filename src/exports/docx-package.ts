import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";

/** The earliest that ZIP can say. Local time on purpose, as the library writes local time. */
const fixedTime = new Date(1980, 0, 1);
const dates = /(<dcterms:(?:created|modified)[^>]*>)[^<]*/g;
/** What ends a document's last section; the text stands before it. */
const sectionEnd = "<w:sectPr";

/**
 * Puts paragraphs at the end of a document, and takes out the time at which it was made: parts sorted, their times fixed,
 * the creation time the one given, so that the same document gives the same bytes.
 * @throws an Error when the package is not as the library makes it
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
