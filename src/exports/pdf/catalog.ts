import { type PDFContext, type PDFDocument, PDFHexString, PDFName, type PDFRef } from "@cantoo/pdf-lib";
import { programVersion } from "../../program/index.ts";
import { documentTitle, type ExportHead } from "../document.ts";
import { xmlText } from "../xml-text.ts";
import { addStream } from "./embed-face.ts";
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
      ...(index > 0 && { Prev: refs[index - 1] }),
      ...(index < refs.length - 1 && { Next: refs[index + 1] }),
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

/** Writes the document's properties, and refers to its structure tree and outline. */
export function writeCatalog(pdf: PDFDocument, head: ExportHead, structure: PDFRef, outline: PDFRef): void {
  const { context, catalog } = pdf;
  const title = documentTitle(head);
  const created = new Date(head.createdAt);
  const producer = `Transcribe ${programVersion}`;
  const language = head.language ?? "und";
  pdf.setTitle(title, { showInWindowTitleBar: true });
  pdf.setProducer(producer);
  pdf.setCreationDate(created);
  pdf.setModificationDate(created);
  pdf.setLanguage(language);
  // The same properties as XMP, for programs that do not read the info dictionary.
  const packet = `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">${xmlText(title)}</rdf:li></rdf:Alt></dc:title>
<dc:language><rdf:Bag><rdf:li>${xmlText(language)}</rdf:li></rdf:Bag></dc:language>
<xmp:CreateDate>${created.toISOString()}</xmp:CreateDate>
<pdf:Producer>${xmlText(producer)}</pdf:Producer>
</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>
`;
  catalog.set(PDFName.of("StructTreeRoot"), structure);
  catalog.set(PDFName.of("MarkInfo"), context.obj({ Marked: true }));
  catalog.set(PDFName.of("Metadata"), addStream(context, packet, { Type: "Metadata", Subtype: "XML" }));
  catalog.set(PDFName.of("Outlines"), outline);
}
