// Starts the program: the first bytes of the product's file. It finds the unpacked inner program, unpacks it at the first
// start, and becomes it, with the same arguments and process id.
//
// The places, in this order:
//   $TRANSCRIBE_STORAGE_RUNTIME_DIR
//   /usr/lib/transcribe, /usr/local/lib/transcribe       of an installation; never written here
//   $XDG_CACHE_HOME or $HOME/.cache, and there transcribe/runtime
//   memory, if no place can be used
#include <sys/mman.h>

#include "program-file.h"
#include "runtime-directory.h"

namespace {

// Tells the inner program the path of its file. Not TRANSCRIBE_…, which is the prefix of settings.
constexpr const char VARIABLE[] = "_TRANSCRIBE_FILE=";

constexpr const char* INSTALLED[] = {"/usr/lib/transcribe", "/usr/local/lib/transcribe"};

const char* variable(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Returns the directory that src/server/local-pipeline.ts uses, too; false if this user has none.
bool cacheDirectory(Path& path) {
  const char* cache = variable("XDG_CACHE_HOME");
  const char* home = variable("HOME");
  int length = -1;
  if (cache != nullptr && *cache == '/') {
    length = snprintf(path.text, sizeof path.text, "%s/transcribe/runtime", cache);
  } else if (home != nullptr && *home == '/' && access(home, X_OK) == 0) {
    length = snprintf(path.text, sizeof path.text, "%s/.cache/transcribe/runtime", home);
  }
  return length > 0 && static_cast<size_t>(length) < sizeof path.text;
}

// Returns the environment with the path of this program's file.
char** environmentWithFile() {
  static char setting[sizeof VARIABLE + PATH_MAX];
  memcpy(setting, VARIABLE, sizeof VARIABLE);
  char* const path = setting + sizeof VARIABLE - 1;
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
  if (length < 0) fail("the path of this program's file is unknown");
  path[length] = '\0';
  size_t count = 0;
  while (environ[count] != nullptr) count++;
  auto** const extended = static_cast<char**>(calloc(count + 2, sizeof(char*)));
  if (extended == nullptr) fail("there is not enough memory");
  size_t next = 0;
  for (char** each = environ; *each != nullptr; each++) {
    if (strncmp(*each, VARIABLE, sizeof VARIABLE - 1) != 0) extended[next++] = *each;
  }
  extended[next] = setting;
  return extended;
}

// Starts the inner program from memory, where it takes as much as on a disk. Returns the error if that fails.
int startFromMemory(const ProgramFile& file, char** arguments, char** environment) {
  // Newer kernels want to know whether the memory will be executed, older ones do not know the flag.
  constexpr unsigned EXECUTABLE = 0x10;
  int memory = memfd_create(PROGRAM, MFD_CLOEXEC | EXECUTABLE);
  if (memory < 0 && errno == EINVAL) memory = memfd_create(PROGRAM, MFD_CLOEXEC);
  const Descriptor program(memory);
  if (program < 0) return errno;
  if (!file.unpack(program)) {
    if (errno == DAMAGED) failDamaged();
    return errno;
  }
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
  execve(path, arguments, environment);
  return errno;
}

}  // namespace

int main(int, char** arguments) {
  const ProgramFile file;
  char** const environment = environmentWithFile();
  const char* const chosen = variable("TRANSCRIBE_STORAGE_RUNTIME_DIR");
  Path cache;
  const bool hasCache = cacheDirectory(cache);
  const char* const own[] = {chosen, hasCache ? cache.text : nullptr};

  if (chosen != nullptr) startFrom(chosen, file, arguments, environment);
  for (const char* place : INSTALLED) startFrom(place, file, arguments, environment);
  if (hasCache) startFrom(cache.text, file, arguments, environment);
  for (const char* place : own) {
    if (place == nullptr) continue;
    unpackInto(place, file);
    startFrom(place, file, arguments, environment);
  }
  const int reason = startFromMemory(file, arguments, environment);
  fprintf(stderr,
          reason == ENOENT
              ? "transcribe: this system lacks the GNU C library (%s): use a distribution that has it, 2.34 or later\n"
              : "transcribe: the program cannot be started (%s): set TRANSCRIBE_STORAGE_RUNTIME_DIR to a directory of this "
                "user with 200 MB of free space, from which programs may be run\n",
          strerror(reason));
  return 1;
}
