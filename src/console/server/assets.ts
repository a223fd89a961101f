import { bundlePage, type ConsoleAssets } from "./bundle-page.ts";

export type { ConsoleAssets, ConsoleFile } from "./bundle-page.ts";

let bundled: Promise<ConsoleAssets> | undefined;

/**
 * Returns the page and the files that a browser loads for the console. When the server runs from source, the first call
 * bundles them, which takes a few tenths of a second. scripts/build replaces this module with one that contains the
 * finished bundle.
 */
export function consoleAssets(): Promise<ConsoleAssets> {
  bundled ??= bundlePage();
  return bundled;
}
