/* The parts of the preamble, as tools/embed_headers makes them of the headers that the Makefile names. */
#ifndef RUNNEL_KERNEL_PREAMBLE_TEXTS_H
#define RUNNEL_KERNEL_PREAMBLE_TEXTS_H

extern const char preamble_text_ops[];      /* what every file has */
extern const char preamble_text_math[];     /* elementary functions of f64 */
extern const char preamble_text_math_f32[]; /* and of f32, made of those */
extern const char preamble_text_math_ops[]; /* both as operations */
extern const char preamble_text_kernel[];   /* what loops need beside operations */

#endif
