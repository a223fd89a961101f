import { type PDFContext, PDFHexString, type PDFRef } from "@cantoo/pdf-lib";
import type { OutlineEntry } from "./transcript-pages.ts";

/**
 * Writes the outline (ISO 32000-1, 12.3.3), flat.
 * @param pages references of the pages, indexed by page number
 */
export function writeOutline(context: PDFContext, entries: readonly OutlineEntry[], pages: readonly PDFRef[]): PDFRef {
  const root = context.nextRef();
  const refs = entries.map(() => context.nextRef());
  entries.forEach(({ title, page, top }, index) => {
    const ref = refs[index];
    if (ref === undefined) return;
    const neighbours = {
      ...(refs[index - 1] === undefined ? {} : { Prev: refs[index - 1] }),
      ...(refs[index + 1] === undefined ? {} : { Next: refs[index + 1] }),
    };
    const target = [pages[page], "XYZ", null, top, null];
    context.assign(
      ref,
      context.obj({ Title: PDFHexString.fromText(title), Parent: root, Dest: target, ...neighbours }),
    );
  });
  const ends = refs.length === 0 ? {} : { First: refs[0], Last: refs.at(-1) };
  context.assign(root, context.obj({ Type: "Outlines", Count: refs.length, ...ends }));
  return root;
}
