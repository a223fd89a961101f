import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { DataDirectory } from "../../src/storage/index.ts";
import { available, ffmpegPath, samplePath } from "../support/checkout.ts";
import { startTimeout, TestServer } from "../support/server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { faultsOf, found, openBrowser, overhangOf } from "./browser.ts";
import { type Filled, fill } from "./filled.ts";

const recording = samplePath("jfk.mp3");
const ready = found !== null && available("the console in a browser", ffmpegPath, recording);

/** What is sent is decoded, transcribed and made into a copy to listen to, beside a browser. */
const transcribedWithin = 150_000;

/** One operator's day: the tests go on from where the one before left the page. */
describe.if(ready)("an operator in a browser", () => {
  const server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
  const browser = openBrowser();
  const troubles: string[] = [];
  let filled: Filled;
  let context: BrowserContext;
  let page: Page;
  let link = "";
  const go = (hash: string) => page.goto(`${server.origin}/console/${hash}`);
  const transcript = () => page.getByRole("list", { name: "Transcript" });

  beforeAll(async () => {
    filled = fill(server.dataDirectory);
    await server.start();
    server.client("acme");
    context = await browser.context();
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    // What the page's policy refuses is told on its console.
    page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
    page.on("pageerror", (error) => troubles.push(String(error)));
    link = (await server.cli("console")).stdout.trim();
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test("signs in with the link, which is gone from the address, and works once", async () => {
    await page.goto(link);
    await page.getByRole("heading", { level: 1, name: "All done" }).waitFor();
    expect(page.url()).toBe(`${server.origin}/console/#/`);
    const other = await browser.context();
    const second = await other.newPage();
    await second.goto(link);
    await second.getByRole("alert").getByText("link").waitFor();
    expect(await second.getByRole("link", { name: "Recordings" }).count()).toBe(0);
    expect(await faultsOf(second)).toEqual([]);
    await other.close();
  });

  test("drops a recording on the page and watches it until it is through", async () => {
    const content = (await readFile(recording)).toString("base64");
    const transfer = await page.evaluateHandle((base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const dropped = new DataTransfer();
      dropped.items.add(new File([bytes], "An inaugural address.mp3", { type: "audio/mpeg" }));
      return dropped;
    }, content);
    await page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
    await page.getByText("Drop to transcribe").waitFor();
    await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
    const dialog = page.getByRole("dialog", { name: "Transcribe 1 recording" });
    await dialog.getByLabel("Account").selectOption("acme");
    await dialog.getByLabel("Language").selectOption("English");
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Send" }).click();
    const tray = page.getByRole("region", { name: "Recordings sent" });
    await tray.getByRole("link", { name: "An inaugural address" }).click();
    await page.getByRole("heading", { name: "An inaugural address" }).waitFor();
    await transcript().getByText("ask what you can do").waitFor({ timeout: transcribedWithin });
    await tray.getByRole("button", { name: "Dismiss" }).click();
  }, 180_000);

  test("drops a folder, and is asked about the recordings in it", async () => {
    using folder = temporaryDirectory();
    mkdirSync(join(folder.path, "deeper"));
    for (const name of ["one.mp3", "deeper/two.mp3"]) copyFileSync(recording, join(folder.path, name));
    for (const name of ["notes.txt", ".hidden"]) await Bun.write(join(folder.path, name), "no sound");
    const protocol = await context.newCDPSession(page);
    for (const type of ["dragEnter", "dragOver", "drop"] as const) {
      const data = { items: [], files: [folder.path, recording], dragOperationsMask: 1 };
      await protocol.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
    }
    const dialog = page.getByRole("dialog", { name: "Transcribe 3 recordings" });
    await dialog.waitFor();
    await dialog.locator(".files bdi").nth(2).waitFor();
    expect(await dialog.locator(".files bdi").allTextContents()).toEqual(["two.mp3", "one.mp3", "jfk.mp3"]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
  });

  test("hears a word that is clicked, and sees which one is said", async () => {
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    const place = await page.evaluate(() => {
      const said = [...document.querySelectorAll(".said")].find(({ textContent }) => textContent.includes("country"));
      const text = said?.firstChild;
      if (!(text instanceof Text)) throw new Error("nobody says it");
      const range = new Range();
      range.setStart(text, text.data.lastIndexOf("country"));
      range.setEnd(text, text.data.lastIndexOf("country") + 7);
      const { x, y, width, height } = range.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    });
    // It is said in less time than a slow machine takes to look.
    await Promise.all([
      page.waitForFunction(() => {
        const [range] = CSS.highlights.get("playing") ?? [];
        return range instanceof Range && range.toString().includes("country");
      }),
      page.getByRole("button", { name: "Pause", exact: true }).waitFor(),
      page.mouse.click(place.x, place.y),
    ]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    const seconds = () => page.getByRole("slider").evaluate((slider: HTMLInputElement) => slider.valueAsNumber);
    const before = await seconds();
    expect(before).toBeGreaterThan(5);
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction((most) => {
      const slider = document.querySelector<HTMLInputElement>(".wave input");
      return slider !== null && slider.valueAsNumber < most;
    }, before - 3);
  });

  test("finds what was said", async () => {
    await page.keyboard.press("Control+f");
    await page.keyboard.type("COUNTRY");
    await page.getByText("1 of 2").first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("2 of 2").first().waitFor();
    await page.keyboard.press("Escape");
  });

  test("renames a speaker, and exports with the name", async () => {
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Speaker A").fill("The President");
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await transcript().getByText("The President").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as TXT" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("An inaugural address.txt");
    expect(await readFile(await download.path(), "utf8")).toMatch(/The President[\s\S]*your country/);
  });

  test("is told in the server's words why it took nothing", async () => {
    await go("#/recordings");
    await page.getByRole("button", { name: "Send a link" }).click();
    await page.getByLabel("Link to the recording").fill("http://127.0.0.1/secret.mp3");
    await page.keyboard.press("Enter");
    const tray = page.getByRole("region", { name: "Recordings sent" });
    await tray.getByText("address").waitFor();
    await tray.getByRole("button", { name: "Dismiss" }).click();
  });

  test("finds a recording by what is said in it, and comes to the place", async () => {
    await go("#/recordings");
    await page.getByRole("searchbox").fill("fellow americans");
    await page
      .getByRole("link", { name: /fellow Americans/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "An inaugural address" }).waitFor();
    await page.getByText("1 of 1").first().waitFor();
  });

  test("lists more recordings as the end of the list comes into sight", async () => {
    await go("#/recordings");
    const rows = page.locator(".rows > li");
    await rows.first().waitFor();
    const first = await rows.count();
    expect(first).toBeLessThan(filled.count);
    await rows.last().scrollIntoViewIfNeeded();
    // And the one that was dropped.
    await page.waitForFunction((all) => document.querySelectorAll(".rows > li").length === all, filled.count + 1);
    const names = await rows.locator(".title").allTextContents();
    expect(new Set(names).size).toBe(filled.count + 1);
    // A new one moves those below it on, out of the first page and into none that was asked for.
    await server.client("press").create(recording);
    await page.waitForFunction((all) => document.querySelectorAll(".rows > li").length === all, filled.count + 2);
    await page.getByRole("radio", { name: "Failed" }).check();
    await page.getByText("No recording fits.").waitFor();
    await page.getByRole("radio", { name: "All" }).check();
    await rows.first().waitFor();
  });

  test("makes a key, which works and is shown once, and revokes it", async () => {
    await go("#/accounts");
    const acme = page.getByRole("region", { name: "acme" });
    await acme.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("What is it for?").fill("Newsroom");
    await page.getByLabel("Delete recordings").uncheck();
    await page.getByRole("button", { name: "Make key" }).click();
    const key = await page.getByLabel("Key", { exact: true }).inputValue();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "I have kept it" }).click();
    const asked = () => fetch(`${server.baseUrl}/transcriptions`, { headers: { Authorization: `Bearer ${key}` } });
    expect((await asked()).status).toBe(200);
    expect(await page.content()).not.toContain(key);
    await acme.getByRole("button", { name: "Revoke Newsroom" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await acme.getByRole("button", { name: "Revoke Newsroom" }).waitFor({ state: "detached" });
    expect((await asked()).status).toBe(401);
  });

  test("has no more of a transcript in the page than is seen, wherever in 10,000 segments", async () => {
    await go(`#/recordings/${filled.longId}`);
    const rows = page.locator(".segment");
    await transcript().getByText("harbour").first().waitFor();
    const counts = [await rows.count()];
    for (const share of [0.3, 0.7, 1]) {
      await page.evaluate((part) => scrollTo(0, part * document.documentElement.scrollHeight), share);
      await page.waitForFunction(() => document.querySelector(".segment .said:not(.coming)") !== null);
      counts.push(await rows.count());
    }
    expect(Math.max(...counts)).toBeLessThan(90);
    expect(await page.locator("main *").count()).toBeLessThan(700);
    await page.evaluate(() => scrollTo(0, 0));
    await page.getByRole("searchbox").fill("zanzibar");
    await transcript().getByText("Zanzibar").waitFor();
    await page.waitForFunction(() => {
      const last = document.querySelector("[data-index='9999'] .said")?.getBoundingClientRect();
      return last !== undefined && last.top > 0 && last.bottom < innerHeight;
    });
  });

  test("is followed until the page is scrolled by hand, and again when asked", async () => {
    await go(`#/recordings/${filled.arabicId}`);
    await go(`#/recordings/${filled.longId}?at=30000`);
    // Segment 5,000 begins at 30,000 seconds.
    const now = page.locator("[data-index='5000'][data-now]");
    await now.waitFor();
    expect((await now.boundingBox())?.y).toBeGreaterThan(0);
    const back = page.getByRole("button", { name: "Back to what is said now" });
    expect(await back.count()).toBe(0);
    await page.mouse.move(400, 300);
    await page.mouse.wheel(0, 5_000);
    await back.click();
    await now.waitFor();
    await page.waitForFunction(() => {
      const row = document.querySelector("[data-now]")?.getBoundingClientRect();
      return row !== undefined && row.top > 0 && row.bottom < innerHeight;
    });
    expect(await back.count()).toBe(0);
  });

  test("reads a transcript from right to left where it is written so", async () => {
    await go(`#/recordings/${filled.arabicId}`);
    await transcript().getByText("الميناء").waitFor();
    const places = await page.evaluate(() => {
      const said = document.querySelector(".said");
      const text = said?.firstChild;
      if (said === null || said === undefined || !(text instanceof Text)) throw new Error("nothing is said");
      const rightOf = (from: number, to: number) => {
        const range = new Range();
        range.setStart(text, from);
        range.setEnd(text, to);
        return range.getBoundingClientRect().right;
      };
      const year = text.data.indexOf("1984");
      return {
        direction: getComputedStyle(said).direction,
        language: said.getAttribute("lang"),
        isBesideTimes:
          said.getBoundingClientRect().right < (document.querySelector(".at")?.getBoundingClientRect().left ?? 0),
        edge: Math.round(said.getBoundingClientRect().right - rightOf(0, 1)),
        isInOrder: rightOf(year + 3, year + 4) > rightOf(year, year + 1),
      };
    });
    expect(places.direction).toBe("rtl");
    expect(places.language).toBe("ar");
    expect(places.edge).toBeLessThan(20);
    expect(places.isInOrder).toBe(true);
    // The margin with the times is where the lines begin.
    expect(places.isBesideTimes).toBe(true);
  });

  test("is followed in a browser that marks no text without elements", async () => {
    const older = await context.newPage();
    await older.addInitScript("delete globalThis.Highlight");
    await older.goto(`${server.origin}/console/#/recordings/${filled.longId}?at=0.1&find=harbour`);
    await older.locator("[data-index='0'] .playing", { hasText: "We" }).waitFor();
    await older.locator("[data-index='0'] .found-now", { hasText: "harbour" }).waitFor();
    expect(await older.locator("[data-index='0'] .doubtful").allTextContents()).toEqual(["nobody"]);
    await older.close();
  });

  const screens = () => [
    ["the overview", "#/", "In hand"],
    ["all recordings", "#/recordings", "The whole day"],
    ["what was searched for", "#/recordings?q=harbour", "before sunrise"],
    ["one recording", `#/recordings/${filled.longId}?find=nobody`, "1 of"],
    ["accounts and keys", "#/accounts", "Minutes of audio today"],
  ];

  test("meets no fault that axe knows on any screen, in light and dark", async () => {
    const faults: string[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const [name, hash = "", text = ""] of screens()) {
        await go(hash);
        await page.getByText(text).first().waitFor();
        faults.push(...(await faultsOf(page)).map((fault) => `${name}, ${colorScheme}: ${fault}`));
      }
    }
    expect(faults).toEqual([]);
  }, 300_000);

  test("scrolls no screen sideways on a phone, nor at 200 % zoom", async () => {
    const wide: string[] = [];
    // At 200 % a window of 1280 by 800 has half as many of the page's pixels.
    for (const [width, height] of [
      [360, 740],
      [640, 400],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const [name, hash = "", text = ""] of screens()) {
        await go(hash);
        await page.getByText(text).first().waitFor();
        if ((await overhangOf(page)) > 0) wide.push(`${name} at ${width} pixels`);
      }
    }
    await page.setViewportSize({ width: 1280, height: 860 });
    expect(wide).toEqual([]);
  });

  test("works with the keyboard alone", async () => {
    await go("#/");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
    expect(await focused()).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Shift+Tab");
    await page.getByRole("link", { name: "Accounts and keys" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Accounts and keys" }).waitFor();
    // A new screen is begun at its beginning.
    await page.waitForFunction(() => document.activeElement?.id === "main");
    expect(await page.evaluate(() => scrollY)).toBe(0);
    expect(await page.title()).toBe("Accounts and keys – Transcribe");
    const opener = page.getByRole("region", { name: "acme" }).getByRole("button", { name: "New key" });
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  test("deletes a recording once that was asked twice", async () => {
    await go(`#/recordings/${filled.arabicId}`);
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Recordings" }).waitFor();
    await page.getByText("The whole day").waitFor();
    expect(await page.getByRole("link", { name: "حديث الميناء" }).count()).toBe(0);
  });

  test("sends a recording again whose connection was cut, and hears one again whose sound was", async () => {
    const other = await context.newPage();
    other.setDefaultTimeout(20_000);
    const cut = { uploads: "**/data/recordings?*", sound: "**/data/recordings/*/audio" };
    await other.route(cut.uploads, (route) => route.abort());
    await other.goto(`${server.origin}/console/#/recordings`);
    await other.locator("input[type=file]").setInputFiles(recording);
    await other.getByRole("dialog").getByRole("button", { name: "Send" }).click();
    const tray = other.getByRole("region", { name: "Recordings sent" });
    await tray.getByText("The connection was lost").waitFor();
    await other.unroute(cut.uploads);
    await tray.getByRole("button", { name: "Try again" }).click();
    await other.route(cut.sound, (route) => route.abort());
    await tray.getByRole("link", { name: "jfk" }).click();
    await other.getByRole("alert").getByText("can't be played").waitFor();
    await other.unroute(cut.sound);
    await other.getByRole("alert").getByRole("button", { name: "Try again" }).click();
    await other.getByRole("button", { name: "Play", exact: true }).waitFor({ timeout: transcribedWithin });
    // Retention takes it while somebody looks at it.
    await other.route(cut.sound, (route) => route.abort());
    await other.reload();
    await other.getByRole("alert").getByText("can't be played").waitFor();
    await new DataDirectory(server.dataDirectory)
      .filesOf(new URL(other.url()).hash.split("/").at(-1) ?? "")
      .removeAll();
    await other.getByRole("alert").getByRole("button", { name: "Try again" }).click();
    await other.getByText("no longer stored").waitFor();
    await other.close();
  }, 180_000);

  test("signs out, and sees nothing from then on", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You have signed out.").waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Sign in with a link" }).waitFor();
    expect(await page.getByText("The whole day").count()).toBe(0);
    // Asking who is signed in is answered with 401, the link that is not fetched with 422; browsers call both errors.
    expect(troubles.filter((trouble) => !/status of (401|422)/.test(trouble))).toEqual([]);
  });
});
