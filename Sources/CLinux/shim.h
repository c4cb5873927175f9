#include <wchar.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

// Behind _XOPEN_SOURCE, which a module cannot set after others have included the header.
extern int wcwidth(wchar_t character);
