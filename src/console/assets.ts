import { bundlePage, type ConsoleAssets } from "./bundle-page.ts";

export type { ConsoleAssets, ConsoleFile } from "./bundle-page.ts";

let bundled: Promise<ConsoleAssets> | undefined;

/**
 * What a browser loads of the console. Run from source, it is bundled when it is first asked for, which takes a few tenths of a
 * second; scripts/build puts a module in this one's place that carries the bundle.
 */
export function consoleAssets(): Promise<ConsoleAssets> {
  bundled ??= bundlePage();
  return bundled;
}
