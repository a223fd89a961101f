import shaper from "harfbuzzjs/dist/harfbuzz.wasm" with { type: "file" };
import subsetter from "harfbuzzjs/dist/harfbuzz-subset.wasm" with { type: "file" };

/**
 * Paths of HarfBuzz's WebAssembly modules. The package loads the shaper itself, from the folder of the bundled code. A
 * compiled binary contains the file there because it is imported here. This requires that embedded files keep their
 * names (Bun.build's `naming: { asset: "[name].[ext]" }`). The subsetter has no imports, so it is loaded here.
 */
export const harfbuzzPaths = { shaper, subsetter } as const;

/** The used part of the subsetter's exports. Pointers and sizes are plain numbers. */
interface Subsetter {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(size: number): number;
  free(pointer: number): void;
  hb_blob_create(data: number, length: number, mode: number, userData: number, destroy: number): number;
  hb_blob_destroy(blob: number): void;
  hb_blob_get_data(blob: number, length: number): number;
  hb_blob_get_length(blob: number): number;
  hb_face_create(blob: number, index: number): number;
  hb_face_destroy(face: number): void;
  hb_face_reference_blob(face: number): number;
  hb_set_add(set: number, value: number): void;
  hb_subset_input_create_or_fail(): number;
  hb_subset_input_destroy(input: number): void;
  hb_subset_input_glyph_set(input: number): number;
  hb_subset_input_set(input: number, kind: number): number;
  hb_subset_input_set_flags(input: number, flags: number): void;
  hb_subset_or_fail(face: number, input: number): number;
}

// Constants from hb-subset.h.
const MEMORY_MODE_WRITABLE = 2;
const flags = { noHinting: 1, retainGlyphIds: 2, notdefOutline: 64, noLayoutClosure: 512 };
const DROP_TABLE_TAGS = 3;

/** Tables for text layout or font names, which a PDF does not need because its glyphs are already placed. */
const unneededTables = "GSUB GPOS GDEF BASE STAT DSIG name post OS/2 cmap vhea vmtx VORG".split(" ");

let loaded: Promise<Subsetter> | undefined;

async function loadSubsetter(): Promise<Subsetter> {
  const module = await WebAssembly.compile(await Bun.file(harfbuzzPaths.subsetter).arrayBuffer());
  const { exports } = await WebAssembly.instantiate(module, {});
  const subsetter = exports as unknown as Subsetter;
  subsetter._initialize();
  return subsetter;
}

/**
 * Returns a TrueType font that contains only these glyphs, which keep their ids.
 * @throws {Error} when the font cannot be read
 */
export async function subsetFont(font: Uint8Array, glyphIds: Iterable<number>): Promise<Uint8Array> {
  loaded ??= loadSubsetter();
  const hb = await loaded;
  const data = hb.malloc(font.length);
  new Uint8Array(hb.memory.buffer).set(font, data);
  const blob = hb.hb_blob_create(data, font.length, MEMORY_MODE_WRITABLE, 0, 0);
  const face = hb.hb_face_create(blob, 0);
  hb.hb_blob_destroy(blob);
  const input = hb.hb_subset_input_create_or_fail();
  try {
    hb.hb_subset_input_set_flags(
      input,
      flags.noHinting | flags.retainGlyphIds | flags.notdefOutline | flags.noLayoutClosure,
    );
    const glyphs = hb.hb_subset_input_glyph_set(input);
    for (const id of glyphIds) hb.hb_set_add(glyphs, id);
    const dropped = hb.hb_subset_input_set(input, DROP_TABLE_TAGS);
    for (const table of unneededTables) hb.hb_set_add(dropped, Buffer.from(table.padEnd(4)).readUInt32BE(0));
    return takeFont(hb, hb.hb_subset_or_fail(face, input));
  } finally {
    hb.hb_subset_input_destroy(input);
    hb.hb_face_destroy(face);
    hb.free(data);
  }
}

function takeFont(hb: Subsetter, face: number): Uint8Array {
  if (face === 0) throw new Error("the font could not be subset");
  const blob = hb.hb_face_reference_blob(face);
  const from = hb.hb_blob_get_data(blob, 0);
  const bytes = new Uint8Array(hb.memory.buffer).slice(from, from + hb.hb_blob_get_length(blob));
  hb.hb_blob_destroy(blob);
  hb.hb_face_destroy(face);
  return bytes;
}
