import { deflateSync } from "node:zlib";
import { type PDFContext, PDFRawStream, type PDFRef, PDFString } from "@cantoo/pdf-lib";
import type { EncodedGlyph, Face } from "./face.ts";
import { numeral, utf16Hex } from "./show-text.ts";
import { subsetFont } from "./subset.ts";

/** Maximum number of mappings in one block of a CMap (Adobe technical note 5014). */
const MAPPINGS_PER_BLOCK = 100;

/** Adds a compressed stream object. */
export function addStream(
  context: PDFContext,
  bytes: Uint8Array | string,
  entries: Record<string, string | number> = {},
): PDFRef {
  const compressed = deflateSync(bytes);
  const dictionary = context.obj({ ...entries, Filter: "FlateDecode", Length: compressed.length });
  return context.register(PDFRawStream.of(dictionary, compressed));
}

/**
 * Writes the used glyphs of a face as a composite font (ISO 32000-1, 9.7) under a reference that was created before.
 * @param index index of the face in the document, which makes its name unique
 */
export async function embedFace(context: PDFContext, ref: PDFRef, face: Face, index: number): Promise<void> {
  const glyphs = face.used;
  const subset = await subsetFont(face.bytes, new Set(glyphs.map((glyph) => glyph.glyphId)));
  const name = `${subsetTag(index)}+${face.name}`;
  const fontFile = addStream(context, subset, { Length1: subset.length });
  const descriptor = context.register(
    context.obj({
      Type: "FontDescriptor",
      FontName: name,
      // Symbolic, because the characters are not in a Latin encoding.
      Flags: 4,
      FontBBox: boundingBox(face),
      ItalicAngle: 0,
      Ascent: face.ascent,
      Descent: -face.descent,
      CapHeight: 714,
      StemV: face.name === "latinBold" ? 120 : 80,
      FontFile2: fontFile,
    }),
  );
  const descendant = context.register(
    context.obj({
      Type: "Font",
      Subtype: "CIDFontType2",
      BaseFont: name,
      CIDSystemInfo: { Registry: PDFString.of("Adobe"), Ordering: PDFString.of("Identity"), Supplement: 0 },
      FontDescriptor: descriptor,
      DW: 1000,
      W: [0, glyphs.map((glyph) => Number(numeral(glyph.width)))],
      CIDToGIDMap: addStream(context, glyphIdsByCode(glyphs)),
    }),
  );
  context.assign(
    ref,
    context.obj({
      Type: "Font",
      Subtype: "Type0",
      BaseFont: name,
      Encoding: "Identity-H",
      DescendantFonts: [descendant],
      ToUnicode: addStream(context, unicodeMap(glyphs)),
    }),
  );
}

/** Returns six capitals that distinguish subsets of one font. */
function subsetTag(index: number): string {
  return index
    .toString(26)
    .padStart(6, "0")
    .replace(/./g, (digit) => String.fromCharCode(65 + Number.parseInt(digit, 26)));
}

function glyphIdsByCode(glyphs: readonly EncodedGlyph[]): Uint8Array {
  const map = Buffer.alloc(glyphs.length * 2);
  glyphs.forEach((glyph, code) => {
    map.writeUInt16BE(glyph.glyphId, code * 2);
  });
  return map;
}

/** Reads the bounding box from the head table, where the corners are the 18th to 21st 16-bit numbers. */
function boundingBox(face: Face): number[] {
  const head = face.font.face.referenceTable("head");
  if (head === undefined) return [0, -face.descent, 1000, face.ascent];
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  return [36, 38, 40, 42].map((at) => Math.round(view.getInt16(at) * face.scale));
}

/** Returns the CMap that maps each code to Unicode (ISO 32000-1, 9.10.3), for copying, searching and reading aloud. */
function unicodeMap(glyphs: readonly EncodedGlyph[]): string {
  const mappings = glyphs.map(({ text }, code) => `<${code.toString(16).padStart(4, "0")}> <${utf16Hex(text)}>\n`);
  let blocks = "";
  for (let from = 0; from < mappings.length; from += MAPPINGS_PER_BLOCK) {
    const block = mappings.slice(from, from + MAPPINGS_PER_BLOCK);
    blocks += `${block.length} beginbfchar\n${block.join("")}endbfchar\n`;
  }
  return `/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <ffff>
endcodespacerange
${blocks}endcmap
CMapName currentdict /CMap defineresource pop
end
end
`;
}
