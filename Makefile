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
# Of what is only for debuggers, sanitizers need the lines.
MODE_FLAGS_asan := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
MODE_FLAGS_tsan := -O1 -g1 -fsanitize=thread -fno-sanitize-recover=all -fno-omit-frame-pointer
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
DOCUMENTS := $(filter-out docs/operations.md,$(sort $(wildcard docs/*.md)))
RUNNER_SOURCES := $(wildcard tests/runner/*.c)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))

# Sources named *_vector.c are compiled once for each level of vector instructions, and the running program takes the best its
# processor has (src/base/vector.h). Levels are named after what is passed as -march=x86-64-...; elsewhere there is one.
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
SUITE := $(BUILD)/bench/suite/suite

.PHONY: all library test check-long check-stream check-install check-package bench bench-micro bench-rows bench-programs bench-answers run fuzz install install-program install-library uninstall deb clean help FORCE
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
	@$(call stamp,$(LIB_FILES) $(DOCUMENTS))

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
	$(Q) $< library $(LIB_FILES) > $@

# The documents, which `runnel help` shows.
$(BUILD)/document_files.c: $(BUILD)/tools/embed $(DOCUMENTS) $(BUILD)/lib_files.stamp
	$(Q) $< document $(DOCUMENTS) > $@

$(BUILD)/%_files.o: $(BUILD)/%_files.c $(BUILD)/flags.stamp
	$(Q) $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The first part of every emitted C file (src/kernel/preamble.h), in the order of what needs what.
PREAMBLE_ops := src/kernel/preamble/system.h $(patsubst %,src/math/%.h,bits basic float_pieces combine random) src/kernel/preamble/ops.h
PREAMBLE_math := $(patsubst %,src/math/%.h,polynomials exp log power trig arc special)
PREAMBLE_math_f32 := src/math/single.h
PREAMBLE_math_ops := src/kernel/preamble/math_ops.h
PREAMBLE_kernel := src/kernel/preamble/region.h src/kernel/preamble/ahead.h src/kernel/preamble/call.h src/kernel/preamble/fold.h src/kernel/preamble/pack.h src/kernel/preamble/recall.h src/kernel/preamble/rows.h src/kernel/preamble/function.h src/kernel/preamble/vector.h src/kernel/preamble/window.h src/kernel/preamble/divide.h src/kernel/preamble/groups.h src/kernel/preamble/wide.h
PREAMBLE_PARTS := ops math math_f32 math_ops kernel
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

$(PROGRAM): $(call objects,$(DRIVER_SOURCES)) $(BUILD)/document_files.o $(LIBRARY)
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
# Benchmarks are tests of answers, by every engine.
ENGINES ?= ref vm c
BENCH_SUITE = $(if $(BENCH_OPENMP),$(SUITE) --runnel $(PROGRAM) --directory $(BENCH) --engines "$(ENGINES)")
# What engine c compiles is kept for the other modes and ways, apart from the user's own.
TEST_ENVIRONMENT = RUNNEL=$(PROGRAM) RUNNEL_CACHE=$(CURDIR)/build/cache BENCH_SUITE='$(BENCH_SUITE)' TEST_TIME_FACTOR=$(TIME_FACTOR) TEST_MODE=$(MODE) RUNNEL_FLAGS='$(RUNNEL_FLAGS)' TEST_LIBRARIES='$(if $(HAVE_ZLIB),zlib) $(if $(HAVE_ZSTD),zstd)' \
	ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=0
ifeq ($(MODE),tsan)
FIXED_ADDRESSES := $(shell setarch -R true 2>/dev/null && echo setarch -R)
TEST_ENVIRONMENT += CC='$(CC) -fsanitize=thread'
endif

# Streams of data through runnel and through C: the same results, in little memory.
STREAM := $(BUILD)/tests/stream/stream
STREAM_BYTES ?= 20000000
STREAM_CHECK = tests/stream/check.sh $(1) $(PROGRAM) $(STREAM) $(BUILD)/tools/measure
$(STREAM): tests/stream/stream.c $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(Q) $(CC) $(COMMON_FLAGS) -O2 -o $@ $<

check-stream: $(PROGRAM) $(STREAM) $(BUILD)/tools/measure
	$(call STREAM_CHECK,$(STREAM_BYTES))

# Programs that are tests: those that ONLY names; none if RUNNEL_FLAGS are given.
TEST_PROGRAMS := $(if $(RUNNEL_FLAGS),,$(foreach program,$(UNIT_TESTS) $(REPLAY) $(GENERATE),$(if $(findstring $(or $(ONLY),unit/),unit/$(notdir $(program))),$(program))))
TEST_BENCHMARKS := $(if $(RUNNEL_FLAGS)$(filter unit/%,$(ONLY)),,$(SUITE) bench-answers)

test: all $(RUNNER) $(TEST_PROGRAMS) $(TEST_BENCHMARKS) $(STREAM) $(BUILD)/tools/measure
	@$(TEST_ENVIRONMENT) $(FIXED_ADDRESSES) $(RUNNER) $(if $(ONLY),--only '$(ONLY)') $(if $(UPDATE),--update) \
		$(TEST_PROGRAMS)
	@$(if $(ONLY)$(RUNNEL_FLAGS)$(filter-out release,$(MODE)),,$(call STREAM_CHECK,$(STREAM_BYTES)))

# What takes too long for `make test`: the packages in a new root, streams of 10 GB, and many more random programs.
LONG_STREAM_BYTES ?= 10000000000
LONG_COUNT ?= 100000
LONG_COMPILED_COUNT ?= 1000
LONG_SEED ?= 2
check-long: $(GENERATE) $(STREAM) $(BUILD)/tools/measure check-package
	$(call STREAM_CHECK,$(LONG_STREAM_BYTES))
	$(TEST_ENVIRONMENT) $(FIXED_ADDRESSES) $(GENERATE) --seed $(LONG_SEED) --count $(LONG_COUNT) --coverage
	$(TEST_ENVIRONMENT) $(FIXED_ADDRESSES) $(GENERATE) --seed $(LONG_SEED) --count $(LONG_COMPILED_COUNT) --engine c

# Small measurements: each file is a program beside the library, compiled for this machine, so that plain loops in it are as good as C gets.
MICRO_BENCHMARKS := $(patsubst bench/micro/%.c,$(BUILD)/bench/micro/%,$(wildcard bench/micro/*.c))
MICRO_OPENMP = $(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo -fopenmp)
$(BUILD)/bench/micro/%.o: private CFLAGS += -O3 -march=native $(MICRO_OPENMP) -Wno-unknown-pragmas
$(BUILD)/bench/micro/%: $(BUILD)/bench/micro/%.o $(LIBRARY)
	$(Q) $(CC) $(CFLAGS) $(MICRO_OPENMP) -o $@ $^ $(LDLIBS)

bench-micro: $(MICRO_BENCHMARKS)
	@for benchmark in $(if $(ONLY),$(foreach name,$^,$(if $(findstring $(ONLY),$(name)),$(name))),$^); do $$benchmark || exit 1; done

# Rows of very different lengths: what an element takes in each kind of loop.
bench-rows: $(PROGRAM)
	@bench/rows/run.sh $(PROGRAM) $(BUILD)/bench/rows $(NAMES)

# The C side of the benchmarks (bench/programs/NAME/): each file there is a program, compiled for this machine, twice: with arithmetic as
# written, and (NAME-fast) with the freedoms of `runnel --fast`. They need OpenMP, and are left out where the compiler has none.
BENCH := build/bench$(if $(filter asan,$(MODE)),-asan)
BENCH_SOURCES := $(sort $(wildcard bench/programs/*/*.c))
BENCH_NAMES := $(basename $(notdir $(BENCH_SOURCES)))
BENCH_OPENMP = $(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo yes)
BENCH_MVEC = $(shell echo 'int main(void) { return 0; }' | $(CC) -x c -o /dev/null - -lmvec 2>/dev/null && echo -lmvec)
BENCH_SANITIZE := $(if $(filter asan,$(MODE)),$(MODE_FLAGS_asan))
BENCH_FLAGS := -std=gnu17 -Wall -Wextra -Wconversion $(if $(filter 1,$(WERROR)),-Werror) -O3 -march=native -fopenmp \
	-fno-math-errno -fno-trapping-math -Ibench/programs
BENCH_EXACT := -ffp-contract=off
BENCH_FAST := -ffp-contract=fast -fassociative-math -freciprocal-math -fno-signed-zeros
BENCH_SHARED := $(patsubst %,$(BENCH)/shared/%.o,arguments digest npy memory text_blocks)
BENCH_HEADERS := $(wildcard bench/programs/*.h)

bench-programs: $(if $(BENCH_OPENMP),$(addprefix $(BENCH)/,$(BENCH_NAMES) $(addsuffix -fast,$(BENCH_NAMES)) data check))
	@$(if $(BENCH_OPENMP),:,echo '$(CC) has no OpenMP: the C programs of the benchmarks are left out')

# All that tests of answers need.
bench-answers: $(if $(BENCH_OPENMP),$(addprefix $(BENCH)/,$(BENCH_NAMES) data check))

$(BENCH)/flags.stamp: FORCE
	@$(call stamp,$(COMPILER) | $(BENCH_FLAGS) | $(BENCH_EXACT) | $(BENCH_FAST) | $(BENCH_SANITIZE))

$(BENCH)/shared/%.o: bench/programs/%.c $(BENCH_HEADERS) $(BENCH)/flags.stamp
	@mkdir -p $(@D)
	$(Q) $(CC) $(BENCH_FLAGS) $(BENCH_EXACT) $(BENCH_SANITIZE) -c -o $@ $<

# A program may include another one of its directory.
define bench_rule
$$(BENCH)/$(basename $(notdir $(1)))$(2): $(1) $(wildcard $(dir $(1))*.c) $$(BENCH)/shared/harness.o $$(BENCH_SHARED) $$(BENCH_HEADERS) $$(BENCH)/flags.stamp
	$$(Q) $$(CC) $$(BENCH_FLAGS) $(3) $$(BENCH_SANITIZE) -o $$@ $$< $$(filter %.o,$$^) $$(BENCH_MVEC) -lm
endef
$(foreach source,$(BENCH_SOURCES),$(eval $(call bench_rule,$(source),,$(BENCH_EXACT)))$(eval $(call bench_rule,$(source),-fast,$(BENCH_FAST))))

# What makes their data and what checks their answers.
$(BENCH)/data $(BENCH)/check: $(BENCH)/%: $(BENCH)/shared/%.o $(BENCH_SHARED)
	$(Q) $(CC) $(BENCH_FLAGS) $(BENCH_SANITIZE) -o $@ $^ -lm

# What the machine can do at most; and the program that runs the benchmarks on both sides.
#   NAMES   "a b": only these
#   QUICK   1: smaller sizes
#   BASE    a file that an earlier run wrote (build/bench/results.json): what has changed since
#   ENGINE  the engine to measure (Runnel's choice)
#   SECONDS that one configuration of a benchmark may take, about (60)
$(BENCH)/limits: bench/suite/limits.c $(BENCH_HEADERS) $(BENCH)/flags.stamp
	$(Q) $(CC) $(BENCH_FLAGS) $(BENCH_FAST) -o $@ $< $(BENCH_MVEC) -lm

SUITE_SOURCES := $(filter-out %/limits.c,$(wildcard bench/suite/*.c)) tests/runner/buffer.c tests/runner/process.c
$(SUITE): $(call objects,$(SUITE_SOURCES))
	$(Q) $(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/unit/test_bench_suite: $(call objects,$(filter-out %/suite.c,$(SUITE_SOURCES)))

bench: all bench-programs $(if $(BENCH_OPENMP),$(BENCH)/limits) $(SUITE)
	@$(if $(BENCH_OPENMP),,exit 1;) $(SUITE) --runnel $(PROGRAM) --directory $(BENCH) --threads $(shell nproc) --compiler '$(COMPILER), $(filter-out -W% -I%,$(BENCH_FLAGS))' \
		$(if $(NAMES),--names '$(NAMES)') $(if $(filter 1,$(QUICK)),--quick) $(if $(BASE),--base '$(BASE)') $(if $(ENGINE),--engine '$(ENGINE)') \
		$(if $(SECONDS),--seconds '$(SECONDS)')

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

# What the program says of itself: its manual page, and what shells know of it.
SHARED := $(addprefix $(BUILD)/share/,runnel.1 runnel.bash runnel.zsh runnel.fish)
$(BUILD)/share/runnel.1: $(PROGRAM)
	@mkdir -p $(@D)
	$(Q) $< help manual > $@
$(BUILD)/share/runnel.%: $(PROGRAM)
	@mkdir -p $(@D)
	$(Q) $< completions $* > $@

# Installing: DESTDIR is where the files go for now, PREFIX where they will be. LIBDIR and ZSH_DIR are what distributions have other places for.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
SHARE := $(PREFIX)/share
ZSH_DIR ?= $(SHARE)/zsh/site-functions
VERSION := $(shell sed -n 's/^\#define RUNNEL_VERSION "\(.*\)"/\1/p' include/runnel.h)

# FROM=TO of every file, and the directories that hold nothing else.
PROGRAM_FILES := $(BUILD)/share/runnel.1=$(SHARE)/man/man1/runnel.1 $(BUILD)/share/runnel.bash=$(SHARE)/bash-completion/completions/runnel \
	$(BUILD)/share/runnel.zsh=$(ZSH_DIR)/_runnel $(BUILD)/share/runnel.fish=$(SHARE)/fish/vendor_completions.d/runnel.fish \
	$(foreach file,README.md $(sort $(wildcard docs/*.md)) $(sort $(wildcard examples/*)),$(file)=$(SHARE)/doc/runnel/$(file))
LIBRARY_FILES := $(LIBRARY)=$(LIBDIR)/librunnel.a include/runnel.h=$(PREFIX)/include/runnel.h $(BUILD)/runnel.pc=$(LIBDIR)/pkgconfig/runnel.pc
OWN_DIRECTORIES := $(addprefix $(SHARE)/doc/runnel,/docs /examples /)
installed = $(word 2,$(subst =, ,$(1)))
install_files = $(foreach file,$(1),install -D -m 644 $(subst =, $(DESTDIR),$(file)) &&) true

$(BUILD)/runnel.pc: tools/runnel.pc.in include/runnel.h FORCE
	@sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|; s|@VERSION@|$(VERSION)|; s|@LIBS@|$(LDLIBS)|' $< > $@

install: install-program install-library

install-program: all $(SHARED)
	$(Q) install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/runnel
	$(Q) $(call install_files,$(PROGRAM_FILES))

install-library: $(LIBRARY) $(BUILD)/runnel.pc
	$(Q) $(call install_files,$(LIBRARY_FILES))

uninstall:
	$(Q) rm -f $(foreach file,x=$(PREFIX)/bin/runnel $(PROGRAM_FILES) $(LIBRARY_FILES),$(DESTDIR)$(call installed,$(file)))
	-$(Q) rmdir $(addprefix $(DESTDIR),$(OWN_DIRECTORIES)) 2>/dev/null

# Packages of Debian, in build/: the program, and the library with its header.
deb: all $(SHARED) $(LIBRARY)
	$(Q) tools/make_deb '$(VERSION)' '$(PROGRAM)' build $(MAKE) --no-print-directory V=0 MODE=$(MODE) BUILD=$(BUILD) CC='$(CC)'

# What is installed works: below a directory, and as a package in a new root, which takes a minute.
check-install: all
	@tests/install/check_install $(MAKE) --no-print-directory V=0 MODE=$(MODE) BUILD=$(BUILD) CC='$(CC)'

check-package: all
	@tests/install/check_package $(MAKE) --no-print-directory V=0 MODE=$(MODE) BUILD=$(BUILD) CC='$(CC)'

clean:
	rm -rf build runnel

help:
	@echo 'make            build the program; the release mode leaves it at ./runnel'
	@echo 'make library    only build/MODE/librunnel.a'
	@echo 'make test       build and run the tests; ONLY=text picks some, UPDATE=1 rewrites .expected files'
	@echo 'make check-long check-package, streams of 10 GB, and 100,000 random programs, 1000 of them compiled too: LONG_COUNT=100000 LONG_COMPILED_COUNT=1000 LONG_SEED=2'
	@echo 'make bench      time the benchmarks beside C (bench/programs/): NAMES="a b" QUICK=1 BASE=file.json ENGINE=vm SECONDS=60'
	@echo 'make bench-micro  time small pieces of the runtime beside plain C (bench/micro/)'
	@echo 'make bench-rows   time rows of very different lengths (bench/rows/)'
	@echo 'make bench-programs  the C side of the benchmarks (bench/programs/), in build/bench'
	@echo 'make run        build and run the demonstration'
	@echo 'make fuzz       fuzz the front ends with libFuzzer (clang), FUZZ_SECONDS=60'
	@echo 'make install    install below PREFIX=/usr/local, for now in DESTDIR=; make uninstall removes it'
	@echo 'make deb        make packages of Debian, build/*.deb'
	@echo 'make check-install  install into a directory, and build a C program against what is there'
	@echo 'make check-package  install the packages in a new root made by debootstrap'
	@echo 'make clean      remove what was built'
	@echo 'variables: MODE=release|debug|asan|tsan  CC=gcc|clang  WERROR=1  V=1'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
