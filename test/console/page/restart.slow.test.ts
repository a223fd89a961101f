import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Filled, fill } from "../../../harness/filled-console.ts";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { setPassword } from "../../../src/console/index.ts";
import { openDatabaseOf } from "../../../src/database/index.ts";
import { DataDirectory } from "../../../src/storage/index.ts";
import { tinyRecognizer } from "../../support/tiny-recognizer.ts";
import { found, openBrowser, openPage } from "./browser.ts";

const password = "correct horse battery";

/** One page, before the server is killed and after it was started again. */
describe.if(found !== null)("a page that is open while the server restarts", () => {
  const server = new TestServer({ ...tinyRecognizer(), TRANSCRIBE_CONSOLE_ENABLED: "true" });
  const browser = openBrowser();
  let filled: Filled;
  let page: Page;
  const go = (hash: string) => page.goto(`${server.origin}/console/${hash}`);
  const alert = () => page.getByRole("alert").filter({ hasText: "cannot be reached" });

  beforeAll(async () => {
    filled = fill(server.dataDirectory);
    const store = openDatabaseOf(new DataDirectory(server.dataDirectory));
    await setPassword(store, password, { actor: "test", now: Date.now() });
    store.$client.close();
    await server.start(false);
    page = await openPage(await browser.context());
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test("accepts only the operator's password", async () => {
    await go("");
    const field = page.getByLabel("Operator's password");
    await field.fill("wrong horse battery");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("not the operator's password").waitFor();
    await field.fill(password);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Recordings" }).click();
    await page.getByText("The whole day").waitFor();
  });

  test("closes its connection while it is hidden, because a browser has six for all its windows", async () => {
    const show = (state: string) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "visibilityState", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, state);
    const isOfEvents = (request: { url(): string }) => request.url().endsWith("/data/events");
    await Promise.all([page.waitForEvent("requestfailed", isOfEvents), show("hidden")]);
    await Promise.all([page.waitForEvent("request", isOfEvents), show("visible")]);
  });

  test("requests more recordings only once while the server is down", async () => {
    await server.killHard();
    const asked: string[] = [];
    page.on("request", (request) => request.url().includes("cursor=") && asked.push(request.url()));
    await page.getByRole("button", { name: "Show more" }).scrollIntoViewIfNeeded();
    await alert().waitFor();
    // Gives repeated requests 30 frames of time.
    await page.evaluate(async () => {
      for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame);
    });
    expect(asked).toHaveLength(1);
    await server.restartOnSamePort();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.waitForFunction((all) => document.querySelectorAll(".rows > li").length === all, filled.count);
  });

  test("shows on every screen that the server cannot be reached", async () => {
    await server.killHard();
    await go("#/");
    await page.getByText("The connection is lost").waitFor();
    for (const hash of [`#/recordings/${filled.longId}`, "#/accounts", "#/recordings"]) {
      await go(hash);
      await alert().waitFor();
    }
    expect(await page.getByText("There are no recordings yet").count()).toBe(0);
  });

  test("reconnects by itself and stays signed in when the server is back", async () => {
    await server.restartOnSamePort();
    await page.getByText("The whole day").waitFor();
    await alert().waitFor({ state: "detached" });
    await go("#/");
    await page.getByText("The connection is lost").waitFor({ state: "detached" });
  });

  test("detects its session by a retry when the first request fails", async () => {
    const session = "**/data/session";
    await page.route(session, (route) => route.abort());
    await page.reload();
    await alert().waitFor();
    await page.unroute(session);
    await page.getByRole("link", { name: "Recordings" }).waitFor();
  });

  test("reports that signing out failed", async () => {
    await server.killHard();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("alert").getByText("You are still signed in").waitFor();
    await server.restartOnSamePort();
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You have signed out.").waitFor();
    await page.reload();
    await page.getByLabel("Operator's password").waitFor();
  });
});
