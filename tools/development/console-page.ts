// Looks at the console in a headless browser:
//   bun tools/development/console-page.ts frames    measures frame times while 10,000 segments are scrolled; the browser
//                                                   renders without a GPU, so frames take longer than on a user's machine
//   bun tools/development/console-page.ts picture   transcribes the bundled recording and writes docs/console.png
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { chromium as driver, type Page } from "playwright-core";
import { root, samplePath } from "../../harness/checkout.ts";
import { fill } from "../../harness/filled-console.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
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

const [what] = process.argv.slice(2);
if (what !== "frames" && what !== "picture") throw new Error("usage: console-page.ts frames | picture");
const found = await chromium(defaultCacheRoot(), console.log);
if (found === null) process.exit(1);
await using server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
const filled = what === "frames" ? fill(server.dataDirectory) : null;
await server.start(what === "picture");
const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
const browser = await driver.launch({
  executablePath: found.executablePath,
  env: { ...Object.fromEntries(inherited), ...found.environment },
});
const page = await browser.newPage({ viewport: { width: 1280, height: what === "frames" ? 860 : 720 } });
await page.goto((await server.cli("console")).stdout.trim());
await page.getByRole("navigation").waitFor();
if (filled === null) await takePicture(page);
else await measureFrames(page, filled.longId);
await browser.close();

/** Opens a recording and waits until its transcript is shown. */
async function open(page: Page, id: string): Promise<void> {
  await page.goto(`${server.origin}/console/#/recordings/${id}`);
  await page.locator(".transcribed:not(.unloaded)").first().waitFor();
}

async function measureFrames(page: Page, id: string): Promise<void> {
  await open(page, id);
  for (const speed of speeds) {
    const { between, work, elements } = await page.evaluate<Measured>(measuring(speed));
    console.log(
      `${speed} pixels per frame: ${shown(between, 0.5)} ms between frames, 99 % within ${shown(between, 0.99)}; ` +
        `busy for ${shown(work, 0.5)} ms, 95 % within ${shown(work, 0.95)}; ${elements} elements in the page`,
    );
  }
}

/** Writes the picture of the README: the page of a real transcript with its player. */
async function takePicture(page: Page): Promise<void> {
  const client = server.client("sales");
  using folder = temporaryDirectory();
  const recording = join(folder.path, "A call from New Jersey.wav");
  copyFileSync(samplePath("sample.wav"), recording);
  const { id } = await client.create(recording);
  await client.waitUntilEnded(id);
  await open(page, id);
  // The playback copy is made after the transcript.
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  await page.screenshot({ path: join(root, "docs/console.png"), animations: "disabled" });
}

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
