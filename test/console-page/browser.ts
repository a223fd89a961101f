import { afterAll, beforeAll } from "bun:test";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium as driver, type Page } from "playwright-core";
import { defaultCacheRoot } from "../../native/build.ts";
import { chromium } from "../../scripts/support/chromium.ts";
import { root } from "../support/checkout.ts";

/** Time to fetch Chromium once, or to start it. */
const fetchTimeout = 600_000;

export interface OpenBrowser {
  /** A window of its own, with cookies of its own. */
  context(options?: Parameters<Browser["newContext"]>[0]): Promise<BrowserContext>;
}

export const found = await chromium(defaultCacheRoot(), (line) => console.warn(line));

/** A browser for the tests of the `describe` that this is called in. */
export function openBrowser(): OpenBrowser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (found === null) return;
    const { executablePath, environment } = found;
    const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    browser = await driver.launch({ executablePath, env: { ...Object.fromEntries(inherited), ...environment } });
  }, fetchTimeout);
  afterAll(async () => {
    await browser?.close();
  });
  return {
    async context(options = {}) {
      if (browser === undefined) throw new Error("there is no browser");
      return await browser.newContext({ viewport: { width: 1280, height: 860 }, locale: "en-GB", ...options });
    },
  };
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

const axe = join(root, "node_modules/axe-core/axe.min.js");

/** What axe finds wrong with the page as it is now, in words; empty: nothing. */
export async function faultsOf(page: Page): Promise<string[]> {
  // The page's policy lets no script in; what the browser itself evaluates is not asked.
  await page.evaluate(await Bun.file(axe).text());
  const violations: readonly Violation[] = await page.evaluate("axe.run().then(({ violations }) => violations)");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
  );
}

/** Pixels by which the page is wider than the window. */
export async function overhangOf(page: Page): Promise<number> {
  return await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
