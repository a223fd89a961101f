// A directory with unpacked inner programs, each in a directory of its own: RUNTIME/NAME/transcribe. src/program uses the
// same directories for the parts, and accepts them under the same conditions.
#pragma once

#include <cctype>
#include <climits>

#include <dirent.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>

#include "program-file.h"

// Name of the inner program, which is the process's name for the kernel, too.
constexpr const char* PROGRAM = "transcribe";
constexpr const char* LOCK = "program.lock";
// Ending of a directory that is being written. The lock's owner alone writes one.
constexpr const char* UNFINISHED = ".new";

// Time that a start waits for another one that unpacks, which takes a second.
constexpr int LOCK_WAIT_SECONDS = 30;
constexpr int LOCK_POLLS_PER_SECOND = 20;

struct Path {
  char text[PATH_MAX];
};

// A descriptor that is closed with its owner, and by the kernel when the inner program starts.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  operator int() const { return number_; }

 private:
  int number_;
};

// Whether only this user and root can change a file or the entries of a directory.
inline bool isPrivate(const struct stat& status) {
  return (status.st_uid == geteuid() || status.st_uid == 0) && (status.st_mode & 022) == 0;
}

inline int openPrivateDirectory(int parent, const char* path, int flags) {
  const int directory = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
  struct stat status;
  if (directory < 0 || (fstat(directory, &status) == 0 && isPrivate(status))) return directory;
  close(directory);
  return -1;
}

// Opens the directory of the inner program if that is complete and nobody else could have changed it.
inline int openProgram(int top, const ProgramFile& file) {
  const int directory = openPrivateDirectory(top, file.name(), O_NOFOLLOW);
  struct stat status;
  if (directory < 0) return -1;
  if (fstatat(directory, PROGRAM, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) && isPrivate(status) &&
      static_cast<uint64_t>(status.st_size) == file.innerBytes()) {
    return directory;
  }
  close(directory);
  return -1;
}

// Starts the unpacked inner program if there is one that can be trusted. Returns only if that fails. The kernel finds the
// program from the descriptor of the checked directory, so that exchanging a directory or link on the way to it has no
// effect.
inline void startFrom(const char* runtime, const ProgramFile& file, char** arguments, char** environment) {
  const Descriptor top(openPrivateDirectory(AT_FDCWD, runtime, 0));
  if (top < 0) return;
  const Descriptor directory(openProgram(top, file));
  if (directory < 0) return;
  char program[64];
  snprintf(program, sizeof program, "/proc/self/fd/%d/%s", static_cast<int>(directory), PROGRAM);
  execve(program, arguments, environment);
}

// Creates missing directories. Creates none below a directory of another user: root must leave nothing in the home
// directory that a caller's environment names.
inline void makeDirectories(const char* path) {
  Path part;
  struct stat above;
  struct stat here;
  if (static_cast<size_t>(snprintf(part.text, sizeof part.text, "%s", path)) >= sizeof part.text) return;
  if (stat(*path == '/' ? "/" : ".", &above) != 0) return;
  for (char* slash = part.text; slash != nullptr; above = here) {
    slash = strchr(slash + 1, '/');
    if (slash != nullptr) *slash = '\0';
    if (stat(part.text, &here) != 0) {
      if (above.st_uid != geteuid() && above.st_uid != 0) return;
      // A concurrent start may have created it.
      if ((mkdir(part.text, 0700) != 0 && errno != EEXIST) || stat(part.text, &here) != 0) return;
    }
    if (slash != nullptr) *slash = '/';
  }
}

// Waits for the lock of a directory. The kernel releases it when this process ends or becomes the inner program.
inline bool lock(int descriptor) {
  for (int poll = 0; poll < LOCK_WAIT_SECONDS * LOCK_POLLS_PER_SECOND; poll++) {
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    const timespec pause = {0, 1'000'000'000 / LOCK_POLLS_PER_SECOND};
    nanosleep(&pause, nullptr);
  }
  return false;
}

// Removes a directory with an inner program. Does nothing for the parts, which have such names, too: their directories
// have other entries.
inline void removeProgram(int top, const char* name) {
  const Descriptor directory(openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory < 0) return;
  unlinkat(directory, PROGRAM, 0);
  unlinkat(top, name, AT_REMOVEDIR);
}

// Removes inner programs of other versions, and unfinished ones of processes that were killed. A process of another
// version keeps its program, which the kernel removes when it ends.
inline void removeOthers(int top, const char* name) {
  DIR* entries = fdopendir(openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    const char* found = entry->d_name;
    size_t digits = 0;
    while (isdigit(found[digits]) || (found[digits] >= 'a' && found[digits] <= 'f')) digits++;
    const bool isFinished = found[digits] == '\0';
    if (digits != NAME_LENGTH || (!isFinished && strcmp(found + digits, UNFINISHED) != 0)) continue;
    if (strcmp(found, name) != 0) removeProgram(top, found);
  }
  closedir(entries);
}

// Writes the inner program into a new directory and syncs it to the disk.
inline bool writeProgram(int top, const char* directory, const ProgramFile& file) {
  removeProgram(top, directory);
  if (mkdirat(top, directory, 0700) != 0) return false;
  const Descriptor opened(openPrivateDirectory(top, directory, O_NOFOLLOW));
  // Other users may execute it: a process that gives up root's rights starts it again, by the kernel's link.
  const Descriptor program(openat(opened, PROGRAM, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500));
  return program >= 0 && file.unpack(program) && fchmod(program, 0555) == 0 && fsync(program) == 0 && fsync(opened) == 0;
}

// Unpacks the inner program into a directory, unless programs cannot be written or run there. It appears there complete
// or not at all.
inline void unpackInto(const char* runtime, const ProgramFile& file) {
  makeDirectories(runtime);
  const Descriptor top(openPrivateDirectory(AT_FDCWD, runtime, 0));
  struct statvfs system;
  if (top < 0 || fstatvfs(top, &system) != 0 || (system.f_flag & (ST_NOEXEC | ST_RDONLY)) != 0) return;
  const Descriptor locked(openat(top, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (locked < 0 || !lock(locked)) return;
  // Another start may have unpacked it meanwhile.
  if (Descriptor(openProgram(top, file)) >= 0) return;
  char unfinished[NAME_LENGTH + 8];
  snprintf(unfinished, sizeof unfinished, "%s%s", file.name(), UNFINISHED);
  removeOthers(top, file.name());
  if (!writeProgram(top, unfinished, file)) {
    const bool isDamaged = errno == DAMAGED;
    removeProgram(top, unfinished);
    if (isDamaged) failDamaged();
    return;
  }
  removeProgram(top, file.name());
  if (renameat(top, unfinished, top, file.name()) != 0) removeProgram(top, unfinished);
  fsync(top);
}
