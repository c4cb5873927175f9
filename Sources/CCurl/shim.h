#include <curl/curl.h>

// The library is loaded when it is first used, so its functions are pointers. Those that take a value of any type cannot
// be called from Swift: what they are called with stands here.
typedef CURLcode (*clubkit_curl_setopt)(CURL *, CURLoption, ...);

static inline CURLcode clubkit_set_long(clubkit_curl_setopt set, CURL *handle, CURLoption option, long value) {
    return set(handle, option, value);
}
static inline CURLcode clubkit_set_offset(clubkit_curl_setopt set, CURL *handle, CURLoption option, curl_off_t value) {
    return set(handle, option, value);
}
static inline CURLcode clubkit_set_pointer(clubkit_curl_setopt set, CURL *handle, CURLoption option, void *value) {
    return set(handle, option, value);
}
static inline CURLcode clubkit_set_text(clubkit_curl_setopt set, CURL *handle, CURLoption option, const char *value) {
    return set(handle, option, value);
}
static inline CURLcode clubkit_set_data(clubkit_curl_setopt set, CURL *handle, CURLoption option, curl_write_callback value) {
    return set(handle, option, value);
}
static inline CURLcode clubkit_set_source(clubkit_curl_setopt set, CURL *handle, CURLoption option, curl_read_callback value) {
    return set(handle, option, value);
}
static inline CURLcode clubkit_set_start(clubkit_curl_setopt set, CURL *handle, CURLoption option, curl_prereq_callback value) {
    return set(handle, option, value);
}
