/** Formats a time as `HH:MM:SS.mmm`, with the separator before the milliseconds that the format requires. */
export function subtitleTime(milliseconds: number, sign: "," | "."): string {
  const pad = (value: number, digits: number) => String(Math.floor(value)).padStart(digits, "0");
  const seconds = Math.floor(milliseconds / 1000);
  return `${pad(seconds / 3600, 2)}:${pad((seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}${sign}${pad(milliseconds % 1000, 3)}`;
}
