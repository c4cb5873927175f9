#ifndef CTRANSMIT_H
#define CTRANSMIT_H

#include <stddef.h>
#include <stdint.h>

/// A plain client of libpcsclite, with a context and a connection to the card that last.
struct ctransmit;

/// Connects to the card. Returns NULL when a call fails, with its code in `code`.
struct ctransmit *ctransmit_open(const char *reader, uint32_t *code);

/// Locks the card, sends the command `count` times on a thread of its own, and lets the card go.
///
/// The nanoseconds of each SCardTransmit go to `nanoseconds`. Returns 0, or the code of the call that failed.
uint32_t ctransmit_block(
    struct ctransmit *client, const uint8_t *command, size_t length, size_t count, uint64_t *nanoseconds);

/// Disconnects.
void ctransmit_close(struct ctransmit *client);

#endif
