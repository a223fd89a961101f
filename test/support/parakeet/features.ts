import type { Matrix } from "./matrix.ts";
import { matrix, rowOf } from "./matrix.ts";
import type { ReferenceModel } from "./model.ts";

const HOP = 160;

/**
 * NeMo's FilterbankFeatures: [frame of 10 ms][mel], each mel with mean 0 and deviation 1 over the recording. NeMo has
 * one more frame, which extends over the end; it is masked everywhere and therefore left out.
 */
export function features(model: ReferenceModel, samples: Float32Array): Matrix {
  const { transform, mels } = model.sizes;
  const frames = Math.floor(samples.length / HOP);
  const emphasized = Float64Array.from(samples, (sample, i) => sample - (i === 0 ? 0 : 0.97 * (samples[i - 1] ?? 0)));
  const before = (transform - model.window.length) / 2;
  const spectrum = matrix(frames, mels, () => 0);
  for (let frame = 0; frame < frames; frame++) {
    const start = frame * HOP - transform / 2;
    const windowed = Float64Array.from({ length: transform }, (_, i) => {
      const weight = model.window[i - before] ?? 0;
      return weight * (emphasized[start + i] ?? 0);
    });
    const power = powerSpectrum(windowed);
    const row = rowOf(spectrum, frame);
    for (let mel = 0; mel < mels; mel++) {
      let energy = 0;
      for (let bin = 0; bin < power.length; bin++)
        energy += (power[bin] ?? 0) * (model.filters[mel * power.length + bin] ?? 0);
      row[mel] = Math.log(energy + 2 ** -24);
    }
  }
  return normalized(spectrum);
}

function normalized({ rows, columns, values }: Matrix): Matrix {
  const column = (mel: number) => Array.from({ length: rows }, (_, row) => values[row * columns + mel] ?? 0);
  const scales = Array.from({ length: columns }, (_, mel) => {
    const numbers = column(mel);
    const mean = numbers.reduce((total, value) => total + value, 0) / rows;
    const squares = numbers.reduce((total, value) => total + (value - mean) ** 2, 0);
    return { mean, deviation: Math.sqrt(squares / (rows - 1)) + 1e-5 };
  });
  return matrix(rows, columns, (row, mel) => {
    const { mean = 0, deviation = 1 } = scales[mel] ?? {};
    return ((values[row * columns + mel] ?? 0) - mean) / deviation;
  });
}

/** Squares of the first half of the Fourier transform, with the middle; the length is a power of two. */
function powerSpectrum(real: Float64Array): Float64Array {
  const transformed = fourier([...real].map((value) => [value, 0] as const));
  return Float64Array.from(transformed.slice(0, real.length / 2 + 1), ([re, im]) => re * re + im * im);
}

type Complex = readonly [number, number];

function fourier(values: readonly Complex[]): Complex[] {
  const { length } = values;
  if (length === 1) return [...values];
  const even = fourier(values.filter((_, i) => i % 2 === 0));
  const odd = fourier(values.filter((_, i) => i % 2 === 1));
  const turned = odd.map(([re, im], k): Complex => {
    const angle = (-2 * Math.PI * k) / length;
    return [re * Math.cos(angle) - im * Math.sin(angle), re * Math.sin(angle) + im * Math.cos(angle)];
  });
  const both = (sign: number) =>
    even.map(([re, im], k): Complex => [re + sign * (turned[k]?.[0] ?? 0), im + sign * (turned[k]?.[1] ?? 0)]);
  return [...both(1), ...both(-1)];
}
