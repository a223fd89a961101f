import { join } from "node:path";
import {
  casesOf,
  compareCase,
  DEBIAN_FFMPEG,
  decodeWithOther,
  formats,
  makeCase,
} from "../../harness/format-matrix.ts";
import { MEDIA_TOOL, SHARED_AUDIO, samplesOf } from "../../harness/media.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { messageOf } from "../../src/text/index.ts";
import { defineCommand } from "../shared/command.ts";
import { CommandError } from "../shared/run-command.ts";

export const command = defineCommand({
  name: "scripts/evaluate formats",
  about:
    "Decodes one voice in every codec, container, sample rate and number of channels that can be made here, and compares " +
    "samples and lengths with those of a complete ffmpeg and with the original. Debian's package ffmpeg adds Speex and " +
    "GSM. Takes about ten minutes on two cores. A NAME selects the encoders whose name contains it.",
  options: {},
  names: "NAME",
  async run(_, names) {
    using folder = temporaryDirectory();
    const source = join(SHARED_AUDIO, "formats/jfk.flac");
    if (!(await Bun.file(source).exists())) throw new CommandError(`the recording is missing: ${source}`);
    const originalPath = join(folder.path, "original.pcm");
    await decodeWithOther(MEDIA_TOOL, source, originalPath);
    const original = await samplesOf(originalPath);
    const hasDebian = await Bun.file(DEBIAN_FFMPEG).exists();
    const counts = { same: 0, different: 0, notMade: 0 };
    for (const one of formats.flatMap(casesOf)) {
      if (names.length > 0 && !names.some((name) => one.encoder.includes(name))) continue;
      const path = join(folder.path, `made.${one.extension}`);
      if ((one.isOfDebian === true && !hasDebian) || !(await makeCase(one, source, path))) {
        counts.notMade += 1;
        continue;
      }
      const what = await compareCase(one, path, original, folder.path).catch(messageOf);
      counts[what === null ? "same" : "different"] += 1;
      const options = one.options === undefined ? "" : ` (${one.options.join(" ")})`;
      if (what !== null) {
        console.log(
          `${one.encoder}${options} in ${one.extension}, ${one.rate} Hz, ${one.channelCount} channels: ${what}`,
        );
      }
    }
    if (!hasDebian) console.log(`SKIPPED: Speex and GSM; ${DEBIAN_FFMPEG} is missing (Debian: apt install ffmpeg)`);
    console.log(
      `${counts.same} files decoded as they should, ${counts.different} not; ${counts.notMade} could not be made`,
    );
    if (counts.different > 0) process.exitCode = 1;
  },
});
