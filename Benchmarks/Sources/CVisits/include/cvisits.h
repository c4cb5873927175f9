#ifndef CVISITS_H
#define CVISITS_H

#include <stdint.h>

/// A connection that does for a tap what the store does, and nothing else.
typedef struct cvisits cvisits;

/// A tap.
typedef struct {
    uint8_t event[16];
    uint8_t device[16];
    char key[40];
    /// Microseconds since 1970.
    int64_t at;
} cvisits_tap;

/// Opens a member database with the settings of the store; NULL if that fails.
cvisits *cvisits_open(const char *path);

void cvisits_close(cvisits *self);

/// Commits each tap by itself. Gives 0, or SQLite's code.
int cvisits_block(cvisits *self, const cvisits_tap *taps, int count);

/// Opens a database and runs statements. Gives 0, or SQLite's code.
int cvisits_execute(const char *path, const char *statements);

#endif
