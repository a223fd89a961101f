import { join } from "node:path";
import { corpusPath, root } from "../../harness/checkout.ts";
import {
  casesOf,
  compareCase,
  DEBIAN_FFMPEG,
  decodeWithOther,
  type FormatCase,
  formats,
  makeCase,
} from "../../harness/format-matrix.ts";
import { MEDIA_TOOL, samplesOf } from "../../harness/media.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { wordErrors } from "../../harness/wer.ts";
import { loadGgml } from "../../src/runtimes/index.ts";
import { openModel } from "../../src/speech/recognizer/whisper/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { defineCommand } from "../shared/command.ts";
import { flag } from "../shared/options.ts";
import { CommandError } from "../shared/run-command.ts";

/** Words of a file, of the 22 of the original, that may be recognized otherwise; codecs of a few kbit/s cost some. */
const MOST_WORD_ERRORS = 4;

export const command = defineCommand({
  name: "scripts/evaluate formats",
  about:
    "Decodes one voice in every codec, container, sample rate and number of channels that can be made here, and compares " +
    "samples and lengths with those of a complete ffmpeg and with the original. Debian's package ffmpeg adds Speex and " +
    "GSM. Takes a quarter of an hour on two cores. A NAME selects the encoders whose name contains it.",
  options: {
    words: flag("also recognize one file of each codec and container with Whisper base, and compare the words"),
  },
  names: "NAME",
  async run({ words }, names) {
    using folder = temporaryDirectory();
    const source = corpusPath("formats/jfk.flac");
    if (!(await Bun.file(source).exists())) throw new CommandError(`the recording is missing: ${source}`);
    const originalPath = join(folder.path, "original.pcm");
    await decodeWithOther(MEDIA_TOOL, source, originalPath);
    const original = await samplesOf(originalPath);
    const hasDebian = await Bun.file(DEBIAN_FFMPEG).exists();
    const counts = { same: 0, different: 0, notMade: 0, recognized: 0 };
    await using recognizer = words ? wordsIn() : null;
    const spoken = (await recognizer?.read(original)) ?? "";
    const heard = new Set<string>();
    for (const one of formats.flatMap(casesOf)) {
      if (names.length > 0 && !names.some((name) => one.encoder.includes(name))) continue;
      const path = join(folder.path, `made.${one.extension}`);
      if ((one.isOfDebian === true && !hasDebian) || !(await makeCase(one, source, path))) {
        counts.notMade += 1;
        continue;
      }
      let what = await compareCase(one, path, original, folder.path).catch(messageOf);
      const kind = `${one.encoder} ${one.extension}`;
      if (recognizer !== null && what === null && !heard.has(kind) && hasMostOf(one)) {
        heard.add(kind);
        counts.recognized += 1;
        const text = await recognizer.read(await samplesOf(join(folder.path, "own.pcm")));
        const { substitutions, deletions, insertions } = wordErrors(spoken, text);
        const wrong = substitutions + deletions + insertions;
        if (wrong > MOST_WORD_ERRORS) what = `${wrong} words differ: ${text}`;
        else if (wrong > 0) console.log(`${kind}: ${wrong} words differ`);
      }
      counts[what === null ? "same" : "different"] += 1;
      const options = one.options === undefined ? "" : ` (${one.options.join(" ")})`;
      if (what !== null) {
        console.log(
          `${one.encoder}${options} in ${one.extension}, ${one.rate} Hz, ${one.channelCount} channels: ${what}`,
        );
      }
    }
    if (!hasDebian) console.log(`SKIPPED: Speex and GSM; ${DEBIAN_FFMPEG} is missing (Debian: apt install ffmpeg)`);
    if (words) console.log(`${counts.recognized} files recognized`);
    console.log(
      `${counts.same} files decoded as they should, ${counts.different} not; ${counts.notMade} could not be made`,
    );
    if (counts.different > 0) process.exitCode = 1;
  },
});

/** Returns whether a file has all that the recognizer uses: 16 kHz, unless its codec never has as much. */
function hasMostOf({ encoder, rate }: Pick<FormatCase, "encoder" | "rate">): boolean {
  const own = formats.filter((format) => format.encoder === encoder).flatMap(({ rates }) => rates);
  return rate >= Math.min(16_000, Math.max(...own));
}

/** Recognizes decoded speech with Whisper base. */
function wordsIn() {
  const runtime = loadGgml({ nativeDirectory: join(root, "build/native") });
  const model = openModel(runtime, join(root, "build/models/ggml-base.bin"), false);
  const state = model.createState();
  return {
    async read(samples: Int16Array): Promise<string> {
      const options = { language: "en", threads: 2, beamSize: 5, withoutTimestamps: true, temperatureIncrement: 0 };
      const { segments } = await state.transcribe(
        Float32Array.from(samples, (one) => one / 32_768),
        options,
      );
      return segments.map(({ text }) => text).join("");
    },
    [Symbol.asyncDispose]: async () => {
      state.dispose();
      model.dispose();
    },
  };
}
