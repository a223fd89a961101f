/** Memory of the server, and of a worker without the recognizer's weights: runtime, speaker models, working memory. */
const serverBytes = 250e6;
const workerBytes = 350e6;
/** Memory of one ffmpeg while it decodes. */
const decoderBytes = 60e6;

/**
 * Estimates the peak memory of a server, in bytes. A model needs the size of its file, and working memory that grows
 * with that size. whisper.cpp's README gives these totals: tiny 273 MB (75 on disk), base 388 (142), small 852 (466),
 * medium 2.1 GB (1.5), large 3.9 GB (2.9). A worker holds the weights once, and working memory for each of its parallel
 * operations.
 * @param workers one, or one for each GPU
 * @param lanes operations that compute on the CPU at the same time; 1 if GPUs compute
 */
export function memoryNeed(modelFileBytes: number, slots: number, workers: number, lanes: number): number {
  const working = lanes * (modelFileBytes * 0.3 + 150e6);
  return serverBytes + workers * (workerBytes + modelFileBytes + working) + slots * decoderBytes;
}
