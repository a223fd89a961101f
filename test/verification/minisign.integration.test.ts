import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { readSecretKey, signFile } from "../../tools/release/minisign.ts";
import { debianTool } from "../support/debian-tool.ts";
import { makeKeyPair } from "../support/minisign-keys.ts";
import { platform, programFile } from "../support/program-file.ts";

const tool = await debianTool({
  ...{ program: "minisign", packages: ["minisign", "libsodium23"] },
  skipped: "signatures of the real minisign",
});
const libraries = join(tool ?? "", "usr/lib", `${process.arch === "x64" ? "x86_64" : "aarch64"}-linux-gnu`);

describe.skipIf(tool === null)("minisign", () => {
  const scope = temporaryDirectory();
  afterAll(() => scope[Symbol.dispose]());
  const at = (name: string) => join(scope.path, name);
  const minisign = (...args: string[]) => {
    const child = Bun.spawnSync([join(tool ?? "", "usr/bin/minisign"), ...args], {
      cwd: scope.path,
      env: { LD_LIBRARY_PATH: libraries, HOME: scope.path },
    });
    return { exitCode: child.exitCode, output: `${child.stdout}${child.stderr}` };
  };
  const program = programFile();
  const sha256 = new Bun.CryptoHasher("sha256").update(program).digest("hex");
  writeFileSync(at("transcribe"), program);
  writeFileSync(at("SHA256SUMS"), `${sha256}  transcribe\n`);
  const sums = readFileSync(at("SHA256SUMS"));

  test("accepts our signature with our key, and refuses it for another file", () => {
    const pair = makeKeyPair();
    writeFileSync(at("our.pub"), pair.public);
    writeFileSync(at("our.minisig"), signFile(sums, readSecretKey(pair.secret), "transcribe 99.0.0"));
    const verify = (file: string, ...key: string[]) => minisign("-V", "-m", file, "-x", "our.minisig", ...key);
    const accepted = { exitCode: 0, output: expect.stringContaining("Trusted comment: transcribe 99.0.0") };
    expect(verify("SHA256SUMS", "-p", "our.pub")).toEqual(accepted);
    expect(verify("SHA256SUMS", "-P", pair.public.split("\n")[1] ?? "")).toEqual(accepted);
    expect(verify("transcribe", "-p", "our.pub").exitCode).toBe(1);
  });

  test("signs with our secret key", () => {
    const pair = makeKeyPair();
    writeFileSync(at("ours.pub"), pair.public);
    writeFileSync(at("ours.key"), pair.secret);
    expect(minisign("-S", "-s", "ours.key", "-m", "SHA256SUMS", "-x", "theirs.minisig").exitCode).toBe(0);
    expect(minisign("-V", "-p", "ours.pub", "-m", "SHA256SUMS", "-x", "theirs.minisig").exitCode).toBe(0);
  });

  test("makes keys with which a release is signed, and signatures that transcribe verify accepts", async () => {
    expect(minisign("-G", "-W", "-p", "their.pub", "-s", "their.key").exitCode).toBe(0);
    const verify = async (...args: string[]) => {
      const { exitCode, stdout } = await runCli([
        "verify",
        at("transcribe"),
        "--data-dir",
        at("data"),
        "--json",
        ...args,
      ]);
      return [exitCode, JSON.parse(stdout).checks[0], JSON.parse(stdout).target];
    };
    const passed = [0, expect.objectContaining({ name: "signature", ok: true }), platform];

    expect(minisign("-S", "-s", "their.key", "-m", "SHA256SUMS", "-t", "by minisign").exitCode).toBe(0);
    expect(await verify("--key", at("their.pub"))).toEqual(passed);

    const secret = readSecretKey(readFileSync(at("their.key"), "utf8"));
    writeFileSync(at("SHA256SUMS.minisig"), signFile(sums, secret, "transcribe 99.0.0"));
    const verified = minisign("-V", "-p", "their.pub", "-m", "SHA256SUMS");
    expect(verified).toEqual({ exitCode: 0, output: expect.stringContaining("Trusted comment: transcribe 99.0.0") });
    const key = readFileSync(at("their.pub"), "utf8").split("\n")[1] ?? "";
    expect(await verify("--key", key)).toEqual(passed);

    writeFileSync(at("SHA256SUMS.minisig"), signFile(sums, readSecretKey(makeKeyPair().secret), "transcribe 99.0.0"));
    expect(await verify("--key", key)).toEqual([1, expect.objectContaining({ name: "signature", ok: false }), null]);
  });
});
