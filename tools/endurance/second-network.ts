import { readlinkSync } from "node:fs";
import type { Subprocess } from "bun";
import { killedWithParent } from "../../harness/server.ts";
import { runAtOnce } from "../shared/run-command.ts";

/** Addresses for tests of networks (RFC 2544). Each process takes four of them. */
const FIRST_ADDRESS = 0xc6_12_00_00;
const BLOCKS = 2 ** 15;
/** A hardware address that no machine has: the receiver drops the frames. */
const NOWHERE = "02:00:00:00:00:00";

/** Direction in which packets are lost. */
export type Cut = "to" | "from" | "both";

/** Why no second network can be created here; null if it can. */
export const secondNetworkObstacle: string | null = findObstacle();

function findObstacle(): string | null {
  if (process.platform !== "linux") return "network namespaces need Linux";
  const missing = ["ip", "unshare", "nsenter"].find((tool) => Bun.which(tool) === null);
  if (missing !== undefined) return `${missing} is missing`;
  if (process.getuid?.() !== 0) return "network namespaces need root";
  const tried = Bun.spawnSync(["unshare", "--net", "ip", "link", "add", "type", "veth"], { stderr: "pipe" });
  return tried.exitCode === 0 ? null : `no pair of virtual network devices: ${tried.stderr}`;
}

/**
 * A network namespace that is connected with this one by a pair of virtual devices. The kernel removes both with the
 * last process in the namespace. Packets can be lost in one direction or in both; neither side notices by itself.
 */
export class SecondNetwork implements AsyncDisposable {
  readonly #holder: Subprocess;
  readonly #device = `tr${process.pid}`;
  /** Address of this side. */
  readonly here: string;
  /** Address of the other side. */
  readonly there: string;
  readonly #hardware: { readonly here: string; readonly there: string };

  private constructor(holder: Subprocess) {
    this.#holder = holder;
    const block = FIRST_ADDRESS + 4 * (process.pid % BLOCKS);
    this.here = dotted(block + 1);
    this.there = dotted(block + 2);
    const { pid } = holder;
    runAtOnce("ip", "link", "add", this.#device, "type", "veth", "peer", "name", "outside", "netns", `${pid}`);
    runAtOnce("ip", "address", "add", `${this.here}/30`, "dev", this.#device);
    runAtOnce("ip", "link", "set", this.#device, "up");
    runAtOnce(...this.place(["ip", "address", "add", `${this.there}/30`, "dev", "outside"]));
    for (const device of ["outside", "lo"]) runAtOnce(...this.place(["ip", "link", "set", device, "up"]));
    this.#hardware = {
      here: addressOf(runAtOnce("ip", "link", "show", this.#device)),
      there: addressOf(runAtOnce(...this.place(["ip", "link", "show", "outside"]))),
    };
    this.heal();
  }

  static async create(): Promise<SecondNetwork> {
    const holder = Bun.spawn(killedWithParent(["unshare", "--net", "sleep", "infinity"]), {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const networkOf = (pid: number | "self") => readlinkSync(`/proc/${pid}/ns/net`);
    while (networkOf(holder.pid) === networkOf("self")) await Bun.sleep(5);
    return new SecondNetwork(holder);
  }

  /** Returns the command line that runs a command on the other side. */
  place(command: readonly string[]): string[] {
    return ["nsenter", `--net=/proc/${this.#holder.pid}/ns/net`, "--", ...command];
  }

  /** Loses all packets of a direction, seen from here. */
  cut(direction: Cut): void {
    const { here, there } = this.#hardware;
    this.#send(direction === "from" ? there : NOWHERE, direction === "to" ? here : NOWHERE);
  }

  /** Delivers packets in both directions again. */
  heal(): void {
    this.#send(this.#hardware.there, this.#hardware.here);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Processes on the other side may exit later than the holder of the namespace.
    runAtOnce("ip", "link", "delete", this.#device);
    this.#holder.kill("SIGKILL");
    await this.#holder.exited;
  }

  /** Sets the hardware addresses to which each side sends. */
  #send(there: string, here: string): void {
    const fixed = (address: string, hardware: string, device: string) => [
      ...["ip", "neighbour", "replace", address, "lladdr", hardware, "nud", "permanent", "dev", device],
    ];
    runAtOnce(...fixed(this.there, there, this.#device));
    runAtOnce(...this.place(fixed(this.here, here, "outside")));
  }
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join(".");
}

/** Returns the hardware address in the output of `ip link show`. */
function addressOf(text: string): string {
  const found = /link\/ether (\S+)/.exec(text)?.[1];
  if (found === undefined) throw new Error(`the device has no hardware address: ${text}`);
  return found;
}
