import { bundlePage, type ConsoleAssets } from "./bundle-page.ts";

export type { ConsoleAssets, ConsoleFile } from "./bundle-page.ts";

let bundled: Promise<ConsoleAssets> | undefined;

/**
 * What a browser loads of the console: from source it is bundled when it is first asked for, which takes some tenths of a
 * second; scripts/build puts another module in this one's place, which has it.
 */
export function consoleAssets(): Promise<ConsoleAssets> {
  bundled ??= bundlePage();
  return bundled;
}
