import { size } from "../../../text/index.ts";
import { type Check, ok, problem, skipped, warning } from "../check.ts";
import { existingPart } from "../file-system.ts";

/** Bytes per second of audio: 16 kHz, 16 bits, mono (32,000), and some for step files. */
const workBytesPerSecond = 33_000;

export const diskSpace: Check = {
  id: "disk.space",
  title: "Disk space",
  explanation:
    "Room on the data directory's file system, against what the largest recording that the limits allow takes: the upload itself, and 2 MB for each minute of it while it is worked on. With less than the reserve (storage.reserve_bytes) uploads are refused; on a full disk recordings wait.",
  run({ paths, settings, machine }) {
    const part = existingPart(paths.root);
    const room = machine.room(part);
    if (room === null) return skipped(`the file system of ${part} does not say how much room there is`);
    const free = room.bavail * room.bsize;
    const total = room.blocks * room.bsize;
    const { upload_bytes, recording_seconds } = settings.limits;
    const one = upload_bytes + recording_seconds * workBytesPerSecond;
    const all = one * settings.queue.slots;
    const summary = `${size(free)} of ${size(total)} free`;
    const detail = [
      `the largest recording that is allowed takes ${size(one)} while it is worked on, ${settings.queue.slots} at once ${size(all)}`,
    ];
    const advice =
      "Free some space, or move the data directory. A smaller reserve (storage.reserve_bytes) lets recordings in nevertheless. Shorter retention (retention.audio_days) frees the audio of finished recordings; lower limits (limits.upload_bytes, limits.recording_seconds) need less.";
    const reserve = settings.storage.reserve_bytes;
    if (free < reserve) return problem(`${summary}: less than the reserve of ${size(reserve)}`, { detail, advice });
    if (free < one) return warning(`${summary}: too little for the largest recording`, { detail, advice });
    return ok(summary, ...detail);
  },
};
