# Runnel is built with plain GNU make; `make help` lists what can be asked for.
#
#   MODE    release (the default) | debug | asan | tsan: each has its own directory below build/
#   CC      gcc or clang; changing it, or any flag, rebuilds what depends on it
#   WERROR  1 makes warnings errors
#   V       1 shows the commands, 0 nothing
#   ONLY    a text: `make test ONLY=errors/` runs the tests whose names contain it
#   RUNNEL_FLAGS  options: `make test RUNNEL_FLAGS=--no-simplify` runs the tests of whole programs with them

MODE ?= release
BUILD ?= build/$(MODE)
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
AR ?= ar

MODE_FLAGS_release := -O2
MODE_FLAGS_debug := -O0 -g
MODE_FLAGS_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
MODE_FLAGS_tsan := -O1 -g -fsanitize=thread -fno-sanitize-recover=all -fno-omit-frame-pointer
MODE_FLAGS_fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
MODE_FLAGS := $(MODE_FLAGS_$(MODE))
ifeq ($(MODE_FLAGS),)
$(error MODE is release, debug, asan or tsan, not "$(MODE)")
endif

# Before a command: shows it, or only what it makes, or nothing.
Q = $(if $(filter 1,$(V)),,@$(if $(filter 0,$(V)),,echo '  $@' &&))

# -ffp-contract=off: a * b + c rounds twice, whatever the machine offers. -fno-math-errno: sqrt is one instruction, so loops over
# the elementary functions vectorise (src/math/bits.h).
COMMON_FLAGS := -std=c17 -Wall -Wextra -Wconversion $(if $(filter 1,$(WERROR)),-Werror) -ffp-contract=off -fno-math-errno
CFLAGS := $(COMMON_FLAGS) $(MODE_FLAGS)
CPPFLAGS := -Iinclude -Isrc
LDLIBS := -lm -lpthread -ldl

SOURCES := $(wildcard src/*/*.c src/*/*/*.c)
DRIVER_SOURCES := $(filter src/driver/%,$(SOURCES))
LIBRARY_SOURCES := $(filter-out src/driver/%,$(SOURCES))
LIB_FILES := $(sort $(wildcard lib/*.rnl lib/*.nesl))
RUNNER_SOURCES := $(wildcard tests/runner/*.c)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))

# Sources named *_vector.c are compiled once for each level of vector instructions, and the running program takes the best its
# processor has (src/vm/vector.h). Levels are named after what is passed as -march=x86-64-...; elsewhere there is one.
VECTOR_SOURCES := $(filter %_vector.c,$(LIBRARY_SOURCES))
VECTOR_LEVELS := base $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine 2>/dev/null)),v3 v4)
VECTOR_FLAGS_release := -O3
VECTOR_FLAGS_v3 := -march=x86-64-v3
VECTOR_FLAGS_v4 := -march=x86-64-v4
# Nobody looks at the flags of floats, so both sides of a condition may be computed; results are the same.
ELEMENTWISE_FLAGS := -fno-trapping-math

objects = $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(VECTOR_SOURCES),$(1))) \
	$(foreach level,$(VECTOR_LEVELS),$(patsubst %.c,$(BUILD)/%.$(level).o,$(filter $(VECTOR_SOURCES),$(1))))
LIBRARY := $(BUILD)/librunnel.a
PROGRAM := $(BUILD)/runnel
RUNNER := $(BUILD)/tests/runner/runner
REPLAY := $(BUILD)/tests/fuzz/replay
GENERATE := $(BUILD)/tests/generate/generate

.PHONY: all library test check-long bench-micro run fuzz install clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAM) $(if $(filter build/release,$(BUILD)),runnel)

runnel: $(PROGRAM)
	$(Q) ln -f $< $@ 2>/dev/null || cp -f $< $@

library: $(LIBRARY)

# Stamps change exactly when the text they hold does. Objects depend on the compiler and its flags, the
# archive on the list of its members, so that a build directory never mixes two of either.
stamp = mkdir -p $(@D) && printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' > $@

COMPILER := $(shell $(CC) --version 2>/dev/null | head -n 1)
ifneq ($(MAKECMDGOALS),clean)
HAVE_LIBEDIT := $(shell printf '\043include <histedit.h>\nint main(void) { return el_init == 0; }\n' | \
	$(CC) -x c -o /dev/null - -ledit 2>/dev/null && echo yes)
endif
ifneq ($(MAKECMDGOALS),clean)
HAVE_MPFR := $(shell printf '\043include <mpfr.h>\nint main(void) { return mpfr_exp == 0; }\n' | \
	$(CC) -x c -o /dev/null - -lmpfr -lgmp 2>/dev/null && echo yes)
endif
ifneq ($(MAKECMDGOALS),clean)
HAVE_ZLIB := $(shell printf '\043include <zlib.h>\nint main(void) { return inflateEnd(0) == 0; }\n' | \
	$(CC) -x c -o /dev/null - -lz 2>/dev/null && echo yes)
HAVE_ZSTD := $(shell printf '\043include <zstd.h>\nint main(void) { return ZSTD_createDStream() == 0; }\n' | \
	$(CC) -x c -o /dev/null - -lzstd 2>/dev/null && echo yes)
endif
# Compressed files are read and written with what there is.
COMPRESSION_FLAGS := $(if $(HAVE_ZLIB),-DRUNNEL_HAVE_ZLIB) $(if $(HAVE_ZSTD),-DRUNNEL_HAVE_ZSTD)
LDLIBS += $(if $(HAVE_ZLIB),-lz) $(if $(HAVE_ZSTD),-lzstd)
ifeq ($(HAVE_LIBEDIT),yes)
EDIT_FLAGS := -DRUNNEL_HAVE_LIBEDIT
EDIT_LIBS := -ledit
endif

$(BUILD)/flags.stamp: FORCE
	@$(call stamp,$(COMPILER) | $(CPPFLAGS) $(EDIT_FLAGS) $(COMPRESSION_FLAGS) $(CFLAGS) $(foreach level,$(MODE) $(VECTOR_LEVELS),$(VECTOR_FLAGS_$(level))) | $(ELEMENTWISE_FLAGS))

$(BUILD)/members.stamp: FORCE
	@$(call stamp,$(LIBRARY_SOURCES) $(VECTOR_LEVELS))

$(BUILD)/lib_files.stamp: FORCE
	@$(call stamp,$(LIB_FILES))

$(BUILD)/%.o: %.c $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(Q) $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

define vector_rule
$$(BUILD)/%.$(1).o: %.c $$(BUILD)/flags.stamp
	@mkdir -p $$(@D)
	$$(Q) $$(CC) $$(CPPFLAGS) -DVECTOR_LEVEL=$(1) $$(CFLAGS) $$(VECTOR_FLAGS_$$(MODE)) $$(VECTOR_FLAGS_$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach level,$(VECTOR_LEVELS),$(eval $(call vector_rule,$(level))))

$(call objects,$(filter src/vm/elementwise_%,$(VECTOR_SOURCES))): private CFLAGS += $(ELEMENTWISE_FLAGS)

$(BUILD)/src/driver/%.o: private CPPFLAGS += $(EDIT_FLAGS)
$(BUILD)/src/io/compression.o: private CPPFLAGS += $(COMPRESSION_FLAGS)

# The elementary functions are measured against MPFR.
ifeq ($(HAVE_MPFR),yes)
$(BUILD)/tests/unit/test_math.o: private CPPFLAGS += -DRUNNEL_HAVE_MPFR
$(BUILD)/tests/unit/test_math: private LDLIBS += -lmpfr -lgmp
endif

# These load what they have compiled.
$(BUILD)/tests/unit/test_kernel_op_text $(BUILD)/tests/unit/test_kernel_op_text_float: private LDLIBS += -ldl

# Tools are ordinary programs in every mode.
$(BUILD)/tools/%: tools/%.c $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(Q) $(CC) $(COMMON_FLAGS) -o $@ $<

# The standard library, built into the program.
$(BUILD)/library_files.c: $(BUILD)/tools/embed $(LIB_FILES) $(BUILD)/lib_files.stamp
	$(Q) $< $(LIB_FILES) > $@

$(BUILD)/library_files.o: $(BUILD)/library_files.c $(BUILD)/flags.stamp
	$(Q) $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The first part of every emitted C file (src/kernel/preamble.h), in the order of what needs what.
PREAMBLE_ops := src/kernel/preamble/system.h $(patsubst %,src/math/%.h,bits basic float_pieces combine random) src/kernel/preamble/ops.h
PREAMBLE_math := $(patsubst %,src/math/%.h,polynomials exp log power trig arc special)
PREAMBLE_math_f32 := src/math/single.h
PREAMBLE_math_ops := src/kernel/preamble/math_ops.h
PREAMBLE_PARTS := ops math math_f32 math_ops
$(BUILD)/preamble_texts.c: $(BUILD)/tools/embed_headers $(foreach part,$(PREAMBLE_PARTS),$(PREAMBLE_$(part)))
	$(Q) $< $(foreach part,$(PREAMBLE_PARTS),preamble_text_$(part)= $(PREAMBLE_$(part))) > $@

$(BUILD)/preamble_texts.o: $(BUILD)/preamble_texts.c $(BUILD)/flags.stamp
	$(Q) $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The powers of five that reading floats needs.
$(BUILD)/powers_of_five.c: $(BUILD)/tools/powers_of_five
	$(Q) $< > $@

$(BUILD)/powers_of_five.o: $(BUILD)/powers_of_five.c $(BUILD)/flags.stamp
	$(Q) $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(LIBRARY): $(call objects,$(LIBRARY_SOURCES)) $(BUILD)/library_files.o $(BUILD)/preamble_texts.o $(BUILD)/powers_of_five.o $(BUILD)/members.stamp
	@rm -f $@
	$(Q) $(AR) rcs $@ $(filter %.o,$^)

$(PROGRAM): $(call objects,$(DRIVER_SOURCES)) $(LIBRARY)
	$(Q) $(CC) $(CFLAGS) -o $@ $^ $(EDIT_LIBS) $(LDLIBS)

# Tests: one runner for files, commands, documents and unit tests.
$(RUNNER): $(call objects,$(RUNNER_SOURCES))
	$(Q) $(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(LIBRARY)
	$(Q) $(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

$(REPLAY): $(call objects,tests/fuzz/replay.c tests/fuzz/fuzz_front.c) $(LIBRARY)
	$(Q) $(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

$(GENERATE): $(call objects,$(wildcard tests/generate/*.c)) $(LIBRARY)
	$(Q) $(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

# Sanitizers make programs slower, and should report a huge allocation as a failed one, as malloc does. The
# thread sanitizer of older compilers needs addresses that are not randomised.
TIME_FACTOR := $(if $(filter asan tsan,$(MODE)),5,1)
TEST_ENVIRONMENT := RUNNEL=$(PROGRAM) TEST_TIME_FACTOR=$(TIME_FACTOR) TEST_MODE=$(MODE) RUNNEL_FLAGS='$(RUNNEL_FLAGS)' \
	ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=0
ifeq ($(MODE),tsan)
FIXED_ADDRESSES := $(shell setarch -R true 2>/dev/null && echo setarch -R)
endif

test: all $(RUNNER) $(UNIT_TESTS) $(REPLAY) $(GENERATE)
	@$(TEST_ENVIRONMENT) $(FIXED_ADDRESSES) $(RUNNER) $(if $(ONLY),--only '$(ONLY)') $(if $(UPDATE),--update) \
		$(UNIT_TESTS) $(REPLAY) $(GENERATE)

# Many more random programs than `make test` tries.
LONG_COUNT ?= 100000
LONG_SEED ?= 2
check-long: $(GENERATE)
	$(TEST_ENVIRONMENT) $(FIXED_ADDRESSES) $(GENERATE) --seed $(LONG_SEED) --count $(LONG_COUNT) --coverage

# Small measurements: each file is a program beside the library, compiled for this machine, so that plain loops in it are as good as C gets.
MICRO_BENCHMARKS := $(patsubst bench/micro/%.c,$(BUILD)/bench/micro/%,$(wildcard bench/micro/*.c))
MICRO_OPENMP = $(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo -fopenmp)
$(BUILD)/bench/micro/%.o: private CFLAGS += -O3 -march=native $(MICRO_OPENMP) -Wno-unknown-pragmas
$(BUILD)/bench/micro/%: $(BUILD)/bench/micro/%.o $(LIBRARY)
	$(Q) $(CC) $(CFLAGS) $(MICRO_OPENMP) -o $@ $^ $(LDLIBS)

bench-micro: $(MICRO_BENCHMARKS)
	@for benchmark in $(if $(ONLY),$(foreach name,$^,$(if $(findstring $(ONLY),$(name)),$(name))),$^); do $$benchmark || exit 1; done

run: all $(BUILD)/tools/measure
	@tools/demo $(PROGRAM) $(BUILD)/tools/measure

# libFuzzer on the front ends; new inputs that reach new code are kept in build/fuzz/corpus.
FUZZ_SECONDS ?= 60
fuzz:
	$(MAKE) MODE=fuzz CC=clang build/fuzz/fuzz_front
	mkdir -p build/fuzz/corpus
	build/fuzz/fuzz_front -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=4096 \
		-artifact_prefix=build/fuzz/ build/fuzz/corpus tests/fuzz/corpus

build/fuzz/fuzz_front: $(call objects,tests/fuzz/fuzz_front.c) $(LIBRARY)
	$(Q) $(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

PREFIX ?= /usr/local
install: all
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/runnel
	install -D -m 644 $(LIBRARY) $(DESTDIR)$(PREFIX)/lib/librunnel.a
	install -D -m 644 include/runnel.h $(DESTDIR)$(PREFIX)/include/runnel.h

clean:
	rm -rf build runnel

help:
	@echo 'make            build the program; the release mode leaves it at ./runnel'
	@echo 'make library    only build/MODE/librunnel.a'
	@echo 'make test       build and run the tests; ONLY=text picks some, UPDATE=1 rewrites .expected files'
	@echo 'make check-long 100,000 random programs: LONG_COUNT=100000 LONG_SEED=2'
	@echo 'make bench-micro  time small pieces of the runtime beside plain C (bench/micro/)'
	@echo 'make run        build and run the demonstration'
	@echo 'make fuzz       fuzz the front ends with libFuzzer (clang), FUZZ_SECONDS=60'
	@echo 'make install    install below PREFIX=/usr/local'
	@echo 'make clean      remove what was built'
	@echo 'variables: MODE=release|debug|asan|tsan  CC=gcc|clang  WERROR=1  V=1'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
