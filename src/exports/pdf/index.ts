import { createHash } from "node:crypto";
import { PDFDocument, PDFHexString, PDFName, PDFRawStream, type PDFRef } from "@cantoo/pdf-lib";
import type { ExportDocument } from "../document.ts";
import { toTurns } from "../turns.ts";
import { writeCatalog, writeOutline } from "./catalog.ts";
import { embedFace } from "./embed-face.ts";
import type { Face } from "./face.ts";
import { FaceChoice } from "./face-choice.ts";
import { Pages, pageSize } from "./pages.ts";
import { Shaper } from "./shaper.ts";
import { Structure } from "./structure.ts";
import { drawTranscript } from "./transcript-pages.ts";

/** Number of turns that are examined to detect how the text is written. */
const SAMPLE_TURNS = 300;

/**
 * Writes a transcript as a tagged PDF 1.7, with headings, outline, language and reading order for screen readers. Text
 * can be copied in every script, and each font contains only the used glyphs. A page takes tens of milliseconds, so
 * this function must run in a separate process.
 */
export async function writePdf(document: ExportDocument): Promise<Uint8Array> {
  const turns = await Array.fromAsync(toTurns(document.segments));
  const sample = turns.slice(0, SAMPLE_TURNS).map((turn) => turn.text);
  const faces = new FaceChoice(document.language, sample.join(""));
  const shaper = new Shaper(faces, document.language);

  const pdf = await PDFDocument.create({ updateMetadata: false });
  const { context } = pdf;
  const fonts = new Map<Face, { name: string; ref: PDFRef }>();
  const fontName = (face: Face) => {
    const font = fonts.get(face) ?? { name: `F${fonts.size}`, ref: context.nextRef() };
    fonts.set(face, font);
    return font.name;
  };
  const structure = new Structure(context);
  const pages = new Pages(structure, fontName);
  const { outline, contents } = drawTranscript(document, turns, { pages, structure, shaper });

  const fontResources = Object.fromEntries([...fonts.values()].map(({ name, ref }) => [name, ref]));
  const resources = context.register(context.obj({ Font: fontResources }));
  const hash = createHash("sha256").update(JSON.stringify([document.createdAt, document.title, document.name]));
  const pageRefs = contents.map((streams, index) => {
    const page = pdf.addPage([pageSize.width, pageSize.height]);
    const refs = streams.map((bytes) => {
      hash.update(bytes);
      const dictionary = context.obj({ Filter: "FlateDecode", Length: bytes.length });
      return context.register(PDFRawStream.of(dictionary, bytes));
    });
    page.node.set(PDFName.of("Contents"), context.obj(refs));
    page.node.set(PDFName.of("Resources"), resources);
    page.node.set(PDFName.of("StructParents"), context.obj(index));
    page.node.set(PDFName.of("Tabs"), PDFName.of("S"));
    return page.ref;
  });
  let index = 0;
  for (const [face, { ref }] of fonts) await embedFace(context, ref, face, index++);
  structure.write(pageRefs);

  const id = PDFHexString.of(hash.digest("hex").slice(0, 32));
  context.trailerInfo.ID = context.obj([id, id]);
  writeCatalog(pdf, document, structure.rootRef, writeOutline(context, outline, pageRefs));
  return pdf.save({
    useObjectStreams: false,
    addDefaultPage: false,
    updateFieldAppearances: false,
    objectsPerTick: Number.POSITIVE_INFINITY,
  });
}
