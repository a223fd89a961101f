import { afterAll, expect, test } from "bun:test";
import { chownSync, copyFileSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { available, root, samplePath } from "../../harness/checkout.ts";
import { builtProgram } from "../../harness/compiled-program.ts";
import { run } from "../../harness/processes.ts";
import { killedWithParent } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { messageOf } from "../../src/text/index.ts";
import { partSources } from "../../tools/build/parts.ts";
import { extractInner } from "../../tools/build/program-file.ts";
import { imageTexts } from "../../tools/release/container/archives.ts";
import { readContainerfile } from "../../tools/release/container/containerfile.ts";
import { innerPath, systemFiles } from "../../tools/release/container/image-files.ts";
import { vulkanLoader } from "../../tools/release/container/vulkan-loader.ts";
import { environmentOf, Manifests } from "../support/manifests.ts";

const sample = samplePath("jfk.mp3");
const obstacle =
  process.getuid?.() !== 0
    ? "it needs root"
    : (["unshare", "chroot", "setpriv", "dpkg-query"].find((tool) => Bun.which(tool) === null) ?? null);
if (obstacle !== null) console.warn(`SKIPPED: the image's files as an unprivileged user; ${obstacle}`);
const ready = available("the image's files as an unprivileged user", sample) && obstacle === null;

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

/**
 * Runs a program of the image as Kubernetes would: a read-only root, a volume that belongs to root and the group of the
 * pod, no capabilities, no new privileges. `$1` is the root, `$2` the program, `$3` the volume, `$4` the sample.
 */
const script = `
mount --make-rprivate /
mount --bind "$1" "$1"
mount --bind "$2" "$1/usr/local/bin/transcribe"
mount --bind "$3" "$1/var/lib/transcribe"
mount --bind "$4" "$1/jfk.mp3"
mount -t tmpfs -o mode=0777 none "$1/tmp"
mount -t proc none "$1/proc"
mount --bind /dev "$1/dev"
mount -o remount,bind,ro "$1"
root=$1
shift 4
cd /
exec setpriv --no-new-privs chroot --userspec=10001:10001 --groups=10001 "$root" "$@"`;

/** Returns a folder with the image's files, in which the program itself is mounted, and the path of the inner program. */
async function imageFiles(program: string): Promise<{ readonly tree: string; readonly innerFile: string }> {
  const native = (await partSources(process.arch)).filter(({ executable }) => executable).map(({ source }) => source);
  const loader = await vulkanLoader(native, defaultCacheRoot());
  const inner = join(directory.path, "transcribe");
  const innerFile = innerPath(await extractInner(program, inner));
  const files = new Map([...(await systemFiles([inner, ...native], loader)), [innerFile, inner]]);
  expect([...files.keys()].some((path) => path.endsWith("/libvulkan.so.1"))).toBe(true);
  const tree = join(directory.path, "root");
  for (const [path, source] of files) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    copyFileSync(source, join(tree, path));
  }
  for (const path of ["usr/local/bin", "var/lib/transcribe", "tmp", "proc", "dev"]) {
    mkdirSync(join(tree, path), { recursive: true });
  }
  for (const path of ["usr/local/bin/transcribe", "jfk.mp3"]) writeFileSync(join(tree, path), "");
  for (const [path, text] of Object.entries(imageTexts)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  return { tree, innerFile };
}

test.if(ready)(
  "the image's files and the manifests' settings are enough to transcribe without any right",
  async () => {
    const program = await builtProgram();
    const files = await imageFiles(program).catch((error: unknown) => {
      if (!/Vulkan loader/.test(messageOf(error))) throw error;
      console.warn(`SKIPPED: the image's files; ${messageOf(error)}`);
      return null;
    });
    if (files === null) return;
    const { tree, innerFile } = files;
    const volume = join(directory.path, "volume");
    mkdirSync(volume);
    chownSync(volume, 0, 10001);
    Bun.spawnSync(["chmod", "2775", volume]);
    const manifests = new Manifests("server");
    const [container] = manifests.workloads[0]?.spec.template.spec.containers ?? [];
    if (container === undefined) throw new Error("the manifests have no server");
    const { config } = readContainerfile(readFileSync(join(root, "deploy/Containerfile"), "utf8"));
    const image = Object.fromEntries((config.Env as string[]).map((line) => line.split(/=(.*)/s).slice(0, 2)));
    const env: Record<string, string> = { ...environmentOf(container, manifests, image), TRANSCRIBE_PORT: "0" };
    const inside = (...args: readonly string[]) => [
      ...["unshare", "--mount", "sh", "-euc", script, "sh", tree, program, volume, sample],
      ...["/usr/local/bin/transcribe", ...args],
    ];
    // The tools of this machine come after those of the image, which has none of them.
    const withTools = { ...env, PATH: `${env.PATH}:${process.env.PATH ?? ""}` };
    const transcribe = (args: readonly string[], key = "") =>
      run(inside(...args), { cwd: "/", env: { ...withTools, ...(key === "" ? {} : { TRANSCRIBE_API_KEY: key }) } });
    const server = Bun.spawn(killedWithParent(inside(...container.args)), {
      env: withTools,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    try {
      const log = server.stderr.getReader();
      const decoder = new TextDecoder();
      for (let text = ""; !text.includes('"engine.ready"'); ) {
        const { done, value } = await log.read();
        if (done) throw new Error(`the server exited: ${text}`);
        text += decoder.decode(value, { stream: true });
      }
      // The image contains the unpacked inner program, so the server takes no memory for it.
      expect(readlinkSync(`/proc/${server.pid}/exe`)).toEndWith(`/${innerFile}`);
      const health = (config.Healthcheck as { Test: string[] }).Test.slice(2);
      expect(await transcribe(health)).toMatchObject({ exitCode: 0, stderr: "" });
      expect((await transcribe(["accounts", "create", "acme"])).exitCode).toBe(0);
      const created = await transcribe(["keys", "create", "--account", "acme", "--name", "test"]);
      const key = /trs_\w+/.exec(created.stdout)?.[0] ?? "";
      const { exitCode, stdout } = await transcribe(["submit", "--wait", "/jfk.mp3"], key);
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining("what your country can do for you")]);
      const { checks } = JSON.parse((await transcribe(["doctor", "--json"])).stdout) as {
        checks: { id: string; status: string }[];
      };
      expect(checks.filter(({ status }) => status === "problem").map(({ id }) => id)).toEqual([]);
      expect(checks.filter(({ id }) => id.startsWith("data.")).map(({ status }) => status)).not.toContain("warning");
      server.kill("SIGTERM");
      expect(await server.exited).toBe(0);
    } finally {
      server.kill("SIGKILL");
    }
  },
  300_000,
);
