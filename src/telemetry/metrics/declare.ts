import { Counter, Gauge, type Registry } from "prom-client";

interface Declared {
  readonly name: string;
  readonly help: string;
}

/** Registers a gauge without labels. `ask` is called when the metrics are read; null leaves the gauge out. */
export function askedGauge(
  registry: Registry,
  declared: Declared,
  ask: () => number | null | Promise<number | null>,
): void {
  labelledGauge(registry, { ...declared, labelNames: [] }, async () => {
    const value = await ask();
    return value === null ? [] : [{ labels: {}, value }];
  });
}

export interface Sample<L extends string> {
  readonly labels: Readonly<Record<L, string>>;
  readonly value: number;
}

/**
 * Registers a gauge with labels. `ask` is called when the metrics are read; series that it no longer returns are
 * dropped.
 */
export function labelledGauge<L extends string>(
  registry: Registry,
  declared: Declared & { readonly labelNames: readonly L[] },
  ask: () => readonly Sample<L>[] | Promise<readonly Sample<L>[]>,
): void {
  const gauge = new Gauge({
    ...declared,
    labelNames: [...declared.labelNames],
    registers: [registry],
    async collect() {
      const samples = await ask();
      gauge.reset();
      // A reset gauge without labels reads 0, so its series is removed.
      if (samples.length === 0) gauge.remove({});
      for (const { labels, value } of samples) gauge.set(labels, value);
    },
  });
}

/** Registers a counter whose series all start at 0, so that Prometheus sees the first increase. */
export function closedCounter<L extends string>(
  registry: Registry,
  declared: Declared & { readonly labelNames: readonly L[] },
  series: readonly Readonly<Record<L, string>>[],
): Counter<L> {
  const counter = new Counter({ ...declared, labelNames: [...declared.labelNames], registers: [registry] });
  for (const labels of series) counter.inc(labels, 0);
  return counter;
}

/** A label value and its count. */
export interface Counted {
  /** The label's value. */
  readonly name: string;
  readonly count: number;
}

/** Returns a counter's nonzero series by the value of one label, highest count first. */
export function countsOf<L extends string>(
  { values }: { readonly values: readonly { readonly labels: Partial<Record<L, unknown>>; readonly value: number }[] },
  label: L,
): Counted[] {
  return values
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => ({ name: String(labels[label]), count: value }))
    .sort((a, b) => b.count - a.count);
}
