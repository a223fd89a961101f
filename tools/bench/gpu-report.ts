import { MIB } from "../shared/figures.ts";
import { asText, type Table } from "../shared/table.ts";
import type { Passes } from "./gpu-passes.ts";
import { coresTable, type SpeakerFigures } from "./speakers.ts";

export interface GpuFigures {
  /** By GPU, with its label and its name, and by model. */
  readonly passes: { readonly gpu: string; readonly name: string; readonly model: string; readonly passes: Passes[] }[];
  /** Whole recordings through a server. */
  readonly recordings: {
    /** `vulkan`, or `cuda`. */
    readonly device: string;
    readonly atOnce: number;
    /** Seconds of all recordings together, and until all were completed. */
    readonly audioSeconds: number;
    readonly seconds: number;
  }[];
  /** Speech detection and speaker diarization on all threads. */
  readonly speakers: SpeakerFigures[];
}

/** Returns the report for a terminal; empty if nothing was measured. */
export function gpuReport({ passes, recordings, speakers }: GpuFigures): string {
  const parts = passes
    .filter((measured) => measured.passes.length > 0)
    .map(({ gpu, name, model, passes: own }) => `${gpu} (${name}), ${model}\n${asText(passesTable(own))}`);
  if (recordings.length > 0) parts.push(`Whole recordings, with speakers\n${asText(recordingsTable(recordings))}`);
  if (speakers.length > 0) parts.push(...coresTable(speakers).map(asText));
  return parts.join("\n\n");
}

const textOf = (beams: number) => (beams === 1 ? "greedy" : `beam ${beams}`);
const inMib = (bytes: number) => (bytes === 0 ? "" : String(Math.round(bytes / MIB)));

function passesTable(passes: readonly Passes[]): Table {
  const sorted = passes.toSorted((a, b) => b.beams - a.beams || a.slots - b.slots || a.lanes - b.lanes);
  return {
    head: [
      ...["search", "at once", "decoded", "× real time", "GPU MiB", "graphs a minute", "steps a minute", "rows a step"],
    ],
    lines: sorted.map(({ lanes, slots, beams, speed, gpuBytes, graphs, steps, rowsPerStep }) => [
      ...[textOf(beams), String(lanes), slots > 1 ? "together" : "alone", speed.toFixed(1), inMib(gpuBytes)],
      ...[graphs.toFixed(0), slots > 1 ? steps.toFixed(0) : "", slots > 1 ? rowsPerStep.toFixed(1) : ""],
    ]),
  };
}

function recordingsTable(recordings: GpuFigures["recordings"]): Table {
  return {
    head: ["device", "at once", "seconds", "× real time"],
    lines: recordings.map(({ device, atOnce, audioSeconds, seconds }) => [
      ...[device, String(atOnce), seconds.toFixed(1), (audioSeconds / seconds).toFixed(1)],
    ]),
  };
}
