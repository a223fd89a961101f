import { percent } from "../shared/figures.ts";
import type { Table } from "../shared/table.ts";

const HOUR = 3600;
/** The cost of a load counts as linear if no smaller load of its group is faster by more than this share. */
export const LINEAR_SHARE = 0.05;

export interface ScaleFigures {
  /** The property that grows in a group of loads. */
  readonly group: "length" | "recordings at once" | "devices";
  /** Whether real models computed it, or simulated devices that sleep in proportion to the audio. */
  readonly by: "real models" | "simulated";
  readonly load: string;
  readonly audioHours: number;
  /** Threads of the real server, or simulated devices. */
  readonly devices: number;
  readonly seconds: number;
  /** CPU time of server and worker; null for simulated devices. */
  readonly cpuSeconds: number | null;
}

/** Figures with their speed in comparison with the group's reference. */
export interface ScaleRow extends ScaleFigures {
  readonly hoursPerHour: number;
  /** Speed of each device as a share of the reference's. */
  readonly share: number;
  readonly isReference: boolean;
}

/**
 * Compares each load with the reference of its group: the largest load, because a small one has idle devices at its
 * beginning and end; for devices the smallest number.
 */
export function scaleRows(figures: readonly ScaleFigures[]): ScaleRow[] {
  const groups = Map.groupBy(figures, ({ group, by }) => `${group}, ${by}`);
  return [...groups.values()].flatMap((own) => {
    const reference = own[0]?.group === "devices" ? own[0] : own.at(-1);
    return own.map((each) => ({
      ...each,
      hoursPerHour: speedOf(each),
      share: reference === undefined ? 1 : speedOf(each) / each.devices / (speedOf(reference) / reference.devices),
      isReference: each === reference,
    }));
  });
}

function speedOf({ audioHours, seconds }: ScaleFigures): number {
  return (audioHours * HOUR) / seconds;
}

export function scaleTable(rows: readonly ScaleRow[]): Table {
  return {
    head: [
      ...["what grows", "computed by", "load", "threads or devices", "seconds"],
      ...["hours of audio per hour", "CPU s per hour of audio", "speed of each device"],
    ],
    lines: rows.map((row) => [
      ...[row.group, row.by, row.load, String(row.devices), row.seconds.toFixed(1), row.hoursPerHour.toFixed(1)],
      row.cpuSeconds === null ? "" : (row.cpuSeconds / row.audioHours).toFixed(0),
      row.isReference ? "100 % (reference)" : percent(row.share),
    ]),
  };
}

/**
 * Returns a sentence that names the loads whose cost is not linear. A small load may be slower than a large one, because
 * devices are idle at its beginning and end.
 * @param rows in each group from the smallest load to the largest
 */
export function verdict(rows: readonly ScaleRow[]): string {
  const bound = `${100 * LINEAR_SHARE} %`;
  const isSlower = (row: ScaleRow, index: number) =>
    rows.slice(0, index).some(({ group, by, share }) => {
      return group === row.group && by === row.by && row.share < (1 - LINEAR_SHARE) * share;
    });
  const beyond = rows.filter(isSlower);
  if (beyond.length === 0) return `All loads are linear within ${bound}.`;
  const names = beyond.map(({ group, by, load, devices }) => `${load} on ${devices} (${group}, ${by})`);
  return `Linear within ${bound}: ${rows.length - beyond.length} of ${rows.length} loads. Not linear: ${names.join("; ")}.`;
}
