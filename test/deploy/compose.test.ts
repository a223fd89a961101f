import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TProperties, Type } from "@sinclair/typebox";
import { root } from "../../harness/checkout.ts";
import { natsVersion } from "../../harness/nats-server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { loadSettings, settingEntries } from "../../src/config/index.ts";
import { FleetDirectory } from "../../src/fleet/index.ts";
import { programVersion } from "../../src/program/index.ts";
import { readContainerfile } from "../../tools/release/container/containerfile.ts";
import { checked } from "../support/manifests.ts";

const exact = <T extends TProperties>(properties: T) => Type.Object(properties, { additionalProperties: false });
const optional = Type.Optional;
const texts = Type.Array(Type.String({ minLength: 1 }));

/** A service with exactly the fields that the file uses. There is no field for privileges, devices or the host's network. */
const serviceSchema = exact({
  ...{ image: Type.String(), user: Type.String(), read_only: Type.Literal(true) },
  ...{
    cap_drop: Type.Tuple([Type.Literal("ALL")]),
    security_opt: Type.Tuple([Type.Literal("no-new-privileges:true")]),
  },
  ...{ restart: Type.Literal("unless-stopped"), tmpfs: texts, volumes: texts, networks: texts },
  logging: exact({ driver: Type.String(), options: Type.Record(Type.String(), Type.String()) }),
  profiles: optional(Type.Tuple([Type.Literal("fleet")])),
  ...{ ports: optional(texts), command: optional(texts), working_dir: optional(Type.String()) },
  environment: optional(Type.Record(Type.String(), Type.String())),
  stop_grace_period: optional(Type.String({ pattern: "^[0-9]+s$" })),
  healthcheck: optional(exact({ disable: Type.Literal(true) })),
  ...{ mem_limit: optional(Type.String()), memswap_limit: optional(Type.String()) },
  ulimits: optional(exact({ core: Type.Literal(0), nofile: Type.Integer() })),
});
const composeSchema = exact({
  name: Type.Literal("transcribe"),
  "x-restricted": Type.Unknown(),
  services: Type.Record(Type.String(), serviceSchema),
  networks: Type.Record(Type.String(), exact({ internal: optional(Type.Boolean()) })),
  volumes: Type.Record(Type.String(), exact({})),
});

const path = "deploy/compose.yaml";
const compose = checked(composeSchema, Bun.YAML.parse(readFileSync(join(root, path), "utf8")), path);
const { config } = readContainerfile(readFileSync(join(root, "deploy/Containerfile"), "utf8"));
const services = Object.entries(compose.services);
const [dataVolume = ""] = Object.keys(config.Volumes as object);

/** The folder of the fleet in the file, which an environment variable names. */
const fleetFolder = "\u0024{FLEET_DIRECTORY:-./fleet}/";

/** A mount: its source, where it is, and whether it is read-only. */
function mountsOf(volumes: readonly string[]) {
  return volumes.map((line) => {
    const [, source = "", target = "", mode = ""] = /^(\$\{[^}]*\}[^:]*|[^:]+):([^:]+)(?::(ro))?$/.exec(line) ?? [];
    return { source, target, isReadOnly: mode === "ro" };
  });
}

describe.each(services)("the service %s", (name, service) => {
  test("runs this version of the image, or the tested broker, as the image's user", () => {
    expect(service.image).toBe(name === "broker" ? `nats:${natsVersion}` : `transcribe:${programVersion}`);
    expect(service.user).toBe(String(config.User));
  });

  test("uses networks and volumes that exist, and mounts nothing else of the host than its folder of the fleet", () => {
    expect(service.networks.filter((each) => compose.networks[each] === undefined)).toEqual([]);
    for (const { source, target, isReadOnly } of mountsOf(service.volumes)) {
      if (source.includes("/")) expect([source.startsWith(fleetFolder), isReadOnly]).toEqual([true, true]);
      else expect([Object.keys(compose.volumes).includes(source), target]).toEqual([true, dataVolume]);
    }
  });

  test("has only settings that exist", () => {
    const names = Object.keys(service.environment ?? {});
    const known = [...settingEntries.map(({ env }) => env), "TRANSCRIBE_CONFIG"];
    expect(names.filter((each) => !known.includes(each))).toEqual([]);
  });
});

test("only the server is reachable, from this machine alone, and only it reaches more than the fleet", () => {
  const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
  const { server } = loadSettings({ file: undefined, environment: {}, flags: {} });
  expect(published).toEqual([`server 127.0.0.1:${server.port}:${server.port}`]);
  expect(services.filter(([, { networks }]) => networks.includes("clients")).map(([name]) => name)).toEqual(["server"]);
  expect(compose.networks.fleet).toEqual({ internal: true });
});

test("the server runs alone, and with the profile fleet it has a broker and a worker", () => {
  const ofProfile = (isFleet: boolean) => services.filter(([, { profiles }]) => (profiles !== undefined) === isFleet);
  expect(ofProfile(false).map(([name]) => name)).toEqual(["server"]);
  expect(ofProfile(true).map(([name]) => name)).toEqual(["broker", "worker1"]);
});

test("the mounted folders are those that transcribe fleet init writes for the broker's name", async () => {
  using directory = temporaryDirectory();
  const fleet = join(directory.path, "fleet");
  await FleetDirectory.create(fleet, { broker: ["broker"], port: 4222, workers: ["worker1"] }, Date.now());
  const mounted = services.flatMap(([name, { volumes }]) =>
    mountsOf(volumes)
      .filter(({ source }) => source.includes("/"))
      .map(({ source, target }) => [name, source.replace(fleetFolder, ""), target]),
  );
  const ofBroker = readdirSync(join(fleet, "broker")).map((file) => ["broker", `broker/${file}`, `/broker/${file}`]);
  expect(mounted.sort()).toEqual(
    [...ofBroker, ["server", "coordinator", "/etc/transcribe"], ["worker1", "worker1", "/etc/transcribe"]].sort(),
  );
  expect(readFileSync(join(fleet, "worker1/fleet.toml"), "utf8")).toContain('broker = "tls://broker:4222"');
  expect(readdirSync(join(fleet, "worker1"))).toContain("fleet.toml");
  expect(compose.services.worker1?.environment).toEqual({ TRANSCRIBE_CONFIG: "/etc/transcribe/fleet.toml" });
});
