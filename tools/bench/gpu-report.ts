import { MIB } from "../shared/figures.ts";
import { asText, type Table } from "../shared/table.ts";
import type { Passes } from "./gpu-passes.ts";
import { coresTable, type SpeakerFigures } from "./speakers-tables.ts";
import type { TransformersSpeed } from "./transformers-whisper.ts";

/** Passes of one model on one GPU. */
export interface MeasuredPasses {
  /** Label and name of the GPU. */
  readonly gpu: string;
  readonly name: string;
  readonly model: string;
  readonly passes: readonly Passes[];
}

/** Whole recordings through a server. */
export interface MeasuredRecordings {
  /** `vulkan`, or `cuda`. */
  readonly device: string;
  readonly atOnce: number;
  /** Seconds of all recordings together, and until all were completed. */
  readonly audioSeconds: number;
  readonly seconds: number;
}

/** Everything that `scripts/bench gpu` measures. */
export interface GpuFigures {
  readonly passes: readonly MeasuredPasses[];
  readonly recordings: readonly MeasuredRecordings[];
  /** Speech detection and speaker diarization on all threads. */
  readonly speakers: readonly SpeakerFigures[];
  readonly transformers: { readonly about: string | null; readonly speeds: readonly TransformersSpeed[] };
}

/** Our best speed and that of transformers with as many beams. */
export interface Ratio {
  readonly gpu: string;
  readonly beams: number;
  readonly ours: Passes;
  readonly theirs: TransformersSpeed;
  readonly ratio: number;
}

/** Returns the ratios of the best speeds with the same number of beams, for the model of the same shape. */
export function ratiosOf(figures: Pick<GpuFigures, "passes" | "transformers">, model: string): Ratio[] {
  return figures.passes
    .filter((measured) => measured.model === model)
    .flatMap(({ gpu, passes }) =>
      [...new Set(passes.map(({ beams }) => beams))].sort().flatMap((beams) => {
        const ours = fastest(passes.filter((each) => each.beams === beams));
        const theirs = fastest(figures.transformers.speeds.filter((each) => each.beams === beams));
        if (ours === null || theirs === null) return [];
        return { gpu, beams, ours, theirs, ratio: ours.speed / theirs.speed };
      }),
    );
}

function fastest<T extends { readonly speed: number }>(all: readonly T[]): T | null {
  return all.reduce<T | null>((best, each) => (best === null || each.speed > best.speed ? each : best), null);
}

/** Returns the report for a terminal. @param model name of the model that has the shape of transformers' */
export function gpuReport(figures: GpuFigures, model: string): string {
  const { passes, recordings, speakers, transformers } = figures;
  const measured = passes.filter((each) => each.passes.length > 0);
  const parts = measured.map(
    (each) => `${each.gpu} (${each.name}), ${each.model}\n${asText(passesTable(each.passes))}`,
  );
  if (recordings.length > 0) parts.push(`Whole recordings, with speakers\n${asText(recordingsTable(recordings))}`);
  if (speakers.length > 0) parts.push(...coresTable(speakers).map(asText));
  if (transformers.speeds.length > 0) {
    parts.push(`${transformers.about}\n${asText(transformersTable(transformers.speeds))}`);
  }
  const ratios = ratiosOf(figures, model).map(({ gpu, beams, ours, theirs, ratio }) => {
    const own = `${ours.speed.toFixed(1)} × real time with ${ours.lanes} at once`;
    const other = `transformers ${theirs.speed.toFixed(1)} × with batches of ${theirs.batch}`;
    return `${gpu}, ${textOf(beams)}: ${own}, ${other}: ${ratio.toFixed(2)} times as fast`;
  });
  return [...parts, ...(ratios.length === 0 ? [] : [ratios.join("\n")])].join("\n\n");
}

const textOf = (beams: number) => (beams === 1 ? "greedy" : `beam ${beams}`);
const inMib = (bytes: number | null) => (bytes === null || bytes === 0 ? "" : String(Math.round(bytes / MIB)));

function passesTable(passes: readonly Passes[]): Table {
  const sorted = passes.toSorted((a, b) => b.beams - a.beams || a.slots - b.slots || a.lanes - b.lanes);
  return {
    head: [
      "search",
      "at once",
      "decoded",
      "× real time",
      "GPU MiB",
      "graphs a minute",
      "steps a minute",
      "rows a step",
    ],
    lines: sorted.map(({ lanes, slots, beams, speed, gpuBytes, graphs, steps, rowsPerStep }) => [
      ...[textOf(beams), String(lanes), slots > 1 ? "together" : "alone", speed.toFixed(1), inMib(gpuBytes)],
      ...[graphs.toFixed(0), slots > 1 ? steps.toFixed(0) : "", slots > 1 ? rowsPerStep.toFixed(1) : ""],
    ]),
  };
}

function transformersTable(speeds: readonly TransformersSpeed[]): Table {
  return {
    head: ["search", "batch", "tokens", "× real time", "GPU MiB"],
    lines: speeds
      .toSorted((a, b) => b.beams - a.beams || a.batch - b.batch)
      .map(({ batch, beams, tokens, speed, bytes }) => [
        ...[textOf(beams), String(batch), String(tokens), speed.toFixed(1), inMib(bytes)],
      ]),
  };
}

function recordingsTable(recordings: readonly MeasuredRecordings[]): Table {
  return {
    head: ["device", "at once", "seconds", "× real time"],
    lines: recordings.map(({ device, atOnce, audioSeconds, seconds }) => [
      ...[device, String(atOnce), seconds.toFixed(1), (audioSeconds / seconds).toFixed(1)],
    ]),
  };
}
