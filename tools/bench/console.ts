import type { Page } from "playwright-core";
import { fill } from "../../harness/filled-console.ts";
import { TestServer } from "../../harness/server.ts";
import { chromium, launchChromium } from "../shared/chromium.ts";
import { defineCommand } from "../shared/command.ts";
import { quantile } from "../shared/figures.ts";
import { CommandError } from "../shared/run-command.ts";

/** Segments of a recording of 18 hours. */
const SEGMENTS = 20_000;
/** Pixels scrolled per frame. */
const speeds = [20, 200, 1_000];
const FRAMES = 240;
/** Times that each action is repeated. Figures are medians. */
const REPEATS = 7;

/** Runs in the page: scrolls it and records when frames start and how long each keeps the page busy, in milliseconds. */
const scrolling = (speed: number) => `new Promise((resolve) => {
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
    if (between.length < ${FRAMES}) requestAnimationFrame(step);
    else resolve({ between: between.slice(2), work, elements: document.querySelectorAll("main *").length });
  };
  requestAnimationFrame(step);
})`;

export const command = defineCommand({
  name: "scripts/bench console",
  about:
    `Measures the console's page in a headless browser with a transcript of ${SEGMENTS} segments, as recognized and as ` +
    "corrected. The browser renders without a GPU, so frames take longer than on a user's machine.",
  options: {},
  async run() {
    const found = await chromium(console.log);
    if (found === null) throw new CommandError("there is no browser");
    await using server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
    const { longId } = fill(server.dataDirectory, SEGMENTS);
    await server.start(false);
    const browser = await launchChromium(found);
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
      await page.goto((await server.cli("console")).stdout.trim());
      await page.getByRole("navigation").waitFor();
      const address = `${server.origin}/console/#/recordings/${longId}`;
      console.log("as recognized");
      await measureReading(page, address);
      console.log("corrections");
      await measureCorrecting(page);
      console.log("as corrected");
      await measureReading(page, address);
    } finally {
      await browser.close();
    }
  },
});

async function measureReading(page: Page, address: string): Promise<void> {
  await report("open the transcript", async () => {
    await page.goto("about:blank");
    return await timed(async () => {
      await page.goto(address);
      await page.locator(".transcribed:not(.unloaded)").first().waitFor();
    });
  });
  for (const speed of speeds) {
    await page.evaluate("scrollTo(0, 0)");
    const { between, work, elements } = await page.evaluate<{ between: number[]; work: number[]; elements: number }>(
      scrolling(speed),
    );
    console.log(
      `  scroll ${speed} pixels per frame: ${at(between, 0.5)} ms between frames, 99 % within ${at(between, 0.99)}; busy for ` +
        `${at(work, 0.5)} ms, 95 % within ${at(work, 0.95)}; ${elements} elements in the page`,
    );
  }
  const find = page.getByLabel("Find in this transcript");
  await report("find a word in the transcript, with the pause of 200 ms before it", async () => {
    const milliseconds = await timed(async () => {
      await find.fill("Zanzibar");
      await page.getByText("1 of 1", { exact: true }).waitFor();
    });
    await find.fill("");
    return milliseconds;
  });
  await report("search for words in all transcripts", () =>
    page.evaluate<number>(`(async () => {
      const begun = performance.now();
      await (await fetch("data/recordings?q=harbour+sunrise")).json();
      return performance.now() - begun;
    })()`),
  );
  await page.evaluate("scrollTo(0, 0)");
}

async function measureCorrecting(page: Page): Promise<void> {
  const field = page.locator("textarea");
  const saved = () => page.locator(".editing-bar").getByText("Saved", { exact: true }).waitFor();
  const edit = async (index: number) => {
    await page.locator(`[data-index='${index}'] p.transcribed`).focus();
    await page.keyboard.press("Enter");
    await field.waitFor();
  };
  await report("open the field of a segment", async () => {
    const milliseconds = await timed(() => edit(1));
    await page.keyboard.press("Escape");
    return milliseconds;
  });
  await edit(1);
  await report("type a character, until the next frame", async () => {
    await page.evaluate(`globalThis.frame = new Promise((resolve) => addEventListener("keydown", () => {
      const begun = performance.now();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
    }, { once: true, capture: true })); 0`);
    await page.keyboard.type("x");
    return await page.evaluate<number>("globalThis.frame");
  });
  await saved();
  await report("split a segment near the beginning, until the cursor is in its second part", async () => {
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    const before = await field.inputValue();
    const milliseconds = await timed(async () => {
      await page.keyboard.press("Enter");
      while ((await field.inputValue()) !== before.slice(1)) await Bun.sleep(1);
    });
    return milliseconds;
  });
  await report("undo it", async () => {
    await page.keyboard.press("Escape");
    return await timed(async () => {
      await page.keyboard.press("Control+z");
      await saved();
    });
  });
}

async function report(action: string, measure: () => Promise<number>): Promise<void> {
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) times.push(await measure());
  console.log(`  ${action}: ${at(times, 0.5)} ms, at most ${at(times, 1)}`);
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}

function at(times: readonly number[], share: number): string {
  return quantile(times, share).toFixed(1);
}
