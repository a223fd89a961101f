import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { createLink } from "../../../src/console/index.ts";
import { ConsoleServer } from "../../support/console.ts";
import { faultsOf, found, openBrowser, openPage, overhangOf } from "./browser.ts";

/** A figure and its unit: a number, perhaps with a sign, and the next word. */
const figures = String.raw`[\d.,]+[×%]?\s(?:bytes?|[kMGT]B|secs?|mins?|hrs?|days?|minutes?|slots?|lanes?|recordings?|queued|requests|speakers?|real\stime)`;

/** Returns the figures of the page, and those of them that are on two lines. */
async function figuresOf(page: Page): Promise<{ readonly all: string[]; readonly broken: string[] }> {
  return await page.evaluate((pattern) => {
    const all: string[] = [];
    const broken: string[] = [];
    const walker = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      for (const { 0: text, index } of (node.nodeValue ?? "").matchAll(new RegExp(pattern, "g"))) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + text.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size === 0) continue;
        all.push(text);
        if (lines.size > 1) broken.push(text);
      }
    }
    return { all, broken };
  }, figures);
}

describe.if(found !== null)("the figures of the console in a browser", () => {
  const server = new ConsoleServer();
  const browser = openBrowser();
  let page: Page;
  let recordingId = "";
  beforeAll(async () => {
    // The day of the recordings does not end during the tests.
    server.api.advance(0);
    const { engine } = server.api.appOptions.metrics;
    const step = (name: "decode" | "transcribe" | "detect" | "diarize" | "finalize", seconds: number, audio: number) =>
      engine.stepDone({ step: name, device: "cpu", seconds, audioSeconds: audio });
    step("decode", 0.05, 120);
    step("detect", 0, 120);
    step("transcribe", 40, 2);
    step("diarize", 3.75, 120);
    step("finalize", 0.012, 120);
    const texts = Array.from({ length: 120 }, (_, index) => `Sentence ${index}.`);
    recordingId = await server.enterSaid("acme", texts);
    const { id } = server.api.account("acme");
    for (let count = 0; count < 3; count++) server.api.enterProcessing(id);
    page = await openPage(await browser.context());
    const { token } = createLink(server.api.store, server.api.operator());
    await page.goto(`${server.origin}/console/#enter=${token}`);
    await page.getByRole("heading", { name: "Since the server started" }).waitFor();
  }, 60_000);
  afterAll(() => server[Symbol.dispose]());

  test("show no speed of a step without audio or time, and no senseless extreme", async () => {
    const section = page.locator("section", { has: page.getByRole("heading", { name: "Speed" }) });
    const entries = await section.locator("dl > div").allTextContents();
    expect(entries.map((text) => text.replaceAll("\u00a0", " "))).toEqual([
      "Decoding cpuover 1,000× real time",
      "Transcription cpu0.05× real time",
      "Speaker diarization cpu32× real time",
      "Parts transcribed at once2",
      "Parts waiting3",
      "Slots of the decoder2",
      "Rows in each step of the decoder6.1",
      "Live sessions0 of 4",
    ]);
  });

  test.each<[string, () => string, string, RegExp]>([
    ["the overview with recordings in progress", () => "#/", "Queued and processing", /\d\srecordings.*real\stime.*GB/],
    ["the list of recordings", () => "#/recordings", "interview", /^/],
    ["a recording", () => `#/recordings/${recordingId}`, "Sentence 0.", /./],
    ["accounts", () => "#/accounts", "requests per minute", /requests/],
  ])(
    "are not separated from their units on any width: %s",
    async (_, hash, text, expected) => {
      await page.goto(`${server.origin}/console/${hash()}`);
      await page.getByText(text).first().waitFor();
      const { all } = await figuresOf(page);
      expect(all.join()).toMatch(expected);
      const faults: string[] = [];
      for (let width = 320; width <= 1280; width += 30) {
        await page.setViewportSize({ width, height: 860 });
        const { broken } = await figuresOf(page);
        faults.push(...broken.map((figure) => `${figure} at ${width} pixels`));
        const overhang = await overhangOf(page);
        if (overhang > 0) faults.push(`${overhang} pixels too wide at ${width}`);
      }
      expect(faults).toEqual([]);
      expect(await faultsOf(page)).toEqual([]);
    },
    120_000,
  );

  test("are not separated from their units in the heading after the work of a day", async () => {
    for (const id of server.api.recordings.open.list().processing.map((each) => each.id)) {
      server.api.recordings.fail(id, { reason: "no_speech" });
    }
    await page.goto(`${server.origin}/console/#/`);
    await page.reload();
    const heading = page.getByRole("heading", { level: 1, name: /All recordings processed: 2 mins of audio/ });
    await heading.waitFor();
    const faults: string[] = [];
    for (let width = 320; width <= 1280; width += 10) {
      await page.setViewportSize({ width, height: 860 });
      faults.push(...(await figuresOf(page)).broken.map((figure) => `${figure} at ${width} pixels`));
    }
    expect(faults).toEqual([]);
  }, 120_000);
});
