import { Counter, Gauge, type Registry } from "prom-client";

interface Declared {
  readonly name: string;
  readonly help: string;
}

/** A gauge without labels, asked for when the metrics are read; null leaves it out. */
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

/** A gauge with labels, asked for when the metrics are read; a series that is not told any more is gone. */
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
      // A reset gauge without labels reads 0, which is not the same as nothing.
      if (samples.length === 0) gauge.remove({});
      for (const { labels, value } of samples) gauge.set(labels, value);
    },
  });
}

/** A counter whose series all begin at 0, so that the first increase is seen as one. */
export function closedCounter<L extends string>(
  registry: Registry,
  declared: Declared & { readonly labelNames: readonly L[] },
  series: readonly Readonly<Record<L, string>>[],
): Counter<L> {
  const counter = new Counter({ ...declared, labelNames: [...declared.labelNames], registers: [registry] });
  for (const labels of series) counter.inc(labels, 0);
  return counter;
}

/** How often something was counted. */
export interface Counted {
  /** The label's value. */
  readonly name: string;
  readonly count: number;
}

/** A counter's series by one label, none that is 0, the highest first. */
export function countsOf<L extends string>(
  { values }: { readonly values: readonly { readonly labels: Partial<Record<L, unknown>>; readonly value: number }[] },
  label: L,
): Counted[] {
  return values
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => ({ name: String(labels[label]), count: value }))
    .sort((a, b) => b.count - a.count);
}
