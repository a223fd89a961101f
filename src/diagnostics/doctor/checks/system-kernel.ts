import { arch, release } from "node:os";
import { type Check, ok, warning } from "../check.ts";

export const systemKernel: Check = {
  id: "system.kernel",
  title: "Kernel",
  explanation:
    "The Linux kernel. The runtime needs 5.1 and works best from 5.6 on; older ones lack calls that it makes.",
  run() {
    const version = release();
    const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
    if (major < 5 || (major === 5 && minor < 6)) {
      return warning(`${version} is older than this program is made for`, {
        advice: "Use a system with kernel 5.6 or newer: Debian 11, Ubuntu 20.10, RHEL 9 or later.",
      });
    }
    return ok(`${version}, ${arch()}`);
  },
};
