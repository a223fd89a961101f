import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../harness/checkout.ts";

/** A page of documentation. */
export interface Page {
  /** Path from the checkout's root: `docs/api.md`. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** A fenced block: its info string, e.g. `sh run`, and its text. */
export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  /** Whether a test runs it. */
  readonly run: boolean;
  readonly text: string;
}

const names = [
  "README.md",
  "SECURITY.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `docs/${name}`),
];

const read = (name: string): Page => {
  const path = join(root, name);
  return { name, path, text: readFileSync(path, "utf8") };
};

/** The pages for operators, users and programs. */
export const pages: readonly Page[] = names.map(read);

const folders = ["docs", "data", "deploy", "harness", "models", "native", "sdk", "src", "test", "tools"];

/** All documents of the repository, also those for contributors. The changelog names files of earlier versions. */
export const documents: readonly Page[] = ["*.md", ...folders.map((folder) => `${folder}/**/*.md`)]
  .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: root })])
  .filter((name) => name !== "CHANGELOG.md" && !name.includes("node_modules/"))
  .sort()
  .map(read);

export function pageNamed(name: string): Page {
  const page = documents.find((candidate) => candidate.name === name);
  if (page === undefined) throw new Error(`there is no page ${name}`);
  return page;
}

export function blocksOf({ name, text }: Page): Block[] {
  return [...text.matchAll(/^```(\w*)([^\n]*)\n(.*?)^```$/gms)].map((match) => ({
    page: name,
    line: text.slice(0, match.index).split("\n").length,
    language: match[1] ?? "",
    run: (match[2] ?? "").trim() === "run",
    text: match[3] ?? "",
  }));
}

/** Returns a page without its fenced blocks. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(/^```.*?^```$/gms, "");
}

/** Returns the anchors of the sections as GitHub generates them. */
export function anchorsOf(page: Page): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? "")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Returns the links inside the checkout, each as path and section. */
export function localLinksOf(page: Page): { link: string; path: string; anchor: string }[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? "")
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [file = "", anchor = ""] = link.split("#");
      return { link, path: file === "" ? page.path : join(dirname(page.path), file), anchor };
    });
}
