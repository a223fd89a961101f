import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { BrowserContext, Page } from "playwright-core";
import { available, samplePath } from "../../../harness/checkout.ts";
import { createLink } from "../../../src/console/index.ts";
import { fakeMicrophone } from "../../../tools/shared/chromium.ts";
import { ConsoleServer } from "../../support/console.ts";
import { faultsOf, found, openBrowser, openPage, overhangOf } from "./browser.ts";

setDefaultTimeout(60_000);

const ready = found !== null && available("live sessions in a browser", samplePath("sample.wav"));

/** Opens the console's page for live sessions as an operator. */
async function openLive(server: ConsoleServer, context: BrowserContext, errors: string[] = []): Promise<Page> {
  const page = await openPage(context, errors);
  // The page asks before it is left while a session runs.
  page.on("dialog", (dialog) => void dialog.accept());
  const { token } = createLink(server.api.store, server.api.operator());
  await page.goto(`${server.origin}/console/#enter=${token}`);
  await page.getByRole("link", { name: "Live" }).click();
  await page.getByRole("heading", { level: 1, name: "Live" }).waitFor();
  return page;
}

const start = (page: Page) => page.getByRole("button", { name: "Start" }).click();
const listening = (page: Page) => page.getByText("Listening", { exact: true }).waitFor();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** The tests share one page: each continues where the previous one left it. */
describe.if(ready)("a live session in a browser", () => {
  const server = new ConsoleServer();
  const browser = openBrowser(fakeMicrophone(samplePath("sample.wav")));
  const errors: string[] = [];
  let context: BrowserContext;
  let page: Page;
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await page.waitForTimeout(10);
  };
  const words = () => page.getByRole("region", { name: "Words" });

  beforeAll(async () => {
    server.api.account("acme");
    server.api.account("other");
    context = await browser.context();
    page = await openLive(server, context, errors);
  });
  afterAll(() => server[Symbol.dispose]());

  test("starts for the chosen account and language, and sends the sound of the microphone", async () => {
    await page.getByLabel("Account").selectOption("other");
    await page.getByLabel("Language").selectOption("German");
    await page.getByLabel("Names and terms").fill("Leverrier");
    await page.getByLabel("Name of the recording").fill("A call");
    expect(await faultsOf(page)).toEqual([]);
    await start(page);
    await listening(page);
    const { options, sender } = server.live.last;
    expect(options).toMatchObject({ language: "de", prompt: "Leverrier", name: "A call", keep: true });
    expect([options.format.encoding, sender.account.name]).toEqual(["pcm16", "other"]);
    await until(() => server.live.last.receivedSeconds > 1 && server.live.last.peak > 1000);
  });

  test("shows words as they come: those that may change dim, the final ones by turn and speaker with times", async () => {
    const session = server.live.last;
    const turn = session.begin();
    session.guess(turn, "Good mourning");
    await words().locator(".partial").getByText("Good mourning").waitFor();
    session.settle(turn, "Good morning.");
    session.guess(turn, "Shall we");
    await words().getByText("Good morning. Shall we").waitFor();
    session.settle(turn, "Shall we begin?");
    session.complete(turn);
    session.say("Yes.", "S2");
    session.recognize("S1", 0, 1);
    await words().getByText("Speaker 1").waitFor();
    expect(await words().locator(".segment").allTextContents()).toEqual([
      "Speaker 10:00Good morning. Shall we begin?",
      "Speaker 20:04Yes.",
    ]);
    // A screen reader hears the final words alone.
    const latest = page.getByRole("log", { name: "Latest words" });
    expect(await latest.locator("p").allTextContents()).toEqual(["Good morning.", "Shall we begin?", "Yes."]);
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await faultsOf(page)).toEqual([]);
    }
  });

  test("names a speaker in the page and in the session", async () => {
    await button(page, "Speaker 2").click();
    await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Anna");
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await button(page, "Anna").waitFor();
    await until(() => server.live.last.names.S2 === "Anna");
  });

  test("sends nothing while it is paused, and goes on afterwards", async () => {
    await button(page, "Pause").click();
    await page.getByText("Paused", { exact: true }).waitFor();
    // What was on its way arrives before the answer to a later request.
    await page.evaluate(() => fetch("../console/data/session"));
    const before = server.live.last.receivedBytes;
    for (let round = 0; round < 20; round++) await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(server.live.last.receivedBytes).toBe(before);
    await button(page, "Resume").click();
    await until(() => server.live.last.receivedBytes > before);
  });

  test("continues while the user visits another screen", async () => {
    await page.getByRole("link", { name: "Recordings" }).click();
    await page.getByRole("heading", { level: 1, name: "Recordings" }).waitFor();
    const before = server.live.last.receivedBytes;
    await until(() => server.live.last.receivedBytes > before);
    await page.getByRole("link", { name: "Live A live session is running" }).click();
    await words().getByText("Good morning.").waitFor();
  });

  test("continues after the connection was lost, without a gap and with the words of meanwhile", async () => {
    const session = server.live.last;
    await context.setOffline(true);
    await page.getByText("Connection lost").waitFor();
    await until(() => !session.isAttached);
    const before = session.receivedSeconds;
    session.settle("missed", "Nobody heard this.", "S2");
    const seconds = await page.locator(".live-bar .time").textContent();
    await page.waitForFunction((text) => document.querySelector(".live-bar .time")?.textContent !== text, seconds);
    await context.setOffline(false);
    await listening(page);
    await words().getByText("Nobody heard this.").waitFor();
    await until(() => session.receivedSeconds > before + 1);
    expect(server.live.all.length).toBe(1);
  });

  test("continues after a restart of the server", async () => {
    await server.api.restart();
    server.live.last.detach();
    await page.getByText("Connection lost").waitFor();
    await listening(page);
    expect([server.live.all.length, server.live.last.isAttached]).toEqual([1, true]);
  });

  test("can be continued after the page was loaded again, with its words and names", async () => {
    await page.reload();
    await page.getByText("still open").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await button(page, "Continue it").click();
    await listening(page);
    await words().getByText("Good morning.").waitFor();
    await button(page, "Anna").waitFor();
    expect([server.live.all.length, server.live.last.isAttached]).toEqual([1, true]);
    const before = server.live.last.receivedBytes;
    await until(() => server.live.last.receivedBytes > before);
  });

  test("fits on a phone, follows new words until the user scrolls, and returns by a button", async () => {
    await page.setViewportSize({ width: 360, height: 640 });
    const session = server.live.last;
    for (let turn = 0; turn < 30; turn++) session.say(`This is sentence number ${turn}.`, `S${1 + (turn % 3)}`);
    await page.getByText("sentence number 29.").last().waitFor();
    const isAtEnd = () =>
      page.waitForFunction(() => {
        const { scrollHeight, clientHeight } = document.documentElement;
        return scrollHeight - clientHeight - scrollY < 2;
      });
    await isAtEnd();
    expect([await overhangOf(page), await faultsOf(page)]).toEqual([0, []]);
    await page.mouse.wheel(0, -900);
    await button(page, "Back to the latest words").waitFor();
    const top = await page.evaluate(() => scrollY);
    session.say("A word that nobody sees.");
    await words().getByText("nobody sees").waitFor({ state: "attached" });
    expect(await page.evaluate(() => scrollY)).toBe(top);
    await button(page, "Back to the latest words").click();
    await isAtEnd();
    for (const name of ["Pause", "End"]) {
      const box = await button(page, name).boundingBox();
      expect(box?.height).toBeGreaterThanOrEqual(44);
    }
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  test("renders only the turn that changes, however long the session is", async () => {
    const session = server.live.last;
    for (let turn = 0; turn < 500; turn++) session.say(`Turn ${turn}.`, "S1");
    await words().getByText("Turn 499.").waitFor();
    await page.evaluate(() => {
      const seen = { nodes: new Set<Node>() };
      Object.assign(window, { seen });
      const region = document.querySelector(".live-words");
      if (region === null) throw new Error("there are no words");
      new MutationObserver((changes) => {
        for (const { target } of changes) seen.nodes.add(target);
      }).observe(region, { subtree: true, childList: true, characterData: true, attributes: true });
    });
    const turn = session.begin();
    for (const text of ["One", "One two", "One two three"]) session.guess(turn, text);
    await words().getByText("One two three").waitFor();
    expect(await page.evaluate("[...seen.nodes].filter((node) => node.textContent.includes('Turn 5.')).length")).toBe(
      0,
    );
    session.settle(turn, "One two three.", "S1");
    session.complete(turn);
  });

  test("copies its text", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await button(page, "Copy text").click();
    await page.getByText("The text was copied.").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied.split("\n").slice(0, 2)).toEqual([
      "[0:00] Speaker 1: Good morning. Shall we begin?",
      "[0:04] Anna: Yes. Nobody heard this.",
    ]);
  });

  test("leads to its recording when it ends", async () => {
    const session = server.live.last;
    session.recordingId = server.api.enterProcessing(session.sender.account.id, { sourceName: "A call" });
    await button(page, "End").click();
    await page.getByText("The session has ended.").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("link", { name: "Open the recording" }).click();
    await page.getByRole("heading", { level: 1, name: "A call" }).waitFor();
    // The browser logs that it was offline, and that the server restarted.
    expect(errors.filter((error) => !/net::ERR_/.test(error))).toEqual([]);
  });

  test("ends when the server ends it, with the reason in words, and another one can begin", async () => {
    await page.getByRole("link", { name: "Live" }).click();
    await button(page, "New session").click();
    await page.getByLabel("Keep the recording").uncheck();
    await start(page);
    await listening(page);
    server.live.last.isOver = true;
    server.live.last.report({ type: "ended", reason: "audio_used_up", recordingId: null });
    await page.getByText("used up its audio minutes").waitFor();
    await page.getByText("Neither sound nor text is kept on the server.").waitFor();
    await button(page, "New session").click();
  });

  test.each(["Sound of a tab or of this computer", "Microphone, and a tab or this computer"])(
    "records what the user shares: %s",
    async (source) => {
      await page.getByLabel("Sound").selectOption(source);
      await start(page);
      await listening(page);
      await until(() => server.live.last.receivedSeconds > 0.5 && server.live.last.peak > 100);
      await button(page, "End").click();
      await button(page, "New session").click();
    },
  );

  test("does not begin while all places are taken", async () => {
    server.live.refusal = { kind: "full", sessions: 4 };
    await start(page);
    await page.getByText("4 live sessions at once, and all places are taken").waitFor();
    server.live.refusal = null;
    await button(page, "New session").click();
  });

  test("ends with the sign-out", async () => {
    await start(page);
    await listening(page);
    await button(page, "Sign out").click();
    await page.getByText("You have signed out.").waitFor();
    await until(() => server.live.last.isOver);
  });
});

describe.if(ready)("a browser that gives no sound", () => {
  const name = "console.test";
  const server = new ConsoleServer({ hosts: [name] });
  const refusing = openBrowser(["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream=deny"]);
  const deaf = openBrowser(["--use-fake-ui-for-media-stream", `--host-resolver-rules=MAP ${name} 127.0.0.1`]);
  beforeAll(() => void server.api.account("acme"));
  afterAll(() => server[Symbol.dispose]());

  test("because the user refuses the microphone, leads to the message what to do", async () => {
    const page = await openLive(server, await refusing.context());
    await start(page);
    await page.getByRole("alert").getByText("does not allow this page to use the microphone").waitFor();
    expect([await faultsOf(page), server.live.all]).toEqual([[], []]);
  });

  test("because it has no microphone, says so", async () => {
    const page = await openLive(server, await deaf.context());
    await start(page);
    await page.getByRole("alert").getByText("No microphone was found").waitFor();
  });

  test("because the page was not loaded by HTTPS, says so before the start", async () => {
    const page = await openPage(await deaf.context());
    const { token } = createLink(server.api.store, server.api.operator());
    await page.goto(`${server.origin.replace("127.0.0.1", name)}/console/#enter=${token}`);
    await page.getByRole("link", { name: "Live" }).click();
    await page.getByRole("alert").getByText("by HTTPS").waitFor();
    expect(await button(page, "Start").isDisabled()).toBe(true);
  });

  test("is not offered live sessions if the settings have none", async () => {
    server.isLiveOn = false;
    const page = await openPage(await deaf.context());
    const { token } = createLink(server.api.store, server.api.operator());
    await page.goto(`${server.origin}/console/#enter=${token}`);
    await page.getByRole("link", { name: "Recordings" }).waitFor();
    expect(await page.getByRole("link", { name: "Live" }).count()).toBe(0);
    await page.goto(`${server.origin}/console/#/live`);
    await page.getByRole("heading", { level: 1, name: "Nothing to process" }).waitFor();
    server.isLiveOn = true;
  });
});
