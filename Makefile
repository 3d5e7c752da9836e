# emmy - GNU make.  `make help` lists the targets.
#
# Sources are found by name: a new file in core/*/, views/, tui/, tests/unit/,
# tests/fault/ or tests/fuzz/ needs no line here.

CFLAGS  ?= -O2 -g
OPENMP  ?= -fopenmp
prefix  ?= /usr/local
bindir  ?= $(prefix)/bin
datadir ?= $(prefix)/share
mandir  ?= $(datadir)/man

# Objects of different compilers and flags never mix.
BUILD ?= build/$(shell printf '%s' '$(CC) $(CPPFLAGS) $(CFLAGS) $(OPENMP) $(LDFLAGS) $(WERROR) $(prefix)' | \
                       cksum | cut -d' ' -f1)

CORE_PKGS := libcjson sqlite3 libxxhash zlib
TUI_PKGS  := ncursesw libedit
# Asked once, at the first use and not while reading this file: `make deps check`
# installs pkg-config and the libraries first.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(CORE_PKGS) $(TUI_PKGS)))$(PKG_CFLAGS)
CORE_LIBS  = $(eval CORE_LIBS := $$(shell pkg-config --libs $(CORE_PKGS)) -lm -ldl)$(CORE_LIBS)
TUI_LIBS   = $(eval TUI_LIBS := $$(shell pkg-config --libs $(TUI_PKGS)))$(TUI_LIBS)

WARN := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes $(if $(OPENMP),,-Wno-unknown-pragmas) \
        $(if $(filter 1,$(WERROR)),-Werror)
# No fused multiply-add and never -ffast-math: every build computes the same bytes.
ALL_CFLAGS   = -std=c11 $(WARN) $(OPENMP) -pthread -ffp-contract=off $(CFLAGS)
ALL_CPPFLAGS = -D_GNU_SOURCE -I. $(PKG_CFLAGS) $(CPPFLAGS)

CORE_SRC  := $(wildcard core/*/*.c)
VIEWS_SRC := $(wildcard views/*.c)
TUI_SRC   := $(wildcard tui/*.c)
UNIT_SRC  := $(wildcard tests/unit/test_*.c)
FAULT_SRC := $(filter-out tests/fault/faultio.c,$(wildcard tests/fault/*.c))
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)
SAME_SRC  := $(wildcard tests/same/*.c)
ALL_SRC   := $(CORE_SRC) $(VIEWS_SRC) $(TUI_SRC) $(UNIT_SRC) $(FAULT_SRC) $(FUZZ_SRC) $(BENCH_SRC) $(SAME_SRC)

CORE_LIB  := $(BUILD)/libemmycore.a
VIEWS_LIB := $(BUILD)/libemmyviews.a
TUI_LIB   := $(BUILD)/libemmytui.a
PROGRAM   := $(if $(wildcard tui/main.c),$(BUILD)/emmy)
UNIT_BIN  := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)
FAULT_BIN := $(FAULT_SRC:tests/fault/%.c=$(BUILD)/fault/%)
FUZZ_BIN  := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)

all: $(CORE_LIB) $(VIEWS_LIB) $(if $(PROGRAM),emmy) ## build ./emmy

Q := $(if $(V),,@)

# ---- building ---------------------------------------------------------------

# One clear line when a compiler or library is missing.
$(BUILD)/deps-ok: | $(filter deps,$(MAKECMDGOALS))
	@./deps.sh --check '$(CC)' '$(OPENMP)'
	@mkdir -p $(@D) && touch $@

# `make V=1` shows the commands.
$(BUILD)/%.o: %.c | $(BUILD)/deps-ok
	@mkdir -p $(@D) && echo '  cc    $<'
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/core/session/datapath.o: ALL_CPPFLAGS += -DEMMY_DATADIR='"$(datadir)/emmy"'

# Sixteen sums stay in registers; gathered into vectors, as compilers like to do, each addition costs shuffles.
$(BUILD)/core/prior/score_avx2.o: ALL_CFLAGS += -fno-tree-slp-vectorize

# Made anew: an archive would keep the objects of sources that are gone.
$(CORE_LIB): $(CORE_SRC:%.c=$(BUILD)/%.o)
$(VIEWS_LIB): $(VIEWS_SRC:%.c=$(BUILD)/%.o)
$(TUI_LIB): $(patsubst %.c,$(BUILD)/%.o,$(filter-out tui/main.c,$(TUI_SRC)))
$(CORE_LIB) $(VIEWS_LIB) $(TUI_LIB): | $(BUILD)/deps-ok
	@rm -f $@
	@$(AR) rcsD $@ $^

LINK = @mkdir -p $(@D) && echo '  link  $@' && $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD)/emmy: $(BUILD)/tui/main.o $(TUI_LIB) $(VIEWS_LIB) $(CORE_LIB)
	$(LINK) $(TUI_LIBS) $(CORE_LIBS)
emmy: $(BUILD)/emmy FORCE
	@cmp -s $< $@ || cp -f $< $@

$(BUILD)/unit/test_tui_%: $(BUILD)/tests/unit/test_tui_%.o $(TUI_LIB) $(VIEWS_LIB) $(CORE_LIB)
	$(LINK) $(TUI_LIBS) $(CORE_LIBS) -lcmocka
$(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(VIEWS_LIB) $(CORE_LIB)
	$(LINK) $(CORE_LIBS) -lcmocka
$(BUILD)/fault/%: $(BUILD)/tests/fault/%.o $(CORE_LIB)
	$(LINK) $(CORE_LIBS)
$(BUILD)/bench/bench: $(BENCH_SRC:%.c=$(BUILD)/%.o) $(VIEWS_LIB) $(CORE_LIB)
	$(LINK) $(CORE_LIBS)
# Of the core what a fit needs.
$(BUILD)/same/fit_digest: $(patsubst %.c,$(BUILD)/%.o,$(SAME_SRC) $(filter \
    $(patsubst %,core/%/%.c,base kernel target schedule space feature prior fit),$(CORE_SRC)))
	$(LINK) $(CORE_LIBS)
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(VIEWS_LIB) $(CORE_LIB)
	$(LINK) -fsanitize=fuzzer $(CORE_LIBS)

# Preloaded into programs of any build, so without their sanitizer.
$(BUILD)/faultio.so: tests/fault/faultio.c | $(BUILD)/deps-ok
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -O1 -g -fPIC -shared -o $@ $< -ldl

# ---- using ------------------------------------------------------------------

run: all ## start emmy (ARGS= its arguments)
	./emmy $(ARGS)

deps: ## install what is missing, with the system's package manager
	./deps.sh

deps-all: ## the same, and what only .ci/run needs
	./deps.sh --all

man: all ## write the manual pages of the commands anew
	./emmy help --man man

$(BUILD)/completion.%: $(PROGRAM)
	@$(PROGRAM) help --completion $* >$@

install: $(PROGRAM) $(BUILD)/completion.bash $(BUILD)/completion.zsh ## install program, manual pages, completions and data (DESTDIR=, prefix=)
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(datadir)/emmy
	install -m 755 $(PROGRAM) $(DESTDIR)$(bindir)/emmy
	for page in man/*.[1-8]; do [ -f "$$page" ] || continue; \
	  install -d $(DESTDIR)$(mandir)/man$${page##*.} && \
	  install -m 644 "$$page" $(DESTDIR)$(mandir)/man$${page##*.}/ || exit 1; done
	install -D -m 644 $(BUILD)/completion.bash $(DESTDIR)$(datadir)/bash-completion/completions/emmy
	install -D -m 644 $(BUILD)/completion.zsh $(DESTDIR)$(datadir)/zsh/site-functions/_emmy
	[ ! -d data ] || cp -R data/. $(DESTDIR)$(datadir)/emmy/

clean: ## remove what was built
	rm -rf build emmy compile_commands.json

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

# ---- testing ----------------------------------------------------------------

unit: $(UNIT_BIN)

check: $(UNIT_BIN) $(FAULT_BIN) $(BUILD)/faultio.so $(PROGRAM) ## run all tests (TESTS="unit cli ..." picks kinds, T= names)
	@BUILD='$(BUILD)' EMMY='$(PROGRAM)' CC='$(CC)' tests/run.sh $(T)

# Warnings are no errors here: instrumented code misleads gcc about what is initialized.
SANITIZE = $(MAKE) check LDFLAGS='$(LDFLAGS)' QUICK=1 WERROR=
# The leak check cannot stop the waiting threads of OpenMP's library, and dies of it now and then.
asan: ## the tests under AddressSanitizer
	+$(SANITIZE) CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address' OPENMP=
ubsan: ## the tests under UndefinedBehaviorSanitizer
	+$(SANITIZE) CFLAGS='-O1 -g -fsanitize=undefined -fno-sanitize-recover=all'
# The tool does not see the synchronisation inside OpenMP's library, so here
# core/base/parallel.c runs its loops on plain threads instead.
tsan: ## the tests that use threads under ThreadSanitizer
	+$(SANITIZE) CFLAGS='-O1 -g -fsanitize=thread' OPENMP=

fit-digest: $(BUILD)/same/fit_digest
	@$<
same-bytes: ## fit with gcc and clang, -O0 and -O3, 1, 2 and 4 threads, and compare the bytes
	+@MAKE='$(MAKE)' tests/same-bytes.sh

fuzz: $(FUZZ_BIN)
fuzz-smoke: ## run each fuzz target for a few seconds (needs clang)
	$(MAKE) fuzz CC='$(FUZZ_CC)' CFLAGS='$(FUZZ_CFLAGS)' OPENMP=
	@$(MAKE) -s fuzz-run CC='$(FUZZ_CC)' CFLAGS='$(FUZZ_CFLAGS)' OPENMP=
fuzz-run:
	@BUILD='$(BUILD)' tests/fuzz.sh $(FUZZ_BIN)
FUZZ_CC     = clang
FUZZ_CFLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

bench: $(BUILD)/bench/bench $(if $(PROGRAM),emmy) ## measure and print the speeds, and ratios to CatBoost's
	$(BUILD)/bench/bench $(ARGS)
	@$(if $(ARGS),,$(MAKE) --no-print-directory bench-ratios)

lint: compdb ## look for mistakes with cppcheck and clang-tidy, where present
	@tests/lint.sh $(CORE_SRC) $(VIEWS_SRC) $(TUI_SRC)

compdb: ## write compile_commands.json
	@{ echo '['; sep=''; for f in $(ALL_SRC); do \
	  printf '%s{"directory":"%s","file":"%s","command":"%s"}' "$$sep" "$(CURDIR)" "$$f" \
	    "$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c $$f"; sep=','; echo; done; echo ']'; } > compile_commands.json

include $(wildcard data/*.mk tests/conformance/*.mk)

.PHONY: all run deps deps-all man install clean help unit check asan ubsan tsan fit-digest same-bytes fuzz fuzz-smoke fuzz-run bench lint compdb FORCE
.SECONDARY:
.DELETE_ON_ERROR:
-include $(wildcard $(BUILD)/*/*/*.d $(BUILD)/*/*.d)
