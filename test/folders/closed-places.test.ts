import { describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { loadSettings } from "../../src/config/index.ts";
import { ClosedPlaces, type OwnPlace, ownPlaces } from "../../src/folders/closed-places.ts";
import { identitiesOf } from "../../src/folders/file-calls.ts";
import type { Mount } from "../../src/machine/index.ts";

const own: OwnPlace[] = [
  { path: "/data/transcribe", what: "the server's data directory", isFile: false },
  { path: "/srv/app/conf/transcribe.toml", what: "the settings file", isFile: true },
];
const disk = (device: string, root: string, mountPoint: string): Mount => {
  return { device, root, mountPoint, kind: "ext4", options: [] };
};
/** A machine whose mounts are in the order of the kernel's list. */
const machine = (...mounts: Mount[]) => ({
  mounts: [disk("8:1", "/", "/"), ...mounts],
  links: new Map<string, string>(),
});

describe("a folder", () => {
  const refused = [
    "/ /etc /etc/x /etc/x/y /usr /usr/share/x /usr/local/x /bin /sbin/x /lib/x /lib64 /proc /proc/1 /sys/x /dev /dev/shm/x",
    "/run /run/x /run/user/1000/x /boot /boot/x /lost+found /nix /nix/store/x /home /root /opt /tmp /media /run/media /run/media/u",
    "/var /var/tmp /var/lib /var/lib/dpkg /var/lib/dpkg/info /var/log /var/log/x /var/cache/x /var/spool /var/spool/cron",
    "/etc/ //etc /etc/. /srv/../etc /srv/x/../../usr/share/x/ /var/lib/transcribe/incoming /run/media/u/../x",
  ];
  test.each(refused.join(" ").split(" "))("is refused at %s", (path) => {
    const reason = new ClosedPlaces([], machine()).reasonAgainst(path);
    expect(reason).toStartWith(`${path} `);
    expect(reason).toEndWith("; choose a directory that only holds recordings, such as /srv/interviews");
  });

  const possible = [
    "/srv /srv/x /mnt /mnt/x /media/x /media/u/x /home/u /home/u/x /root/x /opt/x /tmp/x /var/tmp/x /var/spool/asterisk/x",
    "/var/lib/x/incoming /var/lib/x /folders /data /etcetera /usrx /srv/etc /srv/usr/share /home/u/etc /..x/y",
  ];
  test.each(possible.join(" ").split(" "))("may be at %s", (path) => {
    expect(new ClosedPlaces([], machine()).reasonAgainst(path, ["1:2", "1:1"])).toBeNull();
  });

  test.each([
    ["/data/transcribe", /\/data\/transcribe, the server's data directory, contain one another/],
    ["/data/transcribe/uploads/x", /data directory/],
    ["/data", /data directory/],
    ["/srv/app/conf", /the settings file/],
    ["/srv", /the settings file/],
    ["/data/transcribe-in", null],
    ["/srv/app/conf/in", null],
  ])("is refused where it touches the program: %s", (path, reason) => {
    const found = new ClosedPlaces(own, machine()).reasonAgainst(path);
    if (reason === null) expect(found).toBeNull();
    else expect(found).toMatch(reason);
  });

  test.each([
    ["a bind mount of a system directory", disk("8:1", "/etc", "/srv/in"), "/srv/in"],
    ["a directory in such a mount", disk("8:1", "/usr", "/srv/in"), "/srv/in/share/x"],
    ["a bind mount of a directory in a system directory", disk("8:1", "/etc/ssh", "/srv/in"), "/srv/in"],
    ["a second mount of the whole disk", disk("8:1", "/", "/mnt/disk"), "/mnt/disk"],
    ["a system directory on such a mount", disk("8:1", "/", "/mnt/disk"), "/mnt/disk/etc/x"],
    ["a bind mount of /home", disk("8:1", "/home", "/srv/in"), "/srv/in"],
    ["a bind mount of the data directory", disk("8:1", "/data/transcribe/uploads", "/srv/in"), "/srv/in"],
    ["a bind mount of a directory above it", disk("8:1", "/data", "/srv/in"), "/srv/in"],
  ])("is refused at %s", (_, mount, path) => {
    expect(new ClosedPlaces(own, machine(mount)).reasonAgainst(path)).toMatch(/ and |operating system|many programs/);
  });

  test.each([
    ["a share", disk("0:50", "/", "/mnt/share"), "/mnt/share"],
    ["a directory named etc on another disk", disk("8:17", "/etc", "/srv/in"), "/srv/in"],
    ["a medium of a desktop", disk("8:33", "/", "/run/media/u/STICK"), "/run/media/u/STICK/calls"],
    ["a bind mount of a directory of recordings", disk("8:1", "/srv/calls", "/folders/calls"), "/folders/calls"],
    ["a volume of a container", disk("8:1", "/var/lib/docker/volumes/in/_data", "/folders/in"), "/folders/in"],
  ])("may be at %s", (_, mount, path) => {
    expect(new ClosedPlaces([], machine(mount)).reasonAgainst(path)).toBeNull();
  });

  test("is refused in a medium of a desktop that is not mounted", () => {
    const run = disk("0:20", "/", "/run");
    expect(new ClosedPlaces(own, machine(run)).reasonAgainst("/run/media/u/STICK")).toContain("/run");
  });

  test("is refused where a link of the root directory leads", () => {
    const links = new Map([
      ["/home", "/data/homes"],
      ["/var", "/data/var"],
    ]);
    const closed = new ClosedPlaces([], { ...machine(), links });
    for (const path of ["/data/homes", "/data/var", "/data/var/lib/dpkg"])
      expect(closed.reasonAgainst(path)).not.toBeNull();
    expect(closed.reasonAgainst("/data/homes/u/in")).toBeNull();
  });

  test("is recognized by its inode under another name, as a file system has that ignores case", () => {
    using directory = temporaryDirectory();
    const root = realpathSync(directory.path);
    for (const name of ["data/uploads", "conf"]) mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, "conf/t.toml"), "");
    const places = [
      { path: join(root, "data"), what: "the server's data directory", isFile: false },
      { path: join(root, "conf/t.toml"), what: "the settings file", isFile: true },
    ];
    const closed = new ClosedPlaces(places, { mounts: [], links: new Map() });
    for (const name of ["data", "data/uploads", "conf", ""]) {
      const identities = identitiesOf(join(root, name));
      expect([name, closed.reasonAgainst("/srv/DATA", identities)]).toEqual([name, expect.any(String)]);
    }
    mkdirSync(join(root, "conf/in"));
    expect(closed.reasonAgainst("/srv/DATA", identitiesOf(join(root, "conf/in")))).toBeNull();
  });

  test("is refused at what the settings name, also where their links lead", () => {
    using directory = temporaryDirectory();
    const root = realpathSync(directory.path);
    for (const name of ["real", "keys", "conf", "unpacked", "models", "in"]) mkdirSync(join(root, name));
    symlinkSync(join(root, "real"), join(root, "data"));
    const environment = {
      TRANSCRIBE_DATA_DIR: join(root, "data"),
      TRANSCRIBE_STORAGE_RUNTIME_DIR: join(root, "unpacked"),
      TRANSCRIBE_SERVER_TLS_CERTIFICATE: join(root, "keys/cert.pem"),
      TRANSCRIBE_SERVER_TLS_KEY: join(root, "keys/key.pem"),
      TRANSCRIBE_ENGINE_WHISPER_MODEL: join(root, "models/ggml.bin"),
    };
    const settings = loadSettings({ file: undefined, environment, flags: {} });
    const closed = new ClosedPlaces(ownPlaces(settings, join(root, "conf/t.toml")));
    for (const name of ["real", "data", "keys", "conf", "unpacked/x", "models"]) {
      expect([name, closed.reasonAgainst(join(root, name))]).toEqual([name, expect.any(String)]);
    }
    for (const name of ["in", "keys/in", "conf/in"]) expect(closed.reasonAgainst(join(root, name))).toBeNull();
    // The program itself.
    expect(closed.reasonAgainst(join(import.meta.dir, "in"))).toContain("checkout");
  });
});
