import { expect, test } from "bun:test";
import { root } from "../../../harness/checkout.ts";
import { bundlePage } from "../../../src/console/index.ts";

const made = await bundlePage();
const texts = [made.page, ...[...made.files.values()].map(({ text }) => text)];

test("the page and its files take less than 150 KB compressed", () => {
  const compressed = texts.reduce((all, text) => all + Bun.gzipSync(text).length, 0);
  expect(compressed).toBeGreaterThan(10_000);
  expect(compressed).toBeLessThan(150_000);
});

test("the page has no inline script or style, and refers only to its own files", () => {
  expect(made.page).not.toMatch(/<style|\sstyle=|\son[a-z]+=/i);
  expect([...made.page.matchAll(/<script[^>]*>([^<]*)/g)].map((match) => match[1])).toEqual([""]);
  const addresses = [...made.page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
  const files = addresses.filter((address) => !address.startsWith("data:image/svg+xml,"));
  const own = [...made.files.keys()].filter((name) => !name.startsWith("worklet."));
  expect(files.toSorted()).toEqual(own.map((name) => `assets/${name}`).toSorted());
  const styles = [...made.files].filter(([name]) => name.endsWith(".css")).map(([, { text }]) => text);
  expect(styles.join()).not.toMatch(/url\(|@import/);
});

test("the code of the browser's audio thread is a small file of its own, which the page loads by its name", () => {
  const [worklet = ""] = [...made.files.keys()].filter((name) => name.startsWith("worklet."));
  expect(worklet).toMatch(/^worklet\.[0-9a-f]{16}\.js$/);
  const script = made.files.get(worklet)?.text ?? "";
  expect(script).toContain("registerProcessor");
  expect(script.length).toBeLessThan(2_000);
  const page = [...made.files].find(([name]) => /^page\..*\.js$/.test(name))?.[1].text ?? "";
  expect(page).toContain(worklet);
  expect(page).not.toContain("registerProcessor");
});

test("the bundle has the page's own code, and of the contract the methods and paths of routes", () => {
  const ours = made.inputs.filter((path) => !path.startsWith("node_modules/") && !path.startsWith("src/console/page/"));
  expect(ours).toEqual(["src/console/contract/index.ts"]);
  const script = texts.join();
  expect(script).toContain("GET /recordings/:id/segments");
  expect(script).not.toMatch(/additionalProperties|"operator"\s*,\s*answer|TypeBox/);
});

test("the bundle is reproducible and contains no path of the build machine", async () => {
  const again = await bundlePage();
  expect([...again.files.keys()]).toEqual([...made.files.keys()]);
  expect(texts.filter((text) => text.includes(root))).toEqual([]);
});
