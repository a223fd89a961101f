import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { samplePath } from "../../../harness/checkout.ts";
import { BootedMachine } from "./booted-machine.ts";

const { TEST_SYSTEMS: systems, TEST_DELIVERY: delivery = "" } = process.env;
if (systems === undefined) console.warn("SKIPPED: the first day of an operator; scripts/test-service runs it");
const wheel = systems === undefined ? undefined : readdirSync(delivery).find((name) => name.endsWith(".whl"));
if (systems !== undefined && wheel === undefined) {
  console.warn("SKIPPED: the first day of an operator, with the client for Python; scripts/sdk packs it");
}

setDefaultTimeout(180_000);
const deb = `transcribe-${process.platform}-${process.arch}.deb`;

/** The client for Python is used as it was delivered: without pip, and without a network. */
const program = `
import os
from transcribe_sdk import Client
client = Client("http://127.0.0.1:8787", os.environ["KEY"])
transcript = client.transcribe("/srv/jfk.mp3")
print(" ".join(segment["text"] for segment in transcript.segments))
client.export_file(transcript.transcription["id"], "/srv/jfk.srt")
`;

describe.skipIf(wheel === undefined).each((systems ?? "").split(":"))("on %s", (tree) => {
  let machine: BootedMachine;
  beforeAll(async () => {
    machine = new BootedMachine(tree);
    await machine.booted();
    await machine.run("mkdir", "/srv/delivery");
    for (const name of ["SHA256SUMS", deb, wheel ?? ""]) machine.copy(`/srv/delivery/${name}`, join(delivery, name));
    machine.copy("/srv/jfk.mp3", samplePath("jfk.mp3"));
    machine.write("/srv/first.py", program);
  });
  afterAll(() => machine?.[Symbol.asyncDispose]());

  test(`${basename(tree)}: without a network, the delivered files are verified, installed, started and used from Python`, async () => {
    const commands = async (script: string) => {
      const { exitCode, stdout, stderr } = await machine.run("sh", "-euc", `cd /srv/delivery\n${script}`);
      expect(exitCode, `${script}: ${stdout}${stderr}`).toBe(0);
      return stdout;
    };
    expect(await commands("ip -oneline link | grep -vc loopback || true")).toBe("0\n");
    const checked = await commands("sha256sum --check --ignore-missing SHA256SUMS");
    expect(checked.trim().split("\n").sort()).toEqual([`${deb}: OK`, `${wheel}: OK`].sort());
    await commands(`DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ./${deb}`);
    await commands("systemctl start transcribe");
    await commands("transcribe accounts create acme");
    const created = await commands("transcribe keys create --account acme --json");
    const key = /"key": "(\w+)"/.exec(created)?.[1] ?? "";
    const said = await commands(`KEY=${key} PYTHONPATH=./${wheel} python3 /srv/first.py`);
    expect(said.replace(/\s+/g, " ")).toContain("ask what you can do for your country");
    expect(machine.read("/srv/jfk.srt")).toMatch(/^1\n00:00:0/);
    await commands("transcribe service status");
    expect((await machine.run("transcribe", "doctor", "--json")).stdout).not.toContain('"status": "problem"');
  });
});
