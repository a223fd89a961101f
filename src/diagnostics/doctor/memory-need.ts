/** The server itself; and a worker without whisper's weights: runtime, speaker models, room to compute. */
const serverBytes = 250e6;
const workerBytes = 350e6;
/** One ffmpeg while it decodes. */
const decoderBytes = 60e6;

/**
 * About how much memory a server takes at its busiest, in bytes. A model takes its file's size and working memory that
 * grows with it: by whisper.cpp's README tiny takes 273 MB (75 on disk), base 388 (142), small 852 (466), medium 2.1 GB
 * (1.5), large 3.9 GB (2.9). The weights are there once in a worker, working memory for each of its operations.
 * @param workers one, or one for each GPU
 * @param lanes operations that compute on the CPU at once; 1 where GPUs do
 */
export function memoryNeed(modelFileBytes: number, slots: number, workers: number, lanes: number): number {
  const working = lanes * (modelFileBytes * 0.3 + 150e6);
  return serverBytes + workers * (workerBytes + modelFileBytes + working) + slots * decoderBytes;
}
