import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Credentials, createAuthority, issueCertificate } from "../certificates/index.ts";
import { replaceFile } from "../files/index.ts";
import { ExpectedError } from "../text/index.ts";
import { brokerConfig, COORDINATOR, needsRestart } from "./broker-config.ts";
import { CERTIFICATE_NAME } from "./machine-names.ts";
import { MAX_POOLS } from "./messages.ts";

/** The directory of a fleet cannot be used, or a name is invalid; the message says what to do. */
class FleetDirectoryError extends ExpectedError {
  override readonly name = "FleetDirectoryError";
}

/** Name of the broker's folder, and in its certificate. */
const BROKER = "broker";
const RESERVED: readonly string[] = [BROKER, COORDINATOR];
const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

const fleetSchema = Type.Object(
  {
    version: Type.Literal(1),
    /** Host names and addresses of the broker; machines use the first one. */
    broker: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    workers: Type.Array(Type.String({ pattern: CERTIFICATE_NAME.source })),
    /** Names of the pools. A directory of an earlier version has none. */
    pools: Type.Array(Type.String({ pattern: CERTIFICATE_NAME.source }), { default: [] }),
    /** Names of former workers and pools. Their certificates are still valid, so nothing else may get these names. */
    revoked: Type.Array(Type.String({ pattern: CERTIFICATE_NAME.source })),
  },
  { additionalProperties: false },
);
type Fleet = Static<typeof fleetSchema>;

/** A fleet to be created. */
interface NewFleet {
  readonly broker: readonly string[];
  readonly port: number;
  readonly workers: readonly string[];
  readonly pools?: readonly string[];
}

/**
 * The directory in which an operator manages a fleet: its authority with the authority's key, a folder with certificate,
 * key and settings for each machine and pool, and nats.conf in the broker's folder. No program reads it while the fleet runs.
 */
export class FleetDirectory {
  readonly path: string;
  /** Whether the broker needs a restart, and not only a reload, for the nats.conf that was written last. */
  brokerNeedsRestart = false;
  readonly #fleet: Fleet;
  readonly #authority: Credentials;

  private constructor(path: string, fleet: Fleet, authority: Credentials) {
    this.path = path;
    this.#fleet = fleet;
    this.#authority = authority;
  }

  /**
   * Creates a fleet's directory, complete or not at all.
   * @throws {FleetDirectoryError} if it is not empty, or a name is invalid
   */
  static async create(
    directory: string,
    { broker, port, workers, pools = [] }: NewFleet,
    now: number,
  ): Promise<FleetDirectory> {
    const path = resolve(directory);
    const fleet: Fleet = { version: 1, broker: [...broker], port, workers: [], pools: [], revoked: [] };
    for (const host of broker) checkHost(host);
    requireNewNames([...workers, ...pools], fleet);
    requireFewPools(pools);
    if (existsSync(path) && readdirSync(path).length > 0) {
      throw new FleetDirectoryError(
        `${path} is not empty, and nothing in it is overwritten; choose another directory, or add a worker to the fleet in it with --add NAME`,
      );
    }
    const partial = `${path}.partial`;
    rmSync(partial, { recursive: true, force: true });
    mkdirSync(partial, { recursive: true, mode: 0o700 });
    try {
      const authority = await createAuthority("transcribe fleet authority", now);
      const created = new FleetDirectory(partial, { ...fleet, workers: [...workers], pools: [...pools] }, authority);
      writeFileSync(join(partial, "ca.pem"), authority.certificate, { mode: 0o644 });
      writeFileSync(join(partial, "ca-key.pem"), authority.key, { mode: 0o600 });
      for (const name of [BROKER, COORDINATOR, ...workers, ...pools]) await created.#writeFolder(name, now);
      created.#writeFleet();
      renameSync(partial, path);
      return new FleetDirectory(path, created.#fleet, authority);
    } catch (error) {
      rmSync(partial, { recursive: true, force: true });
      throw error;
    }
  }

  /** Opens the directory of an existing fleet. @throws {FleetDirectoryError} */
  static open(directory: string): FleetDirectory {
    const path = resolve(directory);
    const read = (name: string) => {
      try {
        return readFileSync(join(path, name), "utf8");
      } catch {
        throw new FleetDirectoryError(
          `${join(path, name)} cannot be read; name the directory of "transcribe fleet init" with --directory`,
        );
      }
    };
    const authority = { certificate: read("ca.pem"), key: read("ca-key.pem") };
    const text = read("fleet.json");
    try {
      return new FleetDirectory(path, Value.Parse(fleetSchema, JSON.parse(text)), authority);
    } catch {
      throw new FleetDirectoryError(`${join(path, "fleet.json")} is damaged; restore it from a backup`);
    }
  }

  /** Names of the workers. */
  get workers(): readonly string[] {
    return this.#fleet.workers;
  }

  /** Names of the pools. */
  get pools(): readonly string[] {
    return this.#fleet.pools;
  }

  /** Address of the broker in the machines' settings. */
  get url(): string {
    const [host = ""] = this.#fleet.broker;
    return `tls://${host.includes(":") ? `[${host}]` : host}:${this.#fleet.port}`;
  }

  /**
   * Adds workers and pools. The broker needs the new nats.conf.
   * @throws {FleetDirectoryError} if one exists already
   */
  async add({ workers = [], pools = [] }: Partial<Pick<NewFleet, "workers" | "pools">>, now: number): Promise<void> {
    const names = [...workers, ...pools];
    requireNewNames(names, this.#fleet);
    requireFewPools([...this.#fleet.pools, ...pools]);
    const taken = names.find((name) => existsSync(join(this.path, name)));
    if (taken !== undefined) {
      throw new FleetDirectoryError(`${join(this.path, taken)} exists already; move it away, or choose another name`);
    }
    this.#fleet.workers.push(...workers);
    this.#fleet.pools.push(...pools);
    for (const name of names) await this.#writeFolder(name, now);
    this.#writeFleet();
  }

  /**
   * Issues new certificates for workers, pools, `coordinator` or `broker`, in place of the folders' old ones.
   * @throws {FleetDirectoryError} if a name is unknown
   */
  async renew(names: readonly string[], now: number): Promise<void> {
    for (const name of names) if (!RESERVED.includes(name)) this.#requireKnown(name);
    for (const name of names) await this.#writeFolder(name, now);
    this.#writeFleet();
  }

  /**
   * Removes a worker or a pool, so that the broker refuses it. Its folder is deleted.
   * @throws {FleetDirectoryError} if it is unknown
   */
  revoke(name: string): void {
    this.#requireKnown(name);
    const fleet = this.#fleet;
    fleet.workers = fleet.workers.filter((each) => each !== name);
    fleet.pools = fleet.pools.filter((each) => each !== name);
    fleet.revoked.push(name);
    this.#writeFleet();
    rmSync(join(this.path, name), { recursive: true, force: true });
  }

  #requireKnown(name: string): void {
    const { workers, pools } = this.#fleet;
    if (workers.includes(name) || pools.includes(name)) return;
    const known = [`its workers: ${workers.join(", ") || "none"}`, `its pools: ${pools.join(", ") || "none"}`];
    throw new FleetDirectoryError(`the fleet has no worker or pool ${name}; ${known.join("; ")}`);
  }

  async #writeFolder(name: string, now: number): Promise<void> {
    const isBroker = name === BROKER;
    const isPool = this.#fleet.pools.includes(name);
    // The second name of a pool's certificate tells a worker that it needs a name of its own.
    const addresses = isBroker ? [...this.#fleet.broker, ...LOOPBACK] : isPool ? [`*.${name}`] : [];
    const purpose = isBroker ? "server" : "client";
    const { certificate, key } = await issueCertificate(this.#authority, { name, addresses, purpose }, now);
    const folder = join(this.path, name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    replaceFile(join(folder, "ca.pem"), this.#authority.certificate, 0o644);
    replaceFile(join(folder, "certificate.pem"), certificate, 0o644);
    replaceFile(join(folder, "key.pem"), key, 0o600);
    if (!isBroker)
      replaceFile(join(folder, "fleet.toml"), settingsSnippet(isPool ? "pool" : "machine", name, this.url), 0o644);
  }

  #writeFleet(): void {
    mkdirSync(join(this.path, BROKER), { recursive: true, mode: 0o700 });
    const path = join(this.path, BROKER, "nats.conf");
    const config = brokerConfig(this.#fleet);
    if (existsSync(path)) this.brokerNeedsRestart ||= needsRestart(readFileSync(path, "utf8"), config);
    replaceFile(path, config, 0o644);
    replaceFile(join(this.path, "fleet.json"), `${JSON.stringify(this.#fleet, null, 2)}\n`, 0o600);
  }
}

function settingsSnippet(setting: "machine" | "pool", name: string, url: string): string {
  return `# Written by "transcribe fleet init". Files are relative to this settings file's folder.
[fleet]
broker = ${JSON.stringify(url)}
ca = "ca.pem"
certificate = "certificate.pem"
key = "key.pem"
${setting} = ${JSON.stringify(name)}
`;
}

/** Checks the names of new workers and pools. @throws {FleetDirectoryError} for an invalid, a reserved or a repeated name */
export function checkNewNames(names: readonly string[]): void {
  for (const [at, name] of names.entries()) {
    if (!CERTIFICATE_NAME.test(name)) {
      throw new FleetDirectoryError(`"${name}" is not a name; use 1 to 63 letters, digits and inner hyphens`);
    }
    if (RESERVED.includes(name.toLowerCase())) {
      throw new FleetDirectoryError(`"${name}" is reserved; choose another name`);
    }
    if (names.slice(0, at).some((other) => other.toLowerCase() === name.toLowerCase())) {
      throw new FleetDirectoryError(`the name ${name} is given twice; each worker and each pool needs its own`);
    }
  }
}

function requireNewNames(names: readonly string[], { workers, pools, revoked }: Fleet): void {
  checkNewNames(names);
  const isAmong = (name: string, others: readonly string[]) =>
    others.some((other) => other.toLowerCase() === name.toLowerCase());
  for (const name of names) {
    if (isAmong(name, revoked)) {
      throw new FleetDirectoryError(
        `${name} was revoked, and its old certificate would be accepted again; choose another name`,
      );
    }
    if (isAmong(name, workers)) throw new FleetDirectoryError(`the fleet has a worker ${name} already`);
    if (isAmong(name, pools)) throw new FleetDirectoryError(`the fleet has a pool ${name} already`);
  }
}

function requireFewPools(pools: readonly string[]): void {
  if (pools.length <= MAX_POOLS) return;
  throw new FleetDirectoryError(`a fleet has at most ${MAX_POOLS} pools; any number of workers may use the same pool`);
}

/** Checks an address of the broker. @throws {FleetDirectoryError} */
export function checkHost(host: string): void {
  if (/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(host)) return;
  if (host.includes(":") && URL.canParse(`tls://[${host}]`)) return;
  throw new FleetDirectoryError(`"${host}" is not a host name or an IP address; the port goes into --port`);
}
