import { join } from "node:path";
import { type Browser, chromium as driver } from "playwright-core";
import { messageOf } from "../../src/text/index.ts";
import { cachedDebianPackages, ownSuite } from "./debian-packages.ts";

/** The headless browser, and fonts for the scripts in which transcripts are written. */
const packages = ["chromium-headless-shell", "chromium-common", "fonts-noto-core"];
export interface Chromium {
  readonly executablePath: string;
  /** Variables with which it finds its libraries and fonts. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Fetches Debian's Chromium and its libraries into the cache, without installing them.
 * @returns null and logs the reason when Chromium is unavailable
 */
export async function chromium(log: (line: string) => void): Promise<Chromium | null> {
  try {
    const wanted = { suite: ownSuite(), packages, withLibraries: true } as const;
    const root = await cachedDebianPackages("chromium", wanted, (directory) => {
      return Bun.write(join(directory, "fonts.conf"), fontSettings);
    });
    return chromiumIn(root);
  } catch (error) {
    log(`SKIPPED: browser tests; Chromium is unavailable: ${messageOf(error)}`);
    return null;
  }
}

/** Starts the browser, without a window. @param args further arguments of its command line */
export async function launchChromium(
  { executablePath, environment }: Chromium,
  args: readonly string[] = [],
): Promise<Browser> {
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return await driver.launch({
    executablePath,
    args: [...args],
    env: { ...Object.fromEntries(inherited), ...environment },
  });
}

/** Returns arguments with which pages may record, and hear a WAV file instead of a microphone, again and again. */
export function fakeMicrophone(file: string): string[] {
  return [
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    `--use-file-for-fake-audio-capture=${file}`,
  ];
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
