import { randomNumbers } from "../random-numbers.ts";

const SAMPLE_RATE = 16_000;
/** Slaney's mel scale: linear below 1 kHz, logarithmic above (librosa's default, which NeMo uses). */
const LINEAR_STEP = 200 / 3;
const KNEE = 1000;
const LOG_STEP = Math.log(6.4) / 27;

/** Returns mel filters of equal area, [mels][bins], from 0 Hz to half the sample rate. */
export function melFilters(mels: number, bins: number): Float32Array {
  const highest = KNEE / LINEAR_STEP + Math.log(SAMPLE_RATE / 2 / KNEE) / LOG_STEP;
  const edges = Array.from({ length: mels + 2 }, (_, i) => toHertz((highest * i) / (mels + 1)));
  const filters = new Float32Array(mels * bins);
  for (let mel = 0; mel < mels; mel++) {
    const [low = 0, middle = 0, high = 0] = edges.slice(mel, mel + 3);
    for (let bin = 0; bin < bins; bin++) {
      const hertz = (bin * SAMPLE_RATE) / 2 / (bins - 1);
      const height = Math.max(0, Math.min((hertz - low) / (middle - low), (high - hertz) / (high - middle)));
      filters[mel * bins + bin] = (height * 2) / (high - low);
    }
  }
  return filters;
}

function toHertz(mel: number): number {
  const knee = KNEE / LINEAR_STEP;
  return mel < knee ? mel * LINEAR_STEP : KNEE * Math.exp(LOG_STEP * (mel - knee));
}

const CONSONANTS = [..."bdfghklmnprstvwz"];
const VOWELS = ["a", "e", "i", "o", "u", "ä", "ö", "ü", "ß", "ei"];

/** Returns different texts of tokens: control pieces, punctuation, beginnings and other parts of words. */
export function pieces(count: number, seed: number): string[] {
  const uniform = randomNumbers(seed);
  const pick = (from: readonly string[]) => from[Math.floor(uniform() * from.length)] ?? "";
  const found = new Set(["<unk>", "<s>", "</s>", ...".,?!-'"]);
  while (found.size < count) {
    const syllables = Array.from({ length: 1 + Math.floor(uniform() * 3) }, () => pick(CONSONANTS) + pick(VOWELS));
    found.add((uniform() < 0.5 ? "\u2581" : "") + syllables.join(""));
  }
  return [...found];
}
