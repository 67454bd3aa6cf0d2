#define FOLDED
#include "windows.c"
