/** The content of a ggml Whisper file. The shapes of tensors are row-major. */
export interface GgmlFile {
  header: number[];
  filters: { bands: number; bins: number; values: Float32Array };
  tokens: Uint8Array[];
  tensors: Map<string, { shape: number[]; type: "float32" | "float16"; bytes: Uint8Array }>;
}

/** Reads a ggml Whisper file as whisper.cpp's loader does. */
export function readGgml(file: Uint8Array): GgmlFile {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let position = 0;
  const i32 = () => {
    position += 4;
    return view.getInt32(position - 4, true);
  };
  const take = (length: number) => {
    position += length;
    return file.slice(position - length, position);
  };
  const header = Array.from({ length: 12 }, i32);
  const [bands, bins] = [i32(), i32()];
  const filters = { bands, bins, values: new Float32Array(take(bands * bins * 4).buffer) };
  const tokens = Array.from({ length: i32() }, () => take(i32()));
  const tensors: GgmlFile["tensors"] = new Map();
  while (position < file.length) {
    const [rank, nameLength, typeNumber] = [i32(), i32(), i32()];
    const shape = Array.from({ length: rank }, i32).reverse();
    const name = new TextDecoder().decode(take(nameLength));
    const type = typeNumber === 1 ? "float16" : "float32";
    const bytes = take(shape.reduce((product, length) => product * length, type === "float16" ? 2 : 4));
    tensors.set(name, { shape, type, bytes });
  }
  return { header, filters, tokens, tensors };
}
