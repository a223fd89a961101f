/**
 * Quality against references: `scripts/evaluate [--only ASPECT]… [--peer] [--json FILE] [--audio DIRECTORY] [--write] [NAME…]`
 * sends the recordings of single/ and dialogue/, and some that it makes, to a server of this checkout, and prints one table.
 * NAMEs choose recordings whose path contains one of them; --peer has faster-whisper's words beside ours; --write keeps the
 * table in docs/quality.md.
 */
import { parseArgs } from "node:util";
import { audioDirectory } from "../../../test/engine/diarization/recording.ts";
import { type Aspect, aspects, collect } from "./collect.ts";
import { readCorpus } from "./corpus.ts";
import { hearPeer } from "./hear-peer.ts";
import { circumstances, qualityPagePath, withTable } from "./quality-page.ts";
import { rowsOf } from "./report.ts";
import { measure } from "./results.ts";
import { Scorer } from "./scorer.ts";

const { values, positionals: names } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    peer: { type: "boolean", default: false },
    json: { type: "string" },
    audio: { type: "string", default: audioDirectory },
    write: { type: "boolean", default: false },
  },
  allowPositionals: true,
});

const unknown = values.only.filter((name) => !(aspects as readonly string[]).includes(name));
if (unknown.length > 0) refuse(`--only is one of ${aspects.join(", ")}, not ${unknown.join(", ")}`);
if (values.write && (values.only.length > 0 || names.length > 0))
  refuse("--write keeps the whole table, not a part of it");
const wanted = new Set<Aspect>(aspects.filter((aspect) => values.only.length === 0 || values.only.includes(aspect)));
const isChosen = (name: string) => names.length === 0 || names.some((part) => name.includes(part));

const made = await circumstances(Date.now());
const scorer = await Scorer.install();
const corpus = await readCorpus(values.audio);
const heard = await collect(corpus, { audio: values.audio, aspects: wanted, isChosen }, (name) => {
  if (process.stderr.isTTY) console.error(name);
});
const peer = values.peer ? await hearPeer(corpus.filter(({ path }) => isChosen(path))) : null;
const results = await measure(scorer, heard, wanted, peer);
for (const path of results.countedOtherwise) {
  console.error(`${path}: test/support/der.ts counts its errors otherwise than pyannote.metrics does`);
}
const rows = rowsOf(results);
const width = Math.max(...rows.map((row) => row.measure.length));
for (const { measure: what, value, over } of rows) console.log(`${what.padEnd(width)}  ${value.padStart(9)}  ${over}`);
if (values.json !== undefined) {
  await Bun.write(values.json, `${JSON.stringify({ ...made, rows, ...results }, null, 2)}\n`);
}
if (values.write) {
  await Bun.write(qualityPagePath, withTable(await Bun.file(qualityPagePath).text(), made, rows));
}

function refuse(why: string): never {
  console.error(`evaluate: ${why}`);
  process.exit(2);
}
