/* A program outside the tree that uses the library: runs the text that it is given, and shows results and messages. */
#include <runnel.h>

#include <stdio.h>
#include <string.h>

static void write_bytes(void *context, const char *bytes, size_t length)
{
    fwrite(bytes, 1, length, context);
}

int main(int count, char **arguments)
{
    const char *text = count > 1 ? arguments[1] : "";
    RunnelOptions options = {.write = write_bytes, .write_context = stdout};
    RunnelSession *session = runnel_open(&options);
    if (session == NULL)
        return 3;
    RunnelStatus status = runnel_load_text(session, "outside", text, strlen(text), RUNNEL_DIALECT_RNL);
    if (status == RUNNEL_OK)
        status = runnel_run_items(session);
    fputs(runnel_messages(session), stderr);
    runnel_close(session);
    return (int)status;
}
