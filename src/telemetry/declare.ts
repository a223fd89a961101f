import { Counter, Gauge, type Registry } from "prom-client";

type Labels<L extends string> = Readonly<Record<L, string>>;

export interface Sample<L extends string> {
  readonly labels: Labels<L>;
  readonly value: number;
}

/** Registers a gauge without labels. `read` is called when the metrics are read; null leaves the gauge out. */
export function gauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | null | Promise<number | null>,
): void {
  labelledGauge(registry, name, help, [], async () => {
    const value = await read();
    return value === null ? [] : [{ labels: {}, value }];
  });
}

/** Registers a gauge with labels. `read` is called when the metrics are read; it returns all series that exist then. */
export function labelledGauge<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly L[],
  read: () => readonly Sample<L>[] | Promise<readonly Sample<L>[]>,
): void {
  const metric = new Gauge<L>({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      const samples = await read();
      metric.reset();
      // A reset gauge without labels reads 0, so its series is removed.
      if (samples.length === 0) metric.remove({});
      for (const { labels, value } of samples) metric.set(labels, value);
    },
  });
}

/** Registers a counter whose values are read with the metrics. `read` returns all series that exist then. */
export function readCounter<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly L[],
  read: () => readonly Sample<L>[],
): void {
  const metric = new Counter<L>({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      metric.reset();
      for (const { labels, value } of read()) metric.inc(labels, value);
    },
  });
}

/** Registers a counter. @param series the series that start at 0, so that Prometheus sees their first increase */
export function counter<L extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly L[] = [],
  series: readonly Labels<L>[] = [],
): Counter<L> {
  const metric = new Counter<L>({ name, help, labelNames, registers: [registry] });
  for (const labels of series) metric.inc(labels, 0);
  return metric;
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
