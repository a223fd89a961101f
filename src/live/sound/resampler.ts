import { SAMPLE_RATE } from "../../timeline/index.ts";

/**
 * Zero crossings of the sinc on either side, at the lower of the two rates, and the window's shape. Together they
 * attenuate what lies above half of the lower rate by 80 dB, and keep everything below 84 % of that half.
 */
const ZERO_CROSSINGS = 32;
const KAISER_BETA = 7.86;
/** The filter's edge, as a share of half of the lower rate: the middle of its transition. */
const EDGE = 0.92;
/**
 * Maximum number of positions between two input samples for which the filter is computed. Rates such as 44,100 need
 * fewer; for rates without a common factor the nearest position is used, with an error below -70 dB.
 */
const MAX_PHASES = 1024;

/**
 * Converts one stream to 16 kHz with a windowed-sinc low-pass. The output is exact in time: sample n lies at n / 16,000 s.
 * Keeps only the input that the next output sample needs.
 */
export class Resampler {
  /** Output sample n lies at the input position n * step / factor. */
  readonly #factor: number;
  readonly #step: number;
  /** Taps on either side of a position. */
  readonly #reach: number;
  /** Filters by phase, `2 * reach` taps each. */
  readonly #filters: Float32Array;
  readonly #phases: number;
  /** Input from `reach` samples before the next position. Silence precedes the stream. */
  #input: Float32Array;
  /** The next position in units of 1 / factor input samples, relative to the first sample of `#input`. */
  #position: number;

  constructor(sampleRate: number) {
    const common = greatestCommonDivisor(sampleRate, SAMPLE_RATE);
    this.#factor = SAMPLE_RATE / common;
    this.#step = sampleRate / common;
    const ratio = Math.min(1, SAMPLE_RATE / sampleRate);
    this.#reach = Math.ceil(ZERO_CROSSINGS / ratio);
    this.#phases = Math.min(MAX_PHASES, this.#factor);
    this.#filters = makeFilters(this.#phases, this.#reach, ratio * EDGE);
    this.#input = new Float32Array(this.#reach - 1);
    this.#position = (this.#reach - 1) * this.#factor;
  }

  /** Returns the output that the input so far determines: all but the last milliseconds. */
  convert(samples: Float32Array): Float32Array {
    const input = new Float32Array(this.#input.length + samples.length);
    input.set(this.#input);
    input.set(samples, this.#input.length);
    const lastPosition = (input.length - this.#reach) * this.#factor - 1;
    const count = Math.max(0, Math.floor((lastPosition - this.#position) / this.#step) + 1);
    const output = new Float32Array(count);
    for (let at = 0; at < count; at++) output[at] = this.#sampleAt(input, this.#position + at * this.#step);
    const position = this.#position + count * this.#step;
    const used = Math.max(0, Math.floor(position / this.#factor) - (this.#reach - 1));
    this.#input = input.slice(used);
    this.#position = position - used * this.#factor;
    return output;
  }

  /** Returns the rest of the output. Silence follows the stream. */
  end(): Float32Array {
    return this.convert(new Float32Array(this.#reach));
  }

  #sampleAt(input: Float32Array, position: number): number {
    const whole = Math.floor(position / this.#factor);
    const phase = Math.floor(((position - whole * this.#factor) * this.#phases) / this.#factor);
    const taps = 2 * this.#reach;
    const first = whole - this.#reach + 1;
    const filter = phase * taps;
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) sum += (input[first + tap] ?? 0) * (this.#filters[filter + tap] ?? 0);
    return sum;
  }
}

/** Returns the filters of all phases. @param edge frequency of the low-pass as a share of half of the input's rate */
function makeFilters(phases: number, reach: number, edge: number): Float32Array {
  const taps = 2 * reach;
  const filters = new Float32Array(phases * taps);
  for (let phase = 0; phase < phases; phase++) {
    const filter = filters.subarray(phase * taps, (phase + 1) * taps);
    for (let tap = 0; tap < taps; tap++) {
      const distance = tap - reach + 1 - phase / phases;
      filter[tap] = edge * sinc(edge * distance) * kaiser(distance / reach);
    }
    // Each phase has a gain of exactly 1 for constant input, so that the phases do not modulate it.
    const gain = filter.reduce((sum, value) => sum + value, 0);
    for (let tap = 0; tap < taps; tap++) filter[tap] = (filter[tap] ?? 0) / gain;
  }
  return filters;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return Math.abs(x) > 1 ? 0 : bessel(KAISER_BETA * Math.sqrt(1 - x * x)) / bessel(KAISER_BETA);
}

/** Returns the modified Bessel function of the first kind and order 0. */
function bessel(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
