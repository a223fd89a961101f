import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { available } from "../../harness/checkout.ts";
import { runCli } from "../../harness/server.ts";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { type RunningProgram, StandbyPair, until } from "../../harness/standby-pair.ts";
import { writeCertificateFolders } from "../../src/replication/index.ts";

const sample = join(import.meta.dir, "../../build/samples/jfk.mp3");
const ready = available("the standby of a real server", sample);

const follows = (standby: RunningProgram, count = 1) =>
  until(standby, ({ event }) => event === "standby.following", count);
/** Connects to a server. @param files its authority, and the client's certificate and key */
function connectTo(port: number, files: { readonly ca: string; readonly cert: string; readonly key: string }) {
  const [ca, cert, key] = [files.ca, files.cert, files.key].map((path) => readFileSync(path));
  const socket = connect({ host: "127.0.0.1", port, ca, cert, key });
  socket.on("error", () => {});
  return socket;
}

/** Returns the serial number of the certificate that a server shows. */
async function serialOf(...target: Parameters<typeof connectTo>): Promise<string> {
  const socket = connectTo(...target);
  await new Promise((resolve) => socket.on("secureConnect", resolve).on("close", resolve));
  const { serialNumber = "" } = socket.getPeerCertificate() ?? {};
  socket.destroy();
  return serialNumber;
}

const idsIn = (pair: StandbyPair) =>
  pair.inCopy((database) =>
    database
      .query<{ id: string }, []>("SELECT id FROM recordings ORDER BY id")
      .all()
      .map(({ id }) => id),
  );
const status = async (directory: string) => {
  const { stdout } = await runCli(["standby", "status", "--json", "--data-dir", directory]);
  return JSON.parse(stdout) as Record<string, unknown>;
};

test.if(ready)(
  "a server answers changes only with a standby, if it waits for one, and either is restarted without a loss",
  async () => {
    await using pair = await StandbyPair.create();
    const wait = { TRANSCRIBE_STANDBY_WAIT: "true" };
    const server = await pair.serve(wait);
    const client = pair.client("acme");
    // Without a standby, nothing is changed, and reads work.
    const refused = await client.send(sample);
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "5"]);
    expect(await refused.text()).toContain("standby");
    const list = await client.fetch("/transcriptions");
    expect([list.status, ((await list.json()) as { data: unknown[] }).data]).toEqual([200, []]);
    expect(await status(pair.serverDirectory)).toMatchObject({ role: "server", phase: "none", standby: null });
    const addAccount = (name: string) => runCli(["accounts", "create", name, "--data-dir", pair.serverDirectory]);
    const unsafe = await addAccount("unsafe");
    expect([unsafe.exitCode, unsafe.stderr]).toEqual([1, expect.stringContaining("has not confirmed it")]);
    expect(server.log.filter(({ event }) => event === "server.chore_failed")).toEqual([]);

    let standby = pair.follow();
    await follows(standby);
    const first = await client.create(sample);
    const safe = await addAccount("safe");
    expect([safe.exitCode, safe.stderr]).toEqual([0, ""]);
    await standby.end("SIGKILL");
    // Whatever was answered is there, although the standby was killed.
    expect(idsIn(pair)).toEqual([first.id]);
    expect(pair.inCopy((database) => database.query("SELECT 1 FROM accounts WHERE name = 'safe'").all())).toHaveLength(
      1,
    );
    expect(readFileSync(join(pair.standbyDirectory, "uploads", first.id)).equals(readFileSync(sample))).toBe(true);

    standby = pair.follow();
    await follows(standby);
    expect(await status(pair.standbyDirectory)).toMatchObject({ role: "standby", phase: "following" });
    expect(await status(pair.serverDirectory)).toMatchObject({
      role: "server",
      phase: "following",
      standby: "standby",
    });
    const second = await client.create(sample);
    await until(standby, () => idsIn(pair).length === 2);
    // The directory exists while a copy of the database is compared, and afterwards.
    const comparison = join(pair.standbyDirectory, "incoming/standby");
    rmSync(comparison, { recursive: true });
    // A clean stop of the server; then it starts again with a new log.
    expect(await server.end("SIGTERM")).toBe(0);
    await until(standby, ({ event }) => event === "standby.connection_lost");
    expect(idsIn(pair)).toEqual([first.id, second.id]);
    const restarted = await pair.serve(wait);
    await follows(standby, 2);
    expect(existsSync(comparison)).toBe(false);
    const third = await client.create(sample);
    await restarted.end("SIGKILL");
    await pair.serve(wait);
    await follows(standby, 3);
    expect(existsSync(comparison)).toBe(false);
    const fourth = await client.create(sample);
    expect(await standby.end("SIGTERM")).toBe(0);
    expect(idsIn(pair)).toEqual([first.id, second.id, third.id, fourth.id]);
  },
  120_000,
);

test.if(ready)(
  "a server lets only a standby of its authority follow, and a standby follows only such a server",
  async () => {
    await using pair = await StandbyPair.create();
    const foreign = join(pair.path, "foreign");
    await writeCertificateFolders(foreign, { machines: ["standby"], renew: [] }, Date.now());
    const own = pair.settings("standby");
    const of = (name: string) => join(foreign, "standby", name);
    const server = await pair.serve();
    // The server's authority is trusted, so that only the certificate of the standby is wrong.
    const stranger = {
      ...own,
      TRANSCRIBE_STANDBY_CERTIFICATE: of("certificate.pem"),
      TRANSCRIBE_STANDBY_KEY: of("key.pem"),
    };
    // It notices itself that another authority issued its certificate.
    const args = ["standby", "--from", `tls://127.0.0.1:${pair.standbyPort}`, "--data-dir", pair.standbyDirectory];
    const refused = await runCli(args, stranger);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("another authority issued it")]);

    const files = { ca: own.TRANSCRIBE_STANDBY_CA ?? "", cert: of("certificate.pem"), key: of("key.pem") };
    const socket = connectTo(pair.standbyPort, files);
    let received = "";
    socket.on("data", (bytes) => {
      received += bytes.toString();
    });
    socket.on("secureConnect", () => socket.write(Buffer.alloc(100)));
    await new Promise((resolve) => socket.on("close", resolve));
    expect(received).toBe("");
    await until(server, ({ event }) => event === "standby.refused");

    const deceived = pair.follow(undefined, {
      TRANSCRIBE_STANDBY_CA: of("ca.pem"),
      TRANSCRIBE_STANDBY_CERTIFICATE: of("certificate.pem"),
      TRANSCRIBE_STANDBY_KEY: of("key.pem"),
    });
    await until(
      deceived,
      ({ event, trouble }) => event === "standby.connection_lost" && /certificate/.test(`${trouble}`),
    );
    expect(server.log.map(({ event }) => event)).not.toContain("standby.connected");
  },
  60_000,
);

test.if(ready)(
  "a renewed certificate of a server counts from the next connection after a reload, and invalid files change nothing",
  async () => {
    await using pair = await StandbyPair.create();
    const certificates = join(pair.path, "certificates");
    const server = await pair.serve();
    const own = pair.settings("standby");
    const connectWith = (settings: Readonly<Record<string, string>>) =>
      serialOf(pair.standbyPort, {
        ca: own.TRANSCRIBE_STANDBY_CA ?? "",
        cert: settings.TRANSCRIBE_STANDBY_CERTIFICATE ?? "",
        key: settings.TRANSCRIBE_STANDBY_KEY ?? "",
      });
    const before = await connectWith(own);
    await writeCertificateFolders(certificates, { machines: [], renew: ["127.0.0.1"] }, Date.now());
    server.child.kill("SIGHUP");
    await until(server, ({ event }) => event === "standby.certificate_renewed");
    const after = await connectWith(own);
    expect([before, after].every((serial) => /^[0-9A-F]{32}$/.test(serial))).toBe(true);
    expect(after).not.toBe(before);
    // The authority still decides who may connect.
    const foreign = join(pair.path, "foreign");
    await writeCertificateFolders(foreign, { machines: ["standby"], renew: [] }, Date.now());
    const of = (name: string) => join(foreign, "standby", name);
    await connectWith({ TRANSCRIBE_STANDBY_CERTIFICATE: of("certificate.pem"), TRANSCRIBE_STANDBY_KEY: of("key.pem") });
    await until(server, ({ event }) => event === "standby.refused");
    writeFileSync(join(certificates, "127.0.0.1/certificate.pem"), "no certificate");
    server.child.kill("SIGHUP");
    await until(server, ({ event }) => event === "standby.certificate_refused");
    expect(await connectWith(own)).toBe(after);
  },
  60_000,
);

test.if(ready)(
  "a standby follows the directory of a running server, and replaces other data only if it is told to",
  async () => {
    await using pair = await StandbyPair.create();
    await pair.serve({ TRANSCRIBE_STANDBY_LISTEN: "" });
    const client = pair.client("acme");
    const before = await client.create(sample);
    const standby = pair.follow(pair.serverDirectory, {});
    await follows(standby);
    const after = await client.create(sample);
    await until(standby, () => idsIn(pair).length === 2);
    await standby.end("SIGTERM");
    expect(idsIn(pair)).toEqual([before.id, after.id]);
    // A server's own data is no standby's.
    const args = ["standby", "--from", pair.standbyDirectory, "--data-dir", pair.serverDirectory];
    const running = await runCli(args);
    expect([running.exitCode, running.stderr]).toEqual([1, expect.stringContaining("another transcribe server uses")]);
    writeFileSync(join(pair.path, "transcribe.db"), "");
    const other = await runCli(["standby", "--from", pair.serverDirectory, "--data-dir", pair.path]);
    expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining("--replace")]);
  },
  60_000,
);

test.if(ready && canMount)(
  "a standby whose disk is full says so, keeps what it has, and continues when there is space",
  async () => {
    await using pair = await StandbyPair.create();
    const server = await pair.serve();
    const client = pair.client("acme");
    const first = await client.create(sample);
    const { mkdirSync } = await import("node:fs");
    mkdirSync(pair.standbyDirectory);
    using disk = new SmallDisk(pair.standbyDirectory, "size=24m");
    const standby = pair.follow();
    await follows(standby);
    disk.fill(20_000);
    const second = await client.create(sample);
    await until(
      standby,
      ({ event, trouble }) => event === "standby.connection_lost" && `${trouble}`.includes("ENOSPC"),
    );
    await until(server, ({ event, trouble }) => event === "standby.disconnected" && `${trouble}`.includes("ENOSPC"));
    expect(idsIn(pair)).toEqual([first.id]);
    disk.empty();
    await until(standby, () => idsIn(pair).length === 2);
    expect(idsIn(pair)).toEqual([first.id, second.id]);
    await standby.end("SIGKILL");
  },
  60_000,
);
