import { afterAll, beforeAll } from "bun:test";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { root } from "../../../harness/checkout.ts";
import type { TestServer } from "../../../harness/server.ts";
import { createAccount } from "../../../src/accounts/index.ts";
import { openDatabaseOf } from "../../../src/database/index.ts";
import { DataDirectory } from "../../../src/storage/index.ts";
import { chromium, launchChromium } from "../../../tools/shared/chromium.ts";

/** Time to download Chromium once, or to start it. */
const fetchTimeout = 600_000;

export interface OpenBrowser {
  /** Opens a separate window with its own cookies. Its pages jump instead of scrolling smoothly, so that clicks hit. */
  context(options?: Parameters<Browser["newContext"]>[0]): Promise<BrowserContext>;
}

export const found = await chromium((line) => console.warn(line));

/**
 * Starts a browser for the tests of the calling `describe`, and closes it after them.
 * @param args further arguments of its command line
 */
export function openBrowser(args: readonly string[] = []): OpenBrowser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (found !== null) browser = await launchChromium(found, args);
  }, fetchTimeout);
  afterAll(async () => {
    await browser?.close();
  });
  return {
    async context(options = {}) {
      if (browser === undefined) throw new Error("there is no browser");
      const desktop = { viewport: { width: 1280, height: 860 }, locale: "en-GB", reducedMotion: "reduce" } as const;
      return await browser.newContext({ ...desktop, ...options });
    },
  };
}

/**
 * Opens a page whose actions fail after 20 seconds.
 * @param errors receives the errors of the page and of the browser, which logs violations of the content security policy
 */
export async function openPage(context: BrowserContext, errors: string[] = []): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  return page;
}

/** Starts a server with an account, and opens a page on which an operator is signed in. */
export async function openWithAccount(server: TestServer, browser: OpenBrowser, account: string): Promise<Page> {
  const store = openDatabaseOf(new DataDirectory(server.dataDirectory));
  createAccount(store, account, { actor: "operator", now: Date.now() });
  store.$client.close();
  await server.start();
  const page = await openPage(await browser.context());
  await signIn(page, server);
  return page;
}

/** Signs an operator in by a link. */
export async function signIn(page: Page, server: TestServer): Promise<void> {
  await page.goto((await server.cli("console")).stdout.trim());
  await page.getByRole("link", { name: "Recordings" }).waitFor();
}

/** Presses keys one after the other. */
export async function press({ keyboard }: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await keyboard.press(key);
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

const axe = join(root, "node_modules/axe-core/axe.min.js");

/** Returns the accessibility violations that axe finds in the page, as text. */
export async function faultsOf(page: Page): Promise<string[]> {
  // The content security policy blocks added scripts, but not code that the browser evaluates for the driver.
  await page.evaluate(await Bun.file(axe).text());
  const violations: readonly Violation[] = await page.evaluate("axe.run().then(({ violations }) => violations)");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
  );
}

/** Holds back a page's requests to addresses that match. @returns a function that lets them pass */
export async function holdBack(page: Page, addresses: string): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>();
  const passed: Promise<void>[] = [];
  await page.route(addresses, async (route) => {
    const pass = held.promise.then(() => route.continue());
    passed.push(pass);
    await pass;
  });
  return async () => {
    held.resolve();
    await Promise.all(passed);
    await page.unroute(addresses);
  };
}

/** Lets a page ask for changes at once, as it does when the user returns to it, instead of after some seconds. */
export async function returnTo(page: Page): Promise<void> {
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
}

/** Returns the number of pixels by which the page is wider than the window. */
export async function overhangOf(page: Page): Promise<number> {
  return await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
