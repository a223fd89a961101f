/**
 * Reads a raw file of 16-bit samples from its beginning as numbers between -1 and 1.
 * @param most maximum number of samples
 */
export async function readSample(path: string, most = Number.POSITIVE_INFINITY): Promise<Float32Array> {
  const bytes = await Bun.file(path).arrayBuffer();
  const count = Math.min(Math.floor(bytes.byteLength / 2), most);
  return Float32Array.from(new Int16Array(bytes, 0, count), (sample) => sample / 32_768);
}
