// Stands where ffmpeg should, and tries what an attacker would who has taken ffmpeg over. Each argument is an attempt:
// NAME or NAME=VALUE. Prints a line for each: its name and "done", or the reason why it can't be done.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace {

int openAs(const char* path, int flags) {
  const int file = open(path, flags, 0600);
  if (file >= 0) close(file);
  return file;
}

// Returns the id of a child, which exits at once.
int forked() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) waitpid(child, nullptr, 0);
  return child;
}

void* waiting(void*) {
  sleep(600);
  return nullptr;
}

int signalFromDescriptor(pid_t process) {
  int ends[2];
  return pipe(ends) == 0 ? fcntl(ends[0], F_SETOWN, process) : -1;
}

int limitOf(pid_t process) {
  const rlimit none = {0, 0};
  return static_cast<int>(syscall(SYS_prlimit64, process, RLIMIT_CORE, &none, nullptr));
}

int readFromMemory(pid_t process) {
  char byte;
  iovec here = {&byte, 1};
  iovec there = {reinterpret_cast<void*>(0x400000), 1};
  return static_cast<int>(process_vm_readv(process, &here, 1, &there, 1, 0));
}

int tryTo(const std::string& name, const char* value) {
  const pid_t process = atoi(value);
  if (name == "read") return openAs(value, O_RDONLY);
  if (name == "write") return openAs(value, O_WRONLY);
  if (name == "create") return openAs(value, O_WRONLY | O_CREAT);
  if (name == "list") return opendir(value) == nullptr ? -1 : 0;
  if (name == "remove") return unlink(value);
  if (name == "truncate") return truncate(value, 0);
  if (name == "chmod") return chmod(value, 0777);
  if (name == "link") return symlink("/", value);
  if (name == "run") return execl(value, value, nullptr);
  if (name == "socket") return socket(AF_INET, SOCK_STREAM, 0);
  if (name == "unix-socket") return socket(AF_UNIX, SOCK_STREAM, 0);
  if (name == "fork") return forked();
  if (name == "kill") return kill(process, 0);
  if (name == "signal-thread") return static_cast<int>(syscall(SYS_tgkill, process, process, 0));
  if (name == "signal-from-descriptor") return signalFromDescriptor(process);
  if (name == "limit") return limitOf(process);
  if (name == "trace") return static_cast<int>(ptrace(PTRACE_SEIZE, process, nullptr, nullptr));
  if (name == "read-memory") return readFromMemory(process);
  if (name == "leave-group") return setsid();
  if (name == "mount") return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  if (name == "namespace") return unshare(CLONE_NEWUSER);
  if (name == "bpf") return static_cast<int>(syscall(SYS_bpf, BPF_MAP_CREATE, nullptr, 0));
  if (name == "io-uring") return static_cast<int>(syscall(SYS_io_uring_setup, 1, nullptr));
  if (name == "inherited") return fcntl(process, F_GETFD);
  errno = EINVAL;
  return -1;
}

// Prints what holds without an attempt. Returns false where the name is none of these.
bool report(const std::string& name) {
  if (name == "environment") {
    for (char** variable = environ; *variable != nullptr; variable++) printf("environment %s\n", *variable);
  } else if (name == "process") {
    printf("process %d\n", getpid());
  } else if (name == "limits") {
    rlimit now;
    for (const auto& [label, resource] : {std::pair{"memory", RLIMIT_AS}, std::pair{"cpu", RLIMIT_CPU},
                                          std::pair{"file", RLIMIT_FSIZE}, std::pair{"open", RLIMIT_NOFILE},
                                          std::pair{"core", RLIMIT_CORE}}) {
      getrlimit(resource, &now);
      printf("limit %s %llu\n", label, static_cast<unsigned long long>(now.rlim_cur));
    }
  } else if (name == "threads") {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    int count = 0;
    while (count < 500 && pthread_create(&thread, &attributes, waiting, nullptr) == 0) count++;
    printf("threads %d\n", count);
  } else if (name == "wait") {
    fflush(stdout);
    for (;;) sleep(600);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  for (int index = 1; index < count; index++) {
    const char* value = strchr(arguments[index], '=');
    const std::string name(arguments[index], value == nullptr ? strlen(arguments[index]) : value - arguments[index]);
    // Options that ffmpeg is always called with.
    if (name[0] == '-' || report(name)) continue;
    errno = 0;
    const bool done = tryTo(name, value == nullptr ? "" : value + 1) >= 0;
    printf("%s %s\n", name.c_str(), done ? "done" : strerror(errno));
    fflush(stdout);
  }
  return 0;
}
