import { LINEAR_SHARE, type ScaleFigures, type ScaleRow } from "./scale-rows.ts";

/** Sizes in pixels. */
const PANEL = { width: 300, height: 190 };
const MARGIN = { left: 52, top: 62, right: 16, bottom: 54 };
/** The axis shows at least this share of the reference's speed, and its labels are a quarter of it apart. */
const TOP_SHARE = 1.25;
const LABEL_SHARE = 0.25;
/** Distinguishable also without colour: the series have their own markers. */
const COLOURS: Readonly<Record<ScaleFigures["by"], string>> = { "real models": "#1f5fa8", simulated: "#c2570c" };

const KEY = "Circles, blue: real models. Squares, orange: simulated devices. Grey band: within 5 % of the reference.";

/** Returns a chart of the speed of each device as SVG, with one panel for each group. */
export function scaleChart(rows: readonly ScaleRow[], heading: string): string {
  const groups = [...Map.groupBy(rows, ({ group }) => group)];
  const top = Math.max(TOP_SHARE, Math.ceil(Math.max(...rows.map(({ share }) => share)) / LABEL_SHARE) * LABEL_SHARE);
  const step = PANEL.width + MARGIN.left + MARGIN.right;
  const [width, height] = [step * groups.length, PANEL.height + MARGIN.top + MARGIN.bottom];
  const panels = groups.map(([group, own], index) => panel(group, own, top, MARGIN.left + index * step));
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12" role="img">`,
    `<title>Speed of each thread or device as loads grow</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(MARGIN.left, 18, `Speed of each thread or device, in percent of the reference. ${heading}`, "start"),
    text(MARGIN.left, 36, KEY, "start"),
    ...panels,
    "</svg>",
  ].join("\n")}\n`;
}

function panel(group: string, rows: readonly ScaleRow[], top: number, left: number): string {
  const series = [...Map.groupBy(rows, ({ by }) => by)];
  const labels = [...new Set(rows.map(labelOf))];
  const x = (row: ScaleRow) => left + ((labels.indexOf(labelOf(row)) + 0.5) / labels.length) * PANEL.width;
  const y = (share: number) => MARGIN.top + (1 - share / top) * PANEL.height;
  const bottom = MARGIN.top + PANEL.height;
  const [from, to] = [y(1 + LINEAR_SHARE), y(1 - LINEAR_SHARE)];
  const lines = [`<rect x="${left}" y="${at(from)}" width="${PANEL.width}" height="${at(to - from)}" fill="#dddddd"/>`];
  for (let share = 0; share <= top; share += LABEL_SHARE) {
    const [height, end] = [at(y(share)), left + PANEL.width];
    lines.push(`<line x1="${left}" y1="${height}" x2="${end}" y2="${height}" stroke="#cccccc"/>`);
    lines.push(text(left - 6, y(share) + 4, `${Math.round(100 * share)} %`, "end"));
  }
  for (const [index, label] of labels.entries()) {
    lines.push(text(left + ((index + 0.5) / labels.length) * PANEL.width, bottom + 18, label, "middle"));
  }
  lines.push(text(left + PANEL.width / 2, bottom + 40, group, "middle"));
  for (const [by, own] of series) {
    const points = own.map((row) => `${at(x(row))},${at(y(row.share))}`).join(" ");
    lines.push(`<polyline points="${points}" fill="none" stroke="${COLOURS[by]}" stroke-width="2"/>`);
    for (const row of own) lines.push(marker(by, x(row), y(row.share)));
  }
  return lines.join("\n");
}

/** Returns the place of a load on the axis, which loads of the same size in both series share. */
function labelOf({ group, load, devices }: ScaleRow): string {
  if (group === "devices") return String(devices);
  // The length of one recording, without their number.
  return load.split(" × ").at(-1) ?? load;
}

function marker(by: ScaleFigures["by"], x: number, y: number): string {
  if (by === "real models") return `<circle cx="${at(x)}" cy="${at(y)}" r="4" fill="${COLOURS[by]}"/>`;
  return `<rect x="${at(x - 4)}" y="${at(y - 4)}" width="8" height="8" fill="${COLOURS[by]}"/>`;
}

function text(x: number, y: number, content: string, anchor: "start" | "middle" | "end"): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}" fill="#222222">${escaped}</text>`;
}

function at(value: number): string {
  return value.toFixed(1);
}
