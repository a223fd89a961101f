/** Parameters of Whisper's spectrum: a sample rate of 16 kHz and a 400-point Fourier transform. */
const SAMPLE_RATE = 16_000;
const TRANSFORM_SIZE = 400;

/** Number of bins of one spectrum, from 0 Hz to 8 kHz. */
export const SPECTRUM_BINS = TRANSFORM_SIZE / 2 + 1;

/** Slaney's mel scale: linear below 1 kHz (3 mel per 200 Hz), logarithmic above (27 mel per factor of 6.4). */
const HERTZ_PER_MEL = 200 / 3;
const LOG_START_HERTZ = 1_000;
const LOG_START_MEL = LOG_START_HERTZ / HERTZ_PER_MEL;
const LOG_STEP = Math.log(6.4) / 27;

/**
 * Returns triangular mel filters of equal area, `[bands, 201]` in row-major order. Whisper was trained with them.
 *
 * They are the filterbank of Slaney's Auditory Toolbox (1998), as librosa computes it. Each weight is rounded to
 * float32 before it is scaled to unit area, and again afterwards; the very first weight is -0. Hence the filters equal,
 * bit for bit, those that other converters take from librosa. A converted file can thus be checked by its digest.
 */
export function melFilters(bands: number): Float32Array {
  const topMel = hertzToMel(SAMPLE_RATE / 2);
  const edge = (index: number) => melToHertz(index === bands + 1 ? topMel : index * (topMel / (bands + 1)));
  const filters = new Float32Array(bands * SPECTRUM_BINS);
  for (let band = 0; band < bands; band++) {
    const [low, centre, high] = [edge(band), edge(band + 1), edge(band + 2)];
    const scale = 2 / (high - low);
    for (let bin = 0; bin < SPECTRUM_BINS; bin++) {
      const hertz = (bin * SAMPLE_RATE) / TRANSFORM_SIZE;
      const weight = Math.min(-(low - hertz) / (centre - low), (high - hertz) / (high - centre));
      if (!(weight < 0)) filters[band * SPECTRUM_BINS + bin] = Math.fround(weight) * scale;
    }
  }
  return filters;
}

function hertzToMel(hertz: number): number {
  return hertz < LOG_START_HERTZ ? hertz / HERTZ_PER_MEL : LOG_START_MEL + Math.log(hertz / LOG_START_HERTZ) / LOG_STEP;
}

function melToHertz(mel: number): number {
  return mel < LOG_START_MEL ? mel * HERTZ_PER_MEL : LOG_START_HERTZ * Math.exp(LOG_STEP * (mel - LOG_START_MEL));
}
