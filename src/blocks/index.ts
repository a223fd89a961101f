export { hasBlock, readBlock, writeBlock } from "./blocks.ts";
export {
  BLOCK_SECONDS,
  blockCount,
  blockWindows,
  FRAME_SAMPLES,
  frameSample,
  frameSeconds,
  HOP_FRAMES,
  LOCAL_SPEAKERS,
  WINDOW_FRAMES,
  WINDOW_SAMPLES,
  windowSample,
} from "./grid.ts";
export { openItem, type WorkItem, writeItem } from "./work-area.ts";
