// Transcribes the bundled recording, first live and then as a file, and writes pictures of the console's pages in a
// headless browser to docs/: console.png, live-light.png, live-dark.png and live-phone.png.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { corpusPath, root, samplePath } from "../../harness/checkout.ts";
import { writeMicrophoneSound } from "../../harness/sample-recordings.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { chromium, fakeMicrophone, launchChromium } from "../shared/chromium.ts";

const found = await chromium(console.log);
if (found === null) process.exit(1);
using sounds = temporaryDirectory();
const microphone = join(sounds.path, "microphone.wav");
await writeMicrophoneSound(corpusPath("dialogue/dlg-09-2spk-short-turns.flac"), microphone);
await using server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
await server.start();
const client = server.client("sales");
const browser = await launchChromium(found, fakeMicrophone(`${microphone}%noloop`));
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
// The words come late while the machine is busy.
page.setDefaultTimeout(180_000);
await page.goto((await server.cli("console")).stdout.trim());
await page.getByRole("navigation").waitFor();
await takeLivePictures(page);
await takePicture(page);
await browser.close();

/** Writes the picture of the README: the page of a real transcript with its player. */
async function takePicture(page: Page): Promise<void> {
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

/** Writes the pictures of a live session that hears a dialogue: light, dark, and on a phone. */
async function takeLivePictures(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Live" }).click();
  await page.getByRole("button", { name: "Start" }).click();
  const paragraphs = page.locator(".live-words .segment");
  await paragraphs.nth(4).waitFor();
  await page.locator(".live-words .partial").waitFor();
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  const take = (name: string) => page.screenshot({ path: join(root, `docs/live-${name}.png`), animations: "disabled" });
  await take("light");
  await page.emulateMedia({ colorScheme: "dark" });
  await take("dark");
  await page.setViewportSize({ width: 390, height: 700 });
  await take("phone");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width, height });
  await page.getByRole("button", { name: "End" }).click();
  await page.getByText("The session has ended.").waitFor();
}
