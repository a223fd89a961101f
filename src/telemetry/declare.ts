import { Counter, Gauge, type Registry } from "prom-client";

/** A series: its value, and its label values in the order of the metric's labels. */
export type Sample = readonly [value: number, ...labels: string[]];
/** All series of a metric: of one without labels the value, or null to leave it out. */
type Series = number | null | readonly Sample[];
/** Called when the metrics are read. */
type Read = () => Series | Promise<Series>;

/** Declares metrics in a registry. */
export class Declarations {
  readonly registry: Registry;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  /** Declares a gauge. */
  gauge(name: string, help: string, read: Read, labelNames: readonly string[] = []): void {
    const collect = async () => {
      for (const [value, ...labels] of samplesOf(metric, await read())) metric.labels(...labels).set(value);
    };
    const metric = new Gauge({ name, help, labelNames, registers: [this.registry], collect });
  }

  /** Declares a counter that is counted elsewhere. */
  readCounter(name: string, help: string, read: Read, labelNames: readonly string[] = []): void {
    const collect = async () => {
      for (const [value, ...labels] of samplesOf(metric, await read())) metric.labels(...labels).inc(value);
    };
    const metric = new Counter({ name, help, labelNames, registers: [this.registry], collect });
  }

  /** Declares a counter. @param series the series that start at 0, so that Prometheus sees their first increase */
  counter<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    series: readonly Readonly<Record<L, string>>[] = [],
  ): Counter<L> {
    const metric = new Counter<L>({ name, help, labelNames, registers: [this.registry] });
    for (const labels of series) metric.inc(labels, 0);
    return metric;
  }
}

/**
 * Resets a metric, and returns its series, which the caller sets at once: if others could read the metrics meanwhile,
 * they would miss the series, or count twice.
 */
function samplesOf(metric: Gauge | Counter, series: Series): readonly Sample[] {
  metric.reset();
  if (typeof series === "number") return [[series]];
  const samples = series ?? [];
  // A reset metric without labels reads 0, so its series is removed.
  if (samples.length === 0) metric.remove({});
  return samples;
}

/** A label value and its count. */
export interface Counted {
  /** The label's value. */
  readonly name: string;
  readonly count: number;
}

/** Returns a counter's nonzero series by the value of one label, highest count first. */
export async function countsOf<L extends string>(metric: Counter<L>, label: L): Promise<Counted[]> {
  const { values } = await metric.get();
  return values
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => ({ name: String(labels[label]), count: value }))
    .sort((a, b) => b.count - a.count);
}
