const units = ["bytes", "KB", "MB", "GB", "TB", "PB"] as const;

/** Formats a size for people: 412 MB, 1.5 GB. */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Formats memory for people, in the units in which containers and services limit it: 400 MiB, 1.5 GiB. */
export function memorySize(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  if (mebibytes < 1023.5) return `${Math.round(mebibytes)} MiB`;
  const gibibytes = mebibytes / 1024;
  return `${gibibytes < 9.95 ? gibibytes.toFixed(1) : Math.round(gibibytes)} GiB`;
}

/** Formats a time's day in UTC: 2026-11-23. @param time milliseconds since the epoch */
export function utcDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Formats a number with its noun: "1 file", "3 files". */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
