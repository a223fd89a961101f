import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, chromium as driver } from "playwright-core";
import { defaultCacheRoot } from "../../native/build.ts";
import { type DebianPackages, unpackDebianPackages } from "../../native/steps/debian-packages.ts";
import { makeCacheEntry } from "../../src/files/index.ts";
import { messageOf } from "../../src/text/index.ts";

/** The headless browser, and fonts for the scripts in which transcripts are written. */
const packages = ["chromium-headless-shell", "chromium-common", "fonts-noto-core"];
/** Parts of the packages that the browser does not need. */
const needless = [".apt", "usr/share/doc", "usr/share/locale", "usr/share/man"];

/** Chromium in the cache. */
export interface Chromium {
  /** Path of its program. */
  readonly executablePath: string;
  /** Variables with which it finds its libraries and fonts. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Fetches Debian's Chromium and its libraries into the cache, without installing them.
 * @returns null and logs the reason when Chromium is unavailable
 */
export async function chromium(log: (line: string) => void): Promise<Chromium | null> {
  const cacheRoot = defaultCacheRoot();
  try {
    const wanted: DebianPackages = { suite: await suiteOfThisMachine(), packages, withLibraries: true };
    const content = JSON.stringify([process.arch, wanted]);
    const entry = join("chromium", createHash("sha256").update(content).digest("hex").slice(0, 16));
    const root = join(cacheRoot, entry);
    if (!existsSync(root)) {
      log("chromium: fetching");
      await makeCacheEntry(cacheRoot, entry, async (directory) => {
        await unpackDebianPackages(wanted, directory);
        for (const name of needless) await rm(join(directory, name), { recursive: true, force: true });
        await writeFile(join(directory, "fonts.conf"), fontSettings);
      });
    }
    return chromiumIn(root);
  } catch (error) {
    log(`SKIPPED: browser tests; Chromium is unavailable: ${messageOf(error)}`);
    return null;
  }
}

/** Starts the browser, without a window. */
export async function launchChromium({ executablePath, environment }: Chromium): Promise<Browser> {
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return await driver.launch({ executablePath, env: { ...Object.fromEntries(inherited), ...environment } });
}

/**
 * Returns this machine's Debian release. The browser uses this machine's C library, so both must be of the same
 * release.
 */
async function suiteOfThisMachine(): Promise<string> {
  const release = await readFile("/etc/os-release", "utf8");
  const suite = /^VERSION_CODENAME=(\S+)$/m.exec(release)?.[1];
  if (!/^ID=debian$/m.test(release) || suite === undefined) throw new Error("this is not a Debian system");
  return suite;
}

/** Makes the libraries use only the fonts next to these settings, whatever the machine has. */
const fontSettings = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

function chromiumIn(root: string): Chromium {
  const libraries = join(root, "usr/lib", process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu");
  return {
    executablePath: join(root, "usr/lib/chromium/chromium-headless-shell"),
    environment: {
      LD_LIBRARY_PATH: [libraries, join(libraries, "pulseaudio")].join(":"),
      FONTCONFIG_FILE: join(root, "fonts.conf"),
    },
  };
}
