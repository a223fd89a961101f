// Confines ffmpeg, so that a recording that exploits it gains nothing: the process sees its input, its outputs and the
// system's libraries, has no network, starts no process, and is bounded in memory, time and output.
//
//   confine --memory BYTES --cpu SECONDS --file BYTES [--read PATH]… [--write PATH]… -- PROGRAM ARGUMENT…
//   confine --report
//
// Each restriction applies if the kernel and the machine's policy allow it. `--report` applies them to itself and prints the
// active ones as JSON. Both use the same code, so the report matches a run.
//
// A line on standard input starts the program. If the server exits before it tracks this process, nothing is left behind.
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "confine-calls.h"

namespace {

// ffmpeg uses a thread for each step of each output, about a dozen.
constexpr rlim_t MOST_THREADS = 64;
constexpr rlim_t MOST_OPEN_FILES = 64;
constexpr int MOST_PATHS = 16;

// A shell's exit code for a program that it cannot run; src/media distinguishes it from ffmpeg's own exit codes.
constexpr int CANNOT_RUN = 126;

struct Paths {
  const char* items[MOST_PATHS];
  int count = 0;

  void add(const char* path) {
    if (count == MOST_PATHS) {
      fprintf(stderr, "confine: more than %d paths\n", MOST_PATHS);
      exit(CANNOT_RUN);
    }
    items[count++] = path;
  }
};

struct Request {
  rlim_t memoryBytes = RLIM_INFINITY;
  rlim_t cpuSeconds = RLIM_INFINITY;
  rlim_t fileBytes = RLIM_INFINITY;
  Paths read;
  Paths write;
  // PROGRAM and its arguments, terminated by a null pointer; null for a report.
  char** command = nullptr;
};

struct Confinement {
  bool networkNamespace = false;
  bool threadLimit = false;
  // Version of the kernel's Landlock interface; 0 if it has none.
  int landlock = 0;
  bool seccomp = false;
};

rlim_t numberOf(const char* text) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0') {
    fprintf(stderr, "confine: %s is no number\n", text);
    exit(CANNOT_RUN);
  }
  return number;
}

Request readArguments(int count, char** arguments) {
  Request request;
  if (count == 2 && strcmp(arguments[1], "--report") == 0) return request;
  int at = 1;
  for (; at + 1 < count && strcmp(arguments[at], "--") != 0; at += 2) {
    const char* value = arguments[at + 1];
    if (strcmp(arguments[at], "--memory") == 0) request.memoryBytes = numberOf(value);
    else if (strcmp(arguments[at], "--cpu") == 0) request.cpuSeconds = numberOf(value);
    else if (strcmp(arguments[at], "--file") == 0) request.fileBytes = numberOf(value);
    else if (strcmp(arguments[at], "--read") == 0) request.read.add(value);
    else if (strcmp(arguments[at], "--write") == 0) request.write.add(value);
    else break;
  }
  if (at + 1 >= count || strcmp(arguments[at], "--") != 0) {
    fprintf(stderr, "usage: confine --report | confine [--memory BYTES] [--cpu SECONDS] [--file BYTES] "
                    "[--read PATH]... [--write PATH]... -- PROGRAM [ARGUMENT]...\n");
    exit(CANNOT_RUN);
  }
  request.command = arguments + at + 1;
  return request;
}

void awaitStart() {
  char byte = 0;
  while (byte != '\n') {
    const ssize_t length = read(STDIN_FILENO, &byte, 1);
    if (length == 0 || (length < 0 && errno != EINTR)) exit(CANNOT_RUN);
  }
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) exit(CANNOT_RUN);
  if (nothing != STDIN_FILENO) close(nothing);
}

// The program may write to these files but create none, so they must exist.
void makeOutputs(const Paths& outputs) {
  for (int index = 0; index < outputs.count; index++) {
    const int file = open(outputs.items[index], O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0) {
      const int reason = errno;
      fprintf(stderr, "confine: an output can't be made: %s\n", strerror(reason));
      // ffmpeg's own exit code for an output that it cannot open.
      exit((256 - reason) & 0xff);
    }
    close(file);
  }
}

bool writeFile(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, text, strlen(text)) == static_cast<ssize_t>(strlen(text));
  close(file);
  return written;
}

// Enters a user namespace, except as root: there root would lose the right to read files of others, such as the data
// directory of the service's user. Other users need one for the network namespace and the limit on threads.
// Returns whether the process is in a user namespace of its own.
bool enterNamespaces(Confinement& active) {
  if (geteuid() == 0) {
    active.networkNamespace = unshare(CLONE_NEWNET) == 0;
    return false;
  }
  char user[64];
  char group[64];
  snprintf(user, sizeof user, "%u %u 1", geteuid(), geteuid());
  snprintf(group, sizeof group, "%u %u 1", getegid(), getegid());
  // Both or neither: if the machine's policy (Ubuntu's AppArmor) makes a user namespace useless, none is entered.
  active.networkNamespace = unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
  if (!active.networkNamespace) return false;
  return writeFile("/proc/self/setgroups", "deny") && writeFile("/proc/self/uid_map", user) &&
         writeFile("/proc/self/gid_map", group);
}

// Since 5.14 the kernel counts processes separately for each user namespace; before, the limit counts all of the user's.
bool countsInNamespace() {
  utsname system;
  int major = 0;
  int minor = 0;
  if (uname(&system) != 0 || sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 14);
}

// Keeps a limit that is already lower.
bool limit(int resource, rlim_t wanted) {
  rlimit now;
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return false;
  if (wanted < now.rlim_max) now.rlim_max = wanted;
  if (now.rlim_max < now.rlim_cur) now.rlim_cur = now.rlim_max;
  return setrlimit(static_cast<__rlimit_resource>(resource), &now) == 0;
}

void setLimits(const Request& request) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, request.memoryBytes);
  limit(RLIMIT_CPU, request.cpuSeconds);
  limit(RLIMIT_FSIZE, request.fileBytes);
  limit(RLIMIT_NOFILE, MOST_OPEN_FILES);
}

// Root keeps the capabilities to read and write files of others; Landlock restricts which files.
void dropCapabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (geteuid() == 0) {
    __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3] = {};
    if (syscall(SYS_capget, &header, now) != 0) return;
    sets[0].permitted = sets[0].effective = now[0].permitted & (1u << CAP_DAC_OVERRIDE);
  }
  syscall(SYS_capset, &header, sets);
}

// Landlock's interface (linux/landlock.h). Headers of older systems lack parts of it; the numbers are the same on all
// architectures.
constexpr long LANDLOCK_CREATE_RULESET = 444;
constexpr long LANDLOCK_ADD_RULE = 445;
constexpr long LANDLOCK_RESTRICT_SELF = 446;
constexpr int RULE_PATH_BENEATH = 1;
constexpr uint64_t EXECUTE = 1 << 0;
constexpr uint64_t WRITE_FILE = 1 << 1;
constexpr uint64_t READ_FILE = 1 << 2;
constexpr uint64_t ALL_OF_VERSION_1 = (1 << 13) - 1;
constexpr uint64_t REFER = 1 << 13;     // version 2
constexpr uint64_t TRUNCATE = 1 << 14;  // version 3
constexpr uint64_t IOCTL_DEVICE = 1 << 15;  // version 5

struct RulesetAttributes {
  uint64_t handledAccess;
};
struct __attribute__((packed)) PathRule {
  uint64_t allowedAccess;
  int32_t parent;
};

// Files that the dynamic loader opens before ffmpeg runs; a static ffmpeg needs none of them.
constexpr const char* LIBRARIES[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"};
#if defined(__x86_64__)
constexpr const char* LOADERS[] = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"};
#elif defined(__aarch64__)
constexpr const char* LOADERS[] = {"/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-aarch64.so.1"};
#else
#error "the confinement knows the loader and the system calls of x86-64 and arm64"
#endif

class Ruleset {
 public:
  explicit Ruleset(uint64_t handled) : handled_(handled) {
    const RulesetAttributes attributes = {handled};
    descriptor_ = static_cast<int>(syscall(LANDLOCK_CREATE_RULESET, &attributes, sizeof attributes, 0));
  }

  // A missing file needs no rule. The rule applies to the file, not to another one that later gets its name.
  void allow(const char* path, uint64_t access) const {
    const int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent < 0) return;
    const PathRule rule = {access & handled_, parent};
    syscall(LANDLOCK_ADD_RULE, descriptor_, RULE_PATH_BENEATH, &rule, 0);
    close(parent);
  }

  bool restrict() const { return descriptor_ >= 0 && syscall(LANDLOCK_RESTRICT_SELF, descriptor_, 0) == 0; }

 private:
  uint64_t handled_;
  int descriptor_;
};

// Returns the version in use; 0 if files are not confined.
int confineFiles(const Request& request) {
  const long version = syscall(LANDLOCK_CREATE_RULESET, nullptr, 0, 1);
  if (version < 1) return 0;
  uint64_t handled = ALL_OF_VERSION_1;
  if (version >= 2) handled |= REFER;
  if (version >= 3) handled |= TRUNCATE;
  if (version >= 5) handled |= IOCTL_DEVICE;
  const Ruleset rules(handled);
  if (request.command != nullptr) rules.allow(request.command[0], READ_FILE | EXECUTE);
  for (const char* path : LOADERS) rules.allow(path, READ_FILE | EXECUTE);
  for (const char* path : LIBRARIES) rules.allow(path, READ_FILE);
  rules.allow("/dev/null", READ_FILE | WRITE_FILE);
  rules.allow("/dev/urandom", READ_FILE);
  for (int index = 0; index < request.read.count; index++) rules.allow(request.read.items[index], READ_FILE);
  // Some containers have their index at the end, made from the part written before.
  for (int index = 0; index < request.write.count; index++)
    rules.allow(request.write.items[index], READ_FILE | WRITE_FILE | TRUNCATE);
  return rules.restrict() ? static_cast<int>(version) : 0;
}

// The order matters: a step may need a right that a later one removes.
Confinement confine(const Request& request) {
  Confinement active;
  const bool ownUsers = enterNamespaces(active);
  setLimits(request);
  active.threadLimit = ownUsers && countsInNamespace() && limit(RLIMIT_NPROC, MOST_THREADS);
  dropCapabilities();
  // Landlock and the system call filter require that the process can gain no privileges.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return active;
  active.landlock = confineFiles(request);
  active.seccomp = confineCalls();
  return active;
}

}  // namespace

int main(int count, char** arguments) {
  const Request request = readArguments(count, arguments);
  // Closes everything that the server has open, whatever its flags.
  syscall(SYS_close_range, 3u, ~0u, 0u);
  if (request.command == nullptr) {
    const Confinement active = confine(request);
    printf("{\"landlock\":%d,\"seccomp\":%s,\"networkNamespace\":%s,\"threadLimit\":%s}\n", active.landlock,
           active.seccomp ? "true" : "false", active.networkNamespace ? "true" : "false",
           active.threadLimit ? "true" : "false");
    return 0;
  }
  awaitStart();
  makeOutputs(request.write);
  confine(request);
  execv(request.command[0], request.command);
  fprintf(stderr, "confine: %s can't be run: %s\n", request.command[0], strerror(errno));
  return CANNOT_RUN;
}
