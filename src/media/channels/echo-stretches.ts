import { type Echo, findEcho } from "./find-echo.ts";
import { Histogram } from "./histogram.ts";
import { BLOCKS_PER_SECOND, type Levels } from "./levels.ts";

/**
 * Length of a section. The echo is detected separately in each section, because its path changes in a long call when
 * somebody joins or moves.
 */
const SECTION_BLOCKS = 600 * BLOCKS_PER_SECOND;
/** Levels by which a voice of the channel's own exceeds the expected echo: 6 dB. */
const MARGIN = 12;
/** Echo may arrive this much earlier and later than usual, because rooms reverberate. */
const SOONER_BLOCKS = 3;
const LATER_BLOCKS = 6;
/**
 * The channel's own voice is present in at least three of five blocks. It is extended by 0.15 s on either side, and
 * lasts at least 0.25 s in total per span. Echo is sometimes louder for the length of a consonant, because telephone
 * lines do not transmit all consonants equally.
 */
const MAJORITY_BLOCKS = 5;
const HOLD_BLOCKS = 6;
const LEAST_OWN_BLOCKS = 10;

/** Blocks `[start, end)`. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the spans of a channel (`heard`) that contain only the echo of another channel (`source`). In these spans the
 * level stays within the echo expected from the loudness of the source. When both parties talk at once, the channel's
 * own voice is louder and is kept.
 */
export function echoStretches(source: Levels, heard: Levels): Stretch[] {
  const stretches: Stretch[] = [];
  const sections = Math.max(1, Math.round(heard.length / SECTION_BLOCKS));
  for (let section = 0; section < sections; section++) {
    const from = Math.floor((section * heard.length) / sections);
    const to = Math.floor(((section + 1) * heard.length) / sections);
    const [ofSource, ofHeard] = [source.subarray(from, to), heard.subarray(from, to)];
    const echo = findEcho(ofSource, ofHeard);
    if (echo === null) continue;
    for (const { start, end } of runsOf(echoOnly(ofSource, ofHeard, echo))) {
      stretches.push({ start: start + from, end: end + from });
    }
  }
  return stretches;
}

/** Marks with 1 each block that is only echo. */
function echoOnly(source: Levels, heard: Levels, echo: Echo): Uint8Array {
  const noise = Histogram.of(heard).percentile(0.1);
  const expected = heard.map((_, block) => {
    const last = block - echo.delayBlocks + SOONER_BLOCKS;
    const first = block - echo.delayBlocks - LATER_BLOCKS;
    const loudest = source.subarray(Math.max(0, first), Math.max(0, last + 1)).reduce((a, b) => Math.max(a, b), 0);
    return Math.max(0, loudest - echo.loss);
  });
  const own = heard.map((level, block) => (level > (expected[block] ?? 0) + MARGIN ? 1 : 0));
  const kept = withoutIslands(majority(own));
  return expected.map((level, block) => (level >= noise && kept[block] === 0 ? 1 : 0));
}

function majority(marks: Uint8Array): Uint8Array {
  const half = (MAJORITY_BLOCKS - 1) / 2;
  return marks.map((_, block) => {
    let count = 0;
    for (let near = block - half; near <= block + half; near++) count += marks[near] ?? 0;
    return count > half ? 1 : 0;
  });
}

/** Extends runs, merges runs that then touch, and drops runs that contain few marked blocks. */
function withoutIslands(marks: Uint8Array): Uint8Array {
  const wide = new Uint8Array(marks.length);
  for (const { start, end } of runsOf(marks)) wide.fill(1, Math.max(0, start - HOLD_BLOCKS), end + HOLD_BLOCKS);
  for (const { start, end } of runsOf(wide)) {
    const own = marks.subarray(start, end).reduce((sum, mark) => sum + mark, 0);
    if (own < LEAST_OWN_BLOCKS) wide.fill(0, start, end);
  }
  return wide;
}

function runsOf(marks: Uint8Array): Stretch[] {
  const runs: Stretch[] = [];
  for (let start = marks.indexOf(1); start >= 0; ) {
    const next = marks.indexOf(0, start);
    const end = next < 0 ? marks.length : next;
    runs.push({ start, end });
    start = marks.indexOf(1, end);
    if (next < 0) break;
  }
  return runs;
}
