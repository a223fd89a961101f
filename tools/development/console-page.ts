// Transcribes the bundled recording and writes a picture of its page in a headless browser to docs/console.png.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { root, samplePath } from "../../harness/checkout.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { chromium, launchChromium } from "../shared/chromium.ts";

const found = await chromium(console.log);
if (found === null) process.exit(1);
await using server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
await server.start();
const browser = await launchChromium(found);
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
await page.goto((await server.cli("console")).stdout.trim());
await page.getByRole("navigation").waitFor();
await takePicture(page);
await browser.close();

/** Writes the picture of the README: the page of a real transcript with its player. */
async function takePicture(page: Page): Promise<void> {
  const client = server.client("sales");
  using folder = temporaryDirectory();
  const recording = join(folder.path, "A call from New Jersey.wav");
  copyFileSync(samplePath("sample.wav"), recording);
  const { id } = await client.create(recording);
  await client.waitUntilEnded(id);
  await page.goto(`${server.origin}/console/#/recordings/${id}`);
  await page.locator(".transcribed:not(.unloaded)").first().waitFor();
  // The playback copy is made after the transcript.
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  await page.screenshot({ path: join(root, "docs/console.png"), animations: "disabled" });
}
