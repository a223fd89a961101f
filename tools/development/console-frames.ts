// Measures frame times while a transcript of 10,000 segments is scrolled: bun tools/development/console-frames.ts
// The browser renders without a GPU, so frames take longer than on a user's machine.
import { chromium as driver } from "playwright-core";
import { fill } from "../../harness/filled-console.ts";
import { TestServer } from "../../harness/server.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { chromium } from "../shared/chromium.ts";

/** Pixels scrolled per frame. */
const speeds = [20, 60, 200, 1_000];
const frames = 240;

/** Runs in the page: scrolls it and records when frames start and how long each keeps the page busy. */
const measuring = (speed: number) => `new Promise((resolve) => {
  const between = [];
  const work = [];
  let last = performance.now();
  const channel = new MessageChannel();
  let begun = last;
  channel.port1.onmessage = () => work.push(performance.now() - begun);
  const step = (now) => {
    between.push(now - last);
    last = now;
    begun = performance.now();
    scrollBy(0, ${speed});
    channel.port2.postMessage(null);
    if (between.length < ${frames}) requestAnimationFrame(step);
    else resolve({ between: between.slice(2), work, elements: document.querySelectorAll("main *").length });
  };
  requestAnimationFrame(step);
})`;

const found = await chromium(defaultCacheRoot(), console.log);
if (found === null) process.exit(1);
await using server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
const { longId } = fill(server.dataDirectory);
await server.start(false);
const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
const browser = await driver.launch({
  executablePath: found.executablePath,
  env: { ...Object.fromEntries(inherited), ...found.environment },
});
const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
await page.goto((await server.cli("console")).stdout.trim());
await page.getByRole("navigation").waitFor();
await page.goto(`${server.origin}/console/#/recordings/${longId}`);
await page.locator(".transcribed:not(.unloaded)").first().waitFor();
for (const speed of speeds) {
  const { between, work, elements } = await page.evaluate<Measured>(measuring(speed));
  console.log(
    `${speed} pixels per frame: ${shown(between, 0.5)} ms between frames, 99 % within ${shown(between, 0.99)}; ` +
      `busy for ${shown(work, 0.5)} ms, 95 % within ${shown(work, 0.95)}; ${elements} elements in the page`,
  );
}
await browser.close();

interface Measured {
  /** Milliseconds from one frame to the next. */
  readonly between: readonly number[];
  /** Milliseconds of work per frame. */
  readonly work: readonly number[];
  readonly elements: number;
}

function shown(times: readonly number[], share: number): string {
  const ordered = [...times].sort((one, other) => one - other);
  return (ordered[Math.floor(ordered.length * share)] ?? 0).toFixed(1);
}
