// Completes the rerun of a recording, and ends this process with SIGKILL before a step of it: DIRECTORY RERUN STEP.

import { openDatabase } from "../../src/database/index.ts";
import { complete } from "../../src/pipeline/complete.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { packSegment } from "../../src/segments/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { dieAtStep } from "../support/die-at-step.ts";

const [path = "", rerun = "", step = ""] = process.argv.slice(2);
const store = openDatabase(new DataDirectory(path).databasePath);
const recordings = new Recordings(store, Date.now);
const segments = Array.from({ length: 210 }, (_, index) =>
  packSegment({ index, startSeconds: index, endSeconds: index + 1, speaker: 0, text: "new", words: [] }),
);
const voices = [{ speaker: 0, seconds: 20, embedding: new Float32Array([1, 0]) }];
dieAtStep(Number(step));
await complete(recordings, rerun, { segments, translation: segments, voices }, new AbortController().signal);
await recordings.rows.removeDeleted([rerun]);
