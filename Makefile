# SPDX-License-Identifier: GPL-2.0-only
#
# KDIR    the kernel that the module is built for: a tree of headers or a build tree.
#         Without it: the running one, if it is a 6.12 and its headers are installed, else
#         the newest plain 6.12 of Debian's (scripts/find-kernel).
# W, C    as for the kernel: W=1 more warnings, C=2 sparse
# JOBS    how many compilers run at once, where make -j does not say it (all processors)
# KUNIT   1: srn_kunit.ko as well, where the kernel has KUnit
# GCOV    1: count which lines run, in the module (where the kernel has CONFIG_GCOV_KERNEL) and in
#         the provider; wants a BUILD of its own
# FATE    1: a module in which tests decide what becomes of packets (fate.h)
# DESTDIR where install puts things
# FILTER  of the suites of test-%, kunit and uml only the tests that match:
#         make test-wire FILTER='RcOrder.*', make kunit FILTER=srn_psn
# MUTATE  options and names for selftests/mutate: make mutate MUTATE='--jobs 2 receive/'
SHELL := /bin/bash
.DEFAULT_GOAL := all

BUILD := build
HEADERS := $(shell KDIR= scripts/find-kernel 2>/dev/null)
KDIR ?= $(HEADERS)
RELEASE = $(shell cat '$(KDIR)/include/config/kernel.release' 2>/dev/null)
ROOM := drivers/infiniband/sw/srn
MODULE_DIR = $(BUILD)/module/$(RELEASE)
JOBS ?= $(shell nproc)
# A make -j of the caller's is shared with the kernel's own make.
PARALLEL = $(if $(findstring --jobserver,$(MAKEFLAGS)),,-j$(JOBS))
CMAKE_BUILD := $(BUILD)/cmake
PROVIDER_BUILD := $(BUILD)/provider
export SRN_FILTER ?= $(FILTER)

.PHONY: all
all: module provider ## module and provider, into build/

##@ Build

# The kernel writes its objects beside the sources. Each kernel gets a mirror of them
# under build/, so that builds for two kernels do not meet and the tree stays clean. What
# differs is copied with the time of the copy: a file that was edited during the last build
# is younger than its object.
.PHONY: mirror
mirror:
	@KDIR='$(filter-out $(HEADERS),$(KDIR))' scripts/find-kernel --say
	@mkdir -p '$(MODULE_DIR)'
	@rsync -rpc --delete --exclude='*.mod.c' --include='*/' --include='*.[ch]' \
		--include=Kbuild --include=Kconfig --exclude='*' \
		Kbuild drivers include '$(MODULE_DIR)/'

.PHONY: module
module: mirror ## srn.ko for the kernel in KDIR
	+$(MAKE) -C '$(KDIR)' M='$(CURDIR)/$(MODULE_DIR)' $(PARALLEL) $(if $(W),W=$(W)) \
		$(if $(C),C=$(C)) modules
	@if [ '$(KDIR)' = '$(HEADERS)' ]; then \
		cp '$(MODULE_DIR)/$(ROOM)/srn.ko' $(BUILD)/srn.ko; fi

.PHONY: module-debug
module-debug: deps-tests ## srn.ko and srn_kunit.ko for the debug kernel (builds that, too)
	@set -e; dir=$$(selftests/qemu/debug-kernel); \
	$(MAKE) --no-print-directory module KDIR="$$dir/build" KUNIT=1

.PHONY: module-race
module-race: deps-tests ## srn.ko and srn_kunit.ko for the kernel with KCSAN (builds that, too)
	@set -e; dir=$$(selftests/qemu/debug-kernel --race); \
	$(MAKE) --no-print-directory module KDIR="$$dir/build" KUNIT=1

.PHONY: module-cloud
module-cloud: deps-tests ## srn.ko for Debian's cloud kernel (unpacks that, too)
	@set -e; dir=$$(selftests/qemu/cloud-kernel); \
	$(MAKE) --no-print-directory module KDIR="$$dir/build"

.PHONY: module-uml
module-uml: deps-tests ## srn.ko and srn_kunit.ko for User-Mode Linux (builds that, too)
	@set -e; dir=$$(selftests/uml/kernel); \
	$(MAKE) --no-print-directory module KDIR="$$dir/build" ARCH=um KUNIT=1

# There is no kernel, so nobody knows what that would export.
.PHONY: module-arm64
module-arm64: deps-tests ## srn.ko and srn_kunit.ko for arm64 (prepares a kernel's tree, too): compiled, not run
	scripts/deps arm64
	@set -e; dir=$$(selftests/style/arm64-tree); \
	$(MAKE) --no-print-directory module KDIR="$$dir" ARCH=arm64 \
		CROSS_COMPILE=aarch64-linux-gnu- KUNIT=1 KBUILD_MODPOST_WARN=1

# The module counts what it runs through, for the fuzzers: per thread (KCOV) and in all (gcov).
.PHONY: module-fuzz
module-fuzz: deps-tests ## srn.ko for User-Mode Linux that counts what is reached
	@set -e; dir=$$(selftests/uml/kernel); \
	$(MAKE) --no-print-directory module KDIR="$$dir/build" ARCH=um \
		MODULE_DIR='$(BUILD)/module-fuzz' KCOV_INSTRUMENT=y GCOV_PROFILE=y

# The provider is a project of its own: it needs libibverbs and a compiler, no library of
# the tests.
$(PROVIDER_BUILD)/build.ninja:
	cmake -S userspace/provider -B $(PROVIDER_BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release \
		-DCMAKE_INSTALL_PREFIX=/usr $(if $(GCOV),-DSRN_GCOV=ON)

.PHONY: provider
provider: $(PROVIDER_BUILD)/build.ninja ## libsrn-rdmav34.so and srn.driver
	cmake --build $(PROVIDER_BUILD) -j $(JOBS)
	@cp $(PROVIDER_BUILD)/libsrn-rdmav34.so $(PROVIDER_BUILD)/srn.driver $(BUILD)/

$(CMAKE_BUILD)/build.ninja:
	cmake -S userspace -B $(CMAKE_BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release \
		$(if $(GCOV),-DSRN_GCOV=ON)

.PHONY: tools
tools: deps-tools $(CMAKE_BUILD)/build.ninja ## srnbench, srnverify
	cmake --build $(CMAKE_BUILD) -j $(JOBS) --target srnbench srnverify

.PHONY: tests
tests: $(CMAKE_BUILD)/build.ninja ## everything in user space, test programs too
	cmake --build $(CMAKE_BUILD) -j $(JOBS)

# Provider, libraries and tests with the compiler's sanitizers. UndefinedBehaviorSanitizer goes with
# AddressSanitizer; ThreadSanitizer wants a build of its own.
SANITIZERS_asan := address,undefined
SANITIZERS_tsan := thread
SANITIZED := srn_provider_abi_test srn_provider_test srn_roce_test srn_result_test \
	srn_sanitizer_control srn-rdmav34 srn_verbs_test srnverify srn_verify_test srnbench \
	srn_bench_test
# Threads on the provider's queues: of all that the one part which every run has.
THREADED := srn_provider_thread_test srn_sanitizer_control
.PHONY: tests-asan tests-tsan tests-threads
tests-asan tests-tsan: tests-%: ## provider, libraries, tools and tests with ASan and UBSan; with TSan
	cmake -S userspace -B $(BUILD)/$* -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
		-DSRN_SANITIZE=$(SANITIZERS_$*) >/dev/null
	cmake --build $(BUILD)/$* -j $(JOBS) --target $(SANITIZED) $(THREADED)

tests-threads: ## with TSan only what uses the provider's queues in many threads
	cmake -S userspace -B $(BUILD)/tsan -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
		-DSRN_SANITIZE=$(SANITIZERS_tsan) >/dev/null
	cmake --build $(BUILD)/tsan -j $(JOBS) --target $(THREADED)

.PHONY: fuzz-host
fuzz-host: deps-tests ## libFuzzer programs: the module's gate in user space
	@set -e; source=$$(selftests/qemu/debug-kernel --source); \
	cmake -S selftests/fuzz/host -B $(BUILD)/fuzz-host -G Ninja -DCMAKE_C_COMPILER=clang \
		-DCMAKE_CXX_COMPILER=clang++ -DSRN_KERNEL_HEADERS="$$source/include" >/dev/null; \
	cmake --build $(BUILD)/fuzz-host -j $(JOBS)

##@ Run

.PHONY: demo
demo: deps-tests ## two VMs talk RoCE to each other, with a table at the end
	+$(MAKE) --no-print-directory all
	selftests/demo/run

.PHONY: check
check: deps-tests ## every test; the last line is 'N passed, N failed, N skipped'
	selftests/run

.PHONY: soak
soak: deps-tests ## what takes hours: life, loss, faults, fuzzers, sanitizers (SRN_FUZZ_SECONDS, SRN_ROUNDS)
	@rc=0; \
	SRN_LONG=1 SRN_KERNELS='host stock debug uml' selftests/run soak/ fault/often fuzz/host sanitize/ || rc=1; \
	SRN_LONG=1 SRN_KERNELS=race SRN_LOGS='$(abspath $(BUILD))/check.race' \
		selftests/run kunit/module wire/ verbs/ soak/ control/ || rc=1; \
	exit $$rc

.PHONY: bench
bench: deps-tests ## speed of srn beside rxe, siw, TCP in one VM (COUNT=1: in instructions; VMS=2: in two; PROFILE=1: by room)
	+$(MAKE) --no-print-directory all tools
	selftests/bench/run

.PHONY: figures
figures: deps-tests ## count instructions anew, and show the tables and the curves in Documentation
	+$(MAKE) --no-print-directory all tools
	COUNT=1 selftests/bench/run
	selftests/bench/publish

.PHONY: baseline
baseline: deps-tests ## count requests, connections and an idle QP's memory anew, for bench/counted
	+$(MAKE) --no-print-directory all tools
	BASELINE=1 selftests/bench/run

test-%: deps-tests ## only the suites whose name matches: test-verbs, test-soak, ...
	selftests/run '$*'

.PHONY: uml
uml: deps-tests ## KUnit, wire, verbs in User-Mode Linux: no emulator, a loop of minutes
	SRN_KERNELS=uml selftests/run kunit/module wire/ verbs/verbs

.PHONY: mutate
mutate: deps-tests ## do the tests notice small faults, one at a time (MUTATE='--jobs 2 NAME')
	selftests/mutate $(MUTATE)

.PHONY: coverage
coverage: deps-tests ## lines of module and provider that the tests reach, in percent
	selftests/coverage/run

.PHONY: kunit
kunit: deps-tests ## KUnit on the debug kernel
	selftests/kunit/run.sh

.PHONY: style
style: deps-tests ## checkpatch, SPDX lines, shellcheck, clang-format, layers, lengths
	selftests/run 'style/' '!style/warnings'

.PHONY: sparse
sparse: deps-tests ## a build with W=1 and sparse (C=2) that must be silent
	selftests/run 'style/warnings'

##@ System

.PHONY: deps
deps: ## install the Debian packages that building and using srn needs (no kernel)
	scripts/deps

.PHONY: deps-tools
deps-tools: ## install what the tools want as well: libraries (no kernel)
	scripts/deps tools

.PHONY: deps-tests
deps-tests: ## install those of the tests as well: a 6.12 kernel, its source, QEMU, ...
	scripts/deps tests

# Debian's kernel wants modules signed and its headers bring no key: the module stays unsigned
# then, and sign-file need not say so in three lines of OpenSSL's.
SIG_KEY = $(patsubst "%",%,$(shell sed -n 's/^CONFIG_MODULE_SIG_KEY=//p' \
	'$(KDIR)/include/config/auto.conf' 2>/dev/null))
NO_KEY = $(if $(SIG_KEY),$(if $(filter pkcs11:%,$(SIG_KEY))$(wildcard \
	$(filter /%,$(SIG_KEY)) $(KDIR)/$(SIG_KEY)),,yes))

# The kernel's own rules put the module below updates/, strip it, and sign it where there is a
# key. Their depmod is left out: it wants a System.map.
MODULES_INSTALL = $(MAKE) -C '$(KDIR)' M='$(CURDIR)/$(MODULE_DIR)' \
	INSTALL_MOD_PATH='$(DESTDIR)' INSTALL_MOD_STRIP=1 DEPMOD=true \
	$(if $(NO_KEY),CONFIG_MODULE_SIG_ALL=) modules_install

.PHONY: install
install: all ## module, provider and manual into the running system (or DESTDIR)
	+$(MODULES_INSTALL)
	DESTDIR='$(DESTDIR)' cmake --install $(PROVIDER_BUILD) --strip
	$(if $(DESTDIR),,depmod -a '$(RELEASE)')
	@[ -z '$(NO_KEY)' ] || \
		echo 'srn.ko is unsigned: no key beside the headers (with Secure Boot see README.md)'
	@[ -n '$(DESTDIR)' ] || [ "$$(uname -r)" = '$(RELEASE)' ] || \
		echo 'srn.ko is for Linux $(RELEASE): reboot into that to use it'

# Where libibverbs looks for providers.
LIBDIR = $(shell pkg-config --variable=libdir libibverbs)

# Of every kernel that it was ever installed for; depmod where that kernel still is.
.PHONY: uninstall
uninstall: ## take it all out again
	@set -e; shopt -s nullglob; for room in '$(DESTDIR)'/lib/modules/*/updates/$(ROOM); do \
		rm -fv "$$room"/srn.ko{,.*} "$$room"/srn_kunit.ko{,.*}; \
		kernel=$${room%/updates/$(ROOM)}; \
		(cd "$$kernel" && rmdir -p --ignore-fail-on-non-empty updates/$(ROOM)); \
		[ -n '$(DESTDIR)' ] || [ ! -d "$$kernel/kernel" ] || depmod -a "$${kernel##*/}"; \
	done
	rm -f '$(DESTDIR)$(LIBDIR)/libibverbs/libsrn-rdmav34.so' \
		'$(DESTDIR)/etc/libibverbs.d/srn.driver' \
		'$(DESTDIR)/usr/share/man/man7/srn.7'

.PHONY: clean
clean: ## remove what was built; logs of test runs stay
	rm -rf $(BUILD)/module $(BUILD)/module-fuzz $(BUILD)/fuzz-host $(BUILD)/asan $(BUILD)/tsan \
		$(BUILD)/coverage $(BUILD)/mutate $(BUILD)/control $(CMAKE_BUILD) $(PROVIDER_BUILD) \
		$(BUILD)/srn.ko $(BUILD)/libsrn-rdmav34.so $(BUILD)/srn.driver

.PHONY: distclean
distclean: ## remove build/ (the debug kernel in the cache stays)
	rm -rf $(BUILD)

.PHONY: help
help: ## this list
	@echo 'usage: make [target] [KDIR=/path/to/kernel]   (without a target: all)'
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9% -]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
