#include "ctransmit.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <winscard.h>

struct ctransmit {
    SCARDCONTEXT context;
    SCARDHANDLE card;
    DWORD protocol;
    uint8_t answer[MAX_BUFFER_SIZE_EXTENDED];
    const uint8_t *command;
    size_t length, count;
    uint64_t *nanoseconds;
    LONG code;
};

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

struct ctransmit *ctransmit_open(const char *reader, uint32_t *code) {
    struct ctransmit *client = calloc(1, sizeof *client);
    *code = (uint32_t)SCARD_E_NO_MEMORY;
    if (client == NULL) return NULL;
    LONG result = SCardEstablishContext(SCARD_SCOPE_SYSTEM, NULL, NULL, &client->context);
    if (result == SCARD_S_SUCCESS) {
        result = SCardConnect(client->context, reader, SCARD_SHARE_SHARED, SCARD_PROTOCOL_T0 | SCARD_PROTOCOL_T1,
            &client->card, &client->protocol);
        if (result != SCARD_S_SUCCESS) SCardReleaseContext(client->context);
    }
    *code = (uint32_t)result;
    if (result == SCARD_S_SUCCESS) return client;
    free(client);
    return NULL;
}

static void *block(void *argument) {
    struct ctransmit *client = argument;
    client->code = SCardBeginTransaction(client->card);
    const SCARD_IO_REQUEST *request = client->protocol == SCARD_PROTOCOL_T0 ? SCARD_PCI_T0 : SCARD_PCI_T1;
    for (size_t index = 0; index < client->count && client->code == SCARD_S_SUCCESS; index++) {
        DWORD received = sizeof client->answer;
        uint64_t start = now();
        client->code =
            SCardTransmit(client->card, request, client->command, client->length, NULL, client->answer, &received);
        client->nanoseconds[index] = now() - start;
    }
    SCardEndTransaction(client->card, SCARD_LEAVE_CARD);
    return NULL;
}

uint32_t ctransmit_block(
    struct ctransmit *client, const uint8_t *command, size_t length, size_t count, uint64_t *nanoseconds) {
    client->command = command;
    client->length = length;
    client->count = count;
    client->nanoseconds = nanoseconds;
    pthread_t thread;
    if (pthread_create(&thread, NULL, block, client) != 0) return (uint32_t)SCARD_E_NO_MEMORY;
    pthread_join(thread, NULL);
    return (uint32_t)client->code;
}

void ctransmit_close(struct ctransmit *client) {
    SCardDisconnect(client->card, SCARD_LEAVE_CARD);
    SCardReleaseContext(client->context);
    free(client);
}
