/* Fuzzing the front ends: whatever the bytes, loading them ends with a result or an error. The lowest bit of the
 * first byte picks the dialect, so that a corpus file that starts with `0` is Runnel and one with `1` NESL. */
#include "runnel.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_output(void *context, const char *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    RunnelSession *session = runnel_open(&(RunnelOptions){.write = ignore_output});
    if (session == NULL)
        return 0;
    RunnelDialect dialect = (data[0] & 1) != 0 ? RUNNEL_DIALECT_NESL : RUNNEL_DIALECT_RNL;
    const char *text = (const char *)data + 1;
    runnel_is_unfinished(session, text, size - 1, dialect);
    RunnelStatus status = runnel_load_text(session, "fuzz", text, size - 1, dialect);
    if (status != RUNNEL_OK && runnel_messages(session)[0] == '\0')
        abort(); /* an error must say what it is */
    runnel_close(session);
    return 0;
}
