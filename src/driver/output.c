#include "driver/output.h"

#include "driver/report.h"
#include "runnel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int write_error; /* errno of the first write that failed */

static bool note(bool is_good)
{
    if (!is_good && write_error == 0)
        write_error = errno == 0 ? EIO : errno;
    return write_error == 0;
}

bool output_write(const char *bytes, size_t length)
{
    return write_error == 0 && note(fwrite(bytes, 1, length, stdout) == length);
}

bool output_flush(void)
{
    return note(fflush(stdout) == 0);
}

bool output_is_good(void)
{
    return write_error == 0;
}

int output_finish(int status)
{
    if (output_flush() && !ferror(stdout))
        return status;
    if (write_error != EPIPE)
        report_error("io-failure", "cannot write to standard output: %s", strerror(write_error));
    return RUNNEL_RUN_ERROR;
}
