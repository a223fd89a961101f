import { availableParallelism } from "node:os";
import { cpuSettings } from "../../harness/device.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  corpusOption,
  fasterWhisperVersion,
  installFasterWhisper,
  installScorer,
  type Reference,
  readCorpus,
  requireCorpus,
  selectorOf,
} from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { cpuOption, cpuTerms, fasterWhisperSettings } from "../shared/cpu-variant.ts";
import { flag, someOf, text, UsageError } from "../shared/options.ts";
import { CommandError } from "../shared/run-command.ts";
import { asMarkdown, asText, headingOf, writeGenerated } from "../shared/table.ts";
import { joinedRecordings, type Made, recordingsOfNothing } from "./made-recordings.ts";
import { quickExchanges } from "./quick-exchanges.ts";
import { detailsOf, rowsOf } from "./report.ts";
import { type Aspect, aspects, measure, type Peer, type Transcribed } from "./results.ts";
import { EvaluationServer } from "./server.ts";

export const command = defineCommand({
  name: "scripts/evaluate",
  about:
    "Measures quality against references. Sends the recordings of single/ and dialogue/, and some generated ones, to a " +
    "server of this checkout and prints a table. A NAME selects the recordings whose path contains it.",
  names: "NAME",
  options: {
    only: someOf("ASPECT", "aspects to measure", aspects),
    peer: flag("measure faster-whisper too"),
    details: flag("print a line for each recording before the table"),
    json: text("FILE", "write all figures with references and transcripts to FILE"),
    write: flag("store the table in docs/quality.md"),
    cpu: cpuOption,
    audio: corpusOption,
  },
  async run({ only, peer: withPeer, details, json, write, cpu, audio }, names) {
    if (write && (names.length > 0 || !aspects.every((aspect) => only.includes(aspect)))) {
      throw new UsageError("--write stores the whole table and cannot be combined with a selection");
    }
    requireCorpus(audio);
    const isChosen = selectorOf(names);
    const corpus = await readCorpus(audio);
    using folder = temporaryDirectory();
    const hasTurns = only.includes("words") || only.includes("speakers");
    const chosen = corpus.filter(({ path }) => isChosen(path));
    const references = [
      ...chosen.filter((reference) => only.some((aspect) => isNeededFor(aspect, reference))),
      ...(hasTurns ? await quickExchanges(audio, folder.path, isChosen) : []),
    ];
    const hasGaps = only.includes("words") || only.includes("invented");
    const made = [
      ...(hasGaps ? joinedRecordings(corpus, isChosen) : []),
      ...(only.includes("invented") ? await recordingsOfNothing(audio, isChosen) : []),
    ];
    if (references.length + made.length === 0) throw new CommandError("no recording has such a name");
    const when = { ...(await circumstances(Date.now())), cpu };
    const settings = await cpuSettings(cpu);
    const scorer = await installScorer();
    const transcribed = await transcribeAll(corpus, references, made, settings, folder.path);
    const peer = withPeer ? await transcribeWithPeer(chosen, cpu) : null;
    const results = await measure(scorer, transcribed, only, peer);
    for (const path of results.scorerMismatches) {
      console.error(`${path}: harness/der.ts and pyannote.metrics disagree on its errors`);
    }
    const rows = rowsOf(results);
    if (rows.length === 0) throw new CommandError("the selection contains nothing to measure");
    if (details) for (const line of detailsOf(results)) console.log(line);
    const lines = rows.map(({ measure: measured, value, over }) => [measured, value, over]);
    for (const term of cpuTerms(cpu)) console.log(term);
    console.log(asText({ head: ["", "", ""], lines }));
    if (json !== null) await Bun.write(json, `${JSON.stringify({ ...when, rows, ...results }, null, 2)}\n`);
    if (!write) return;
    const page = `${headingOf(when, ...cpuTerms(cpu))}:\n\n${asMarkdown({ head: ["measured", "", "over"], lines })}`;
    writeGenerated("docs/quality.md", "scripts/evaluate --write", page);
  },
});

function isNeededFor(aspect: Aspect, { text: said, spoken, exact }: Reference): boolean {
  if (aspect === "words") return said !== null || spoken !== null;
  return aspect === "speakers" || exact;
}

/** Transcribes recordings with one server. @param directory where recordings are generated */
async function transcribeAll(
  corpus: readonly Reference[],
  references: readonly Reference[],
  made: readonly Made[],
  settings: Readonly<Record<string, string>>,
  directory: string,
): Promise<Transcribed> {
  await using server = await EvaluationServer.start(corpus, null, settings);
  const transcribe = (name: string, file: string) => {
    if (process.stderr.isTTY) console.error(name);
    return server.transcribe(file);
  };
  const done = { recordings: [] as Transcribed["recordings"][number][], made: [] as Transcribed["made"][number][] };
  for (const reference of references) {
    done.recordings.push({ reference, hypothesis: await transcribe(reference.path, reference.file) });
  }
  for (const one of made) {
    done.made.push({ made: one, hypothesis: await transcribe(one.name, await one.make(directory)) });
  }
  return done;
}

/** The most accurate settings: unquantized weights, and the beam width of our own decoder. */
const PEER_SETTINGS = { beam: 5, computeType: "float32", batch: 0, language: null } as const;

/** Transcribes the recordings that have a reference text with faster-whisper. */
async function transcribeWithPeer(chosen: readonly Reference[], cpu: string): Promise<Peer> {
  const references = chosen.filter(({ text: said }) => said !== null);
  const ask = await installFasterWhisper(fasterWhisperSettings(cpu));
  const files = references.map(({ file }) => file);
  const { answers } = await ask({ ...PEER_SETTINGS, threads: availableParallelism() }, files);
  return {
    name: `faster-whisper ${fasterWhisperVersion} with beam ${PEER_SETTINGS.beam}`,
    recordings: references.flatMap((reference, index) => {
      const answer = answers[index];
      if (answer === undefined) return [];
      const times = { startSeconds: 0, endSeconds: reference.durationSeconds };
      const segments = [{ ...times, speaker: "A", text: answer.text, words: [] }];
      return [{ reference, hypothesis: { outcome: "completed", language: answer.language, segments } }];
    }),
  };
}
