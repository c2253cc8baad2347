/* Makes one call on files under a folder fail: preloaded, and armed by the process itself.

   arm(folder, at, error, kinds, lasting): the call with this number, of these kinds, fails with this error; all after it
   too where `lasting`. disarm() gives how many calls there were. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, OPEN = 2, SYNC = 4, READ = 8 };

static char under[4096];
static int armed, error_number, kinds, lasting;
static long at, calls;

void arm(const char *folder, long number, int error, int which, int on) {
    strncpy(under, folder, sizeof under - 1);
    at = number, error_number = error, kinds = which, lasting = on, calls = 0, armed = 1;
}

long disarm(void) {
    armed = 0;
    return calls;
}

static int fails(const char *path, int kind) {
    if (!armed || !(kinds & kind) || !path || strncmp(path, under, strlen(under))) return 0;
    long number = __sync_add_and_fetch(&calls, 1);
    if (number != at && !(lasting && number > at)) return 0;
    errno = error_number;
    return 1;
}

static int descriptor_fails(int fd, int kind) {
    char link[64], path[4096];
    if (!armed || !(kinds & kind)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(path, kind);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define OPENED(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        if (fails(path, OPEN)) return -1; \
        return REAL(name)(path, flags, mode); }
#define OPENED_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        if (fails(path, OPEN)) return -1; \
        return REAL(name)(folder, path, flags, mode); }
#define BY_DESCRIPTOR(type, name, kind, declared, passed) \
    type name declared { if (descriptor_fails(fd, kind)) return -1; return REAL(name) passed; }
#define BY_PATH(name, declared, passed) \
    int name declared { if (fails(path, WRITE)) return -1; return REAL(name) passed; }

OPENED(open)
OPENED(open64)
OPENED_AT(openat)
OPENED_AT(openat64)
BY_DESCRIPTOR(ssize_t, write, WRITE, (int fd, const void *data, size_t size), (fd, data, size))
BY_DESCRIPTOR(ssize_t, writev, WRITE, (int fd, const struct iovec *data, int count), (fd, data, count))
BY_DESCRIPTOR(ssize_t, pwrite, WRITE, (int fd, const void *data, size_t size, off_t to), (fd, data, size, to))
BY_DESCRIPTOR(ssize_t, pwrite64, WRITE, (int fd, const void *data, size_t size, off64_t to), (fd, data, size, to))
BY_DESCRIPTOR(int, ftruncate, WRITE, (int fd, off_t size), (fd, size))
BY_DESCRIPTOR(int, ftruncate64, WRITE, (int fd, off64_t size), (fd, size))
BY_DESCRIPTOR(int, fsync, SYNC, (int fd), (fd))
BY_DESCRIPTOR(int, fdatasync, SYNC, (int fd), (fd))
BY_DESCRIPTOR(ssize_t, read, READ, (int fd, void *data, size_t size), (fd, data, size))
BY_DESCRIPTOR(ssize_t, pread, READ, (int fd, void *data, size_t size, off_t from), (fd, data, size, from))
BY_DESCRIPTOR(ssize_t, pread64, READ, (int fd, void *data, size_t size, off64_t from), (fd, data, size, from))
BY_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
BY_PATH(rename, (const char *path, const char *to), (path, to))
BY_PATH(link, (const char *path, const char *to), (path, to))
