import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Device } from "../../harness/device.ts";
import { TestServer } from "../../harness/server.ts";
import { FASTEST_CPU_VARIANT } from "../shared/cpu-variant.ts";
import type { MeasuredRecordings } from "./gpu-report.ts";
import { makeRecording } from "./recordings.ts";
import { transcribe } from "./transcribe.ts";

/** Numbers of recordings that are sent at the same time. */
const COPIES = [1, 5];

/**
 * Measures meetings from upload to transcript, as `scripts/bench --only transcribe` does, and kills the server when the
 * time is over.
 * @returns why figures are missing, or null
 */
export async function measureRecordings(options: {
  readonly device: Device;
  readonly threads: number;
  /** Directory of the corpus. */
  readonly audio: string;
  readonly folder: string;
  readonly seconds: number;
  readonly onMeasured: (recordings: MeasuredRecordings) => void;
}): Promise<string | null> {
  const { device, threads, audio, folder, seconds, onMeasured } = options;
  if (!existsSync(join(audio, "manifest.json"))) return `${audio} contains no recordings`;
  const over = Promise.withResolvers<null>();
  const timer = setTimeout(() => over.resolve(null), 1000 * seconds);
  try {
    const { file, seconds: audioSeconds } = await makeRecording("meetings", audio, folder);
    const [ours] = await transcribe({
      ...{ threads, language: null, cpu: FASTEST_CPU_VARIANT, cpuSettings: {}, gpu: device },
    });
    if (ours === undefined) throw new Error("there is no server to measure");
    for (const atOnce of COPIES) {
      const run = ours.run(Array.from({ length: atOnce }, () => file));
      const figures = await Promise.race([run, over.promise]);
      if (figures === null) {
        // Its requests fail with the server.
        run.catch(() => {});
        await Promise.all([...TestServer.running].map((server) => server.killHard()));
        return `${atOnce} at once: it was ended after ${Math.round(seconds)} s`;
      }
      const { speechDevice } = device;
      onMeasured({ device: speechDevice, atOnce, audioSeconds: atOnce * audioSeconds, seconds: figures.seconds });
    }
    return null;
  } finally {
    clearTimeout(timer);
  }
}
