#include "cvisits.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BEGIN, RECEIPT, MERGED, CARD, MEMBER, REPEAT, CLOCK, VISIT, CHANGE, COUNT, KEEP, COMMIT, STATEMENTS };

#define COLUMNS                                                                                                     \
    "id, user_id, username, added_at, num_visits, last_visit_at, fields, status, merged_into, blocked, expires_at, " \
    "visits_left, own_visits, origin_hlc, origin_device, ended_hlc, claim_visits, claim_at, facts"

// The statements of a tap of a member who is known, as the store makes them.
static const char *const sql[STATEMENTS] = {
    "BEGIN IMMEDIATE TRANSACTION",
    "SELECT at, reader, backend, outcome, reason_code, reason, notices, member_id, num_visits, last_visit_at "
    "FROM receipt WHERE event_id = ?",
    "SELECT at, reader, backend, member_id FROM visit WHERE event_id = ?",
    "SELECT member_key, blocked IS NOT NULL, hlc FROM card WHERE card_id = ?",
    "SELECT " COLUMNS " FROM member WHERE user_id = ?",
    "SELECT EXISTS (SELECT 1 FROM visit WHERE member_id = ? AND at > ? AND at < ? AND born > ? "
    "AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id))",
    "UPDATE clock SET hlc = max(hlc + 1 + ((hlc + 1) & 65535 = 65535), ?) RETURNING hlc",
    "INSERT INTO visit (event_id, device_id, hlc, member_id, at, reader, backend, born, source, reason, actor) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO change (member_id, before) SELECT id, CASE WHEN status = 0 THEN json_array("
    "user_id, username, added_at, num_visits, last_visit_at, "
    "json(CASE WHEN json_valid(fields) THEN fields ELSE '{}' END), blocked, expires_at, visits_left, "
    "json(CASE WHEN json_valid(tags) THEN tags END)) END FROM member WHERE id = ?",
    "UPDATE member SET own_visits = own_visits + 1, num_visits = num_visits + 1, "
    "last_visit_at = max(coalesce(last_visit_at, 0), ?), visits_left = max(0, visits_left - 1), change_seq = ? "
    "WHERE id = ? AND claim_visits IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM member AS other WHERE other.merged_into = member.user_id) "
    "RETURNING " COLUMNS "",
    "INSERT INTO receipt (event_id, at, reader, backend, outcome, reason_code, reason, notices, member_id, "
    "num_visits, last_visit_at) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT num_visits FROM member WHERE id = ?9), "
    "(SELECT last_visit_at FROM member WHERE id = ?9)",
    "COMMIT TRANSACTION",
};

struct cvisits {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    /// What is read goes here, so that reading is not left out.
    uint64_t sum;
};

cvisits *cvisits_open(const char *path) {
    cvisits *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    int ok = sqlite3_open_v2(path, &self->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
        && sqlite3_exec(
               self->db,
               "PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON;"
               "PRAGMA secure_delete = ON;"
               "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
               NULL, NULL, NULL) == SQLITE_OK;
    for (int index = 0; ok && index < STATEMENTS; index++)
        ok = sqlite3_prepare_v3(self->db, sql[index], -1, SQLITE_PREPARE_PERSISTENT, &self->statements[index], NULL)
            == SQLITE_OK;
    if (ok) return self;
    cvisits_close(self);
    return NULL;
}

void cvisits_close(cvisits *self) {
    if (!self) return;
    for (int index = 0; index < STATEMENTS; index++) sqlite3_finalize(self->statements[index]);
    sqlite3_close_v2(self->db);
    free(self);
}

/// Steps once and reads every column of the row, if there is one.
static int run(cvisits *self, int which) {
    sqlite3_stmt *statement = self->statements[which];
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW) return code;
    for (int column = 0; column < sqlite3_column_count(statement); column++) {
        switch (sqlite3_column_type(statement, column)) {
        case SQLITE_INTEGER: self->sum += (uint64_t)sqlite3_column_int64(statement, column); break;
        case SQLITE_NULL: break;
        default: {
            const uint8_t *bytes = sqlite3_column_blob(statement, column);
            int count = sqlite3_column_bytes(statement, column);
            for (int index = 0; index < count; index++) self->sum += bytes[index];
        }
        }
    }
    return code;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return ((int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000) << 16;
}

static int take(cvisits *self, const cvisits_tap *tap) {
    sqlite3_stmt **s = self->statements;
    if (run(self, BEGIN) != SQLITE_DONE) return 1;
    sqlite3_bind_blob(s[RECEIPT], 1, tap->event, 16, SQLITE_STATIC);
    if (run(self, RECEIPT) != SQLITE_DONE) return 1;
    sqlite3_bind_blob(s[MERGED], 1, tap->event, 16, SQLITE_STATIC);
    if (run(self, MERGED) != SQLITE_DONE) return 1;
    sqlite3_bind_text(s[CARD], 1, tap->key, -1, SQLITE_STATIC);
    if (run(self, CARD) != SQLITE_DONE) return 1;
    sqlite3_bind_text(s[MEMBER], 1, tap->key, -1, SQLITE_STATIC);
    if (run(self, MEMBER) != SQLITE_ROW) return 1;
    int64_t member = sqlite3_column_int64(s[MEMBER], 0);
    int64_t born = sqlite3_column_int64(s[MEMBER], 13);
    int64_t ended = sqlite3_column_int64(s[MEMBER], 15);
    sqlite3_bind_int64(s[REPEAT], 1, member);
    sqlite3_bind_int64(s[REPEAT], 2, tap->at - 30000000);
    sqlite3_bind_int64(s[REPEAT], 3, tap->at + 30000000);
    sqlite3_bind_int64(s[REPEAT], 4, ended);
    if (run(self, REPEAT) != SQLITE_ROW || sqlite3_column_int64(s[REPEAT], 0) != 0) return 1;
    sqlite3_bind_int64(s[CLOCK], 1, now());
    if (run(self, CLOCK) != SQLITE_ROW) return 1;
    int64_t hlc = sqlite3_column_int64(s[CLOCK], 0);
    if (sqlite3_step(s[CLOCK]) != SQLITE_DONE) return 1;
    sqlite3_bind_blob(s[VISIT], 1, tap->event, 16, SQLITE_STATIC);
    sqlite3_bind_blob(s[VISIT], 2, tap->device, 16, SQLITE_STATIC);
    sqlite3_bind_int64(s[VISIT], 3, hlc);
    sqlite3_bind_int64(s[VISIT], 4, member);
    sqlite3_bind_int64(s[VISIT], 5, tap->at);
    sqlite3_bind_text(s[VISIT], 6, "Benchmark", -1, SQLITE_STATIC);
    sqlite3_bind_text(s[VISIT], 7, "simulated", -1, SQLITE_STATIC);
    sqlite3_bind_int64(s[VISIT], 8, born);
    sqlite3_bind_text(s[VISIT], 9, "card", -1, SQLITE_STATIC);
    sqlite3_bind_null(s[VISIT], 10);
    sqlite3_bind_null(s[VISIT], 11);
    if (run(self, VISIT) != SQLITE_DONE) return 1;
    sqlite3_bind_int64(s[CHANGE], 1, member);
    if (run(self, CHANGE) != SQLITE_DONE) return 1;
    int64_t change = sqlite3_last_insert_rowid(self->db);
    sqlite3_bind_int64(s[COUNT], 1, tap->at);
    sqlite3_bind_int64(s[COUNT], 2, change);
    sqlite3_bind_int64(s[COUNT], 3, member);
    if (run(self, COUNT) != SQLITE_ROW) return 1;
    sqlite3_bind_blob(s[KEEP], 1, tap->event, 16, SQLITE_STATIC);
    sqlite3_bind_int64(s[KEEP], 2, tap->at);
    sqlite3_bind_text(s[KEEP], 3, "Benchmark", -1, SQLITE_STATIC);
    sqlite3_bind_text(s[KEEP], 4, "simulated", -1, SQLITE_STATIC);
    sqlite3_bind_text(s[KEEP], 5, "visit", -1, SQLITE_STATIC);
    sqlite3_bind_int64(s[KEEP], 9, member);
    if (run(self, KEEP) != SQLITE_DONE) return 1;
    for (int index = 0; index < COMMIT; index++) sqlite3_reset(s[index]);
    int code = run(self, COMMIT);
    sqlite3_reset(s[COMMIT]);
    return code == SQLITE_DONE ? 0 : code;
}

int cvisits_block(cvisits *self, const cvisits_tap *taps, int count) {
    for (int index = 0; index < count; index++) {
        int code = take(self, &taps[index]);
        if (code) {
            int reason = sqlite3_extended_errcode(self->db);
            return reason ? reason : code;
        }
    }
    return 0;
}

int cvisits_execute(const char *path, const char *statements) {
    sqlite3 *db = NULL;
    int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    if (!code) code = sqlite3_exec(db, statements, NULL, NULL, NULL);
    sqlite3_close_v2(db);
    return code;
}
