import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { root } from "../../harness/checkout.ts";

const source = join(root, "native", "src");

/** The folders of native/src, and the other folders whose headers each one includes. */
const mayInclude: Readonly<Record<string, readonly string[]>> = {
  addon: ["encoder", "parakeet", "kernels"],
  decoder: ["kernels"],
  device: [],
  encoder: ["kernels"],
  kernels: [],
  models: [],
  parakeet: ["kernels"],
};
const folders = Object.keys(mayInclude);
const files = [...new Glob("*/**/*.{h,cpp}").scanSync(source)].sort();
const folderOf = (path: string) => path.split("/")[0] ?? "";

describe("native/src", () => {
  test("has no file outside its folders, and the README says what each folder contains", () => {
    expect(readdirSync(source).sort()).toEqual(folders);
    const readme = readFileSync(join(root, "native", "README.md"), "utf8");
    const rows = [...readme.matchAll(/^\| `([a-z]+)\/` \| [^|]{20,} \| [^|]*`(?:whisper\.node|lib\w+\.so)`/gm)];
    expect(rows.map(([, name]) => name).sort()).toEqual(folders);
  });

  test("includes headers in one direction", () => {
    const wrong = files.flatMap((file) =>
      [...readFileSync(join(source, file), "utf8").matchAll(/^#(?:include|define KERNELS) "([^"]+)"/gm)]
        .map(([, path = ""]) => path)
        .filter((path) => folders.includes(folderOf(path)) && folderOf(path) !== folderOf(file))
        .filter((path) => mayInclude[folderOf(file)]?.includes(folderOf(path)) !== true)
        .map((path) => `${file}: ${path}`),
    );
    expect(files.length).toBeGreaterThan(70);
    expect(wrong).toEqual([]);
  });

  test.each(folders)("lists each source file of %s in that folder's CMakeLists.txt once", (folder) => {
    const list = readFileSync(join(source, folder, "CMakeLists.txt"), "utf8");
    const listed = [...list.matchAll(/^ +([\w/-]+\.cpp)\b/gm)].map(([, path]) => `${folder}/${path}`);
    expect(listed.sort()).toEqual(files.filter((file) => folderOf(file) === folder && file.endsWith(".cpp")));
  });
});
