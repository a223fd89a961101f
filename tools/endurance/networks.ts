import type { Subprocess } from "bun";
import { killedWithParent, lines } from "../../harness/server.ts";
import { runAtOnce } from "../shared/run-command.ts";

/** Addresses for tests of networks (RFC 2544). Each process takes 16 of them. */
const FIRST_ADDRESS = 0xc6_12_00_00;
const BLOCKS = 2 ** 13;
/** Name of the machine that this process runs on. */
export const HERE = "here";
/** Device that connects a machine with the switch. */
const DEVICE = "outside";
/** A hardware address that no machine has: the receivers drop the frames. */
const NOWHERE = "02:00:00:00:00:00";

/** Why no networks can be created here; null if they can. */
export const networksObstacle: string | null = findObstacle();

function findObstacle(): string | null {
  if (process.platform !== "linux") return "network namespaces need Linux";
  const missing = ["ip", "tc", "unshare", "nsenter"].find((tool) => Bun.which(tool) === null);
  if (missing !== undefined) return `${missing} is missing`;
  if (process.getuid?.() !== 0) return "network namespaces need root";
  const devices =
    "ip link add type veth && ip link add type bridge && tc qdisc add dev lo root tbf rate 1mbit burst 16kb latency 1s";
  const tried = Bun.spawnSync(["unshare", "--net", "--uts", "sh", "-c", devices], { stderr: "pipe" });
  return tried.exitCode === 0 ? null : `the kernel lacks virtual network devices: ${tried.stderr}`;
}

interface Machine {
  readonly address: string;
  readonly hardware: string;
  /** Process that holds its network; null for this machine. */
  readonly holder: Subprocess | null;
}

/**
 * Machines with a network and a host name of their own, which a switch connects with each other and with this process.
 * Packets between two of them can be lost in one direction or in both, which neither side notices by itself. The kernel
 * removes a network with the last process in it.
 */
export class Networks implements AsyncDisposable {
  readonly #machines = new Map<string, Machine>();
  readonly #switch: Subprocess;
  readonly #slow = new Set<string>();

  private constructor(bridge: Subprocess) {
    this.#switch = bridge;
  }

  static async create(...names: readonly string[]): Promise<Networks> {
    const networks = new Networks(await hold("switch"));
    try {
      const { pid } = networks.#switch;
      runAtOnce(...inside(pid), "ip", "link", "add", "switch", "type", "bridge");
      runAtOnce(...inside(pid), "ip", "link", "set", "switch", "up");
      const block = FIRST_ADDRESS + 16 * (process.pid % BLOCKS);
      for (const [index, name] of [HERE, ...names].entries()) {
        const holder = name === HERE ? null : await hold(name);
        networks.#machines.set(name, connect(pid, holder, dotted(block + 1 + index)));
      }
      networks.heal();
      return networks;
    } catch (error) {
      await networks[Symbol.asyncDispose]();
      throw error;
    }
  }

  addressOf(name: string): string {
    return this.#machine(name).address;
  }

  /** Returns the command line that runs a command on a machine. */
  place(name: string, command: readonly string[]): string[] {
    const { holder } = this.#machine(name);
    return [...(holder === null ? [] : inside(holder.pid)), ...command];
  }

  /** Loses all packets from one machine to another. */
  lose(from: string, to: string): void {
    this.#send(from, to, NOWHERE);
  }

  /** Loses all packets between two machines. */
  cut(one: string, other: string): void {
    this.lose(one, other);
    this.lose(other, one);
  }

  /** Loses all packets between a machine and all others. */
  isolate(name: string): void {
    for (const other of this.#machines.keys()) if (other !== name) this.cut(name, other);
  }

  /** Limits what a machine sends. */
  slow(name: string, kilobits: number): void {
    const limit = ["tbf", "rate", `${kilobits}kbit`, "burst", "16kb", "latency", "1s"];
    runAtOnce(...this.place(name, ["tc", "qdisc", "replace", "dev", DEVICE, "root", ...limit]));
    this.#slow.add(name);
  }

  /** Delivers all packets again, without limits. */
  heal(): void {
    for (const from of this.#machines.keys()) {
      for (const [to, { hardware }] of this.#machines) if (from !== to) this.#send(from, to, hardware);
    }
    for (const name of this.#slow) runAtOnce(...this.place(name, ["tc", "qdisc", "delete", "dev", DEVICE, "root"]));
    this.#slow.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Processes on the machines may exit later than the holders of their networks.
    if (this.#machines.has(HERE)) runAtOnce("ip", "link", "delete", hereDevice);
    for (const { holder } of [...this.#machines.values(), { holder: this.#switch }]) {
      holder?.kill("SIGKILL");
      await holder?.exited;
    }
  }

  #machine(name: string): Machine {
    const machine = this.#machines.get(name);
    if (machine === undefined) throw new Error(`there is no machine ${name}`);
    return machine;
  }

  /** Sets the hardware address to which a machine sends packets for another one. */
  #send(from: string, to: string, hardware: string): void {
    const device = from === HERE ? hereDevice : DEVICE;
    const entry = [this.addressOf(to), "lladdr", hardware, "nud", "permanent", "dev", device];
    runAtOnce(...this.place(from, ["ip", "neighbour", "replace", ...entry]));
  }
}

/** The device of this machine; other processes have theirs next to it. */
const hereDevice = `tr${process.pid}`;

/** Starts a process with a network and a host name of its own. */
async function hold(name: string): Promise<Subprocess> {
  const script = 'hostname "$1" && ip link set lo up && echo ready && exec sleep infinity';
  const command = ["unshare", "--net", "--uts", "sh", "-c", script, "sh", name];
  const holder = Bun.spawn(killedWithParent(command), { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of lines(holder.stdout)) if (line === "ready") return holder;
  throw new Error(`the network of ${name} can't be created`);
}

/** Connects a machine with the switch. @param holder null for this machine */
function connect(bridge: number, holder: Subprocess | null, address: string): Machine {
  const [device, place] = holder === null ? [hereDevice, []] : [DEVICE, inside(holder.pid)];
  const port = `to-${address.split(".").at(-1)}`;
  const peer = ["peer", "name", port, "netns", `${bridge}`];
  runAtOnce(...place, "ip", "link", "add", device, "type", "veth", ...peer);
  runAtOnce(...inside(bridge), "ip", "link", "set", port, "master", "switch", "up");
  runAtOnce(...place, "ip", "address", "add", `${address}/28`, "dev", device);
  runAtOnce(...place, "ip", "link", "set", device, "up");
  const text = runAtOnce(...place, "ip", "link", "show", device);
  const hardware = /link\/ether (\S+)/.exec(text)?.[1];
  if (hardware === undefined) throw new Error(`the device has no hardware address: ${text}`);
  return { address, hardware, holder };
}

/** Returns the command that runs another one in the network, and with the host name, of a process. */
function inside(pid: number): string[] {
  return ["nsenter", `--net=/proc/${pid}/ns/net`, `--uts=/proc/${pid}/ns/uts`, "--"];
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join(".");
}
