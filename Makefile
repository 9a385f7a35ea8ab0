# SPDX-License-Identifier: GPL-2.0-only
#
# KDIR    the kernel that the module is built for: a tree of headers or a build tree.
#         Without it: the newest Debian headers of Linux 6.12 that are installed,
#         whatever kernel runs here.
# W, C    as for the kernel: W=1 more warnings, C=2 sparse
# DESTDIR where install puts things
SHELL := /bin/bash
.DEFAULT_GOAL := all

BUILD := build
HEADERS := $(shell printf '%s\n' /usr/src/linux-headers-6.12*-amd64 | sort -V | tail -n 1)
KDIR ?= $(HEADERS)
RELEASE = $(shell cat '$(KDIR)/include/config/kernel.release' 2>/dev/null)
ROOM := drivers/infiniband/sw/srn
MODULE_DIR = $(BUILD)/module/$(RELEASE)
JOBS ?= $(shell nproc)
CMAKE_BUILD := $(BUILD)/cmake
LIBDIR := /usr/lib/x86_64-linux-gnu
VM := selftests/qemu/vm

.PHONY: all
all: module provider ## module and provider, into build/

##@ Build

# The kernel writes its objects beside the sources. Each kernel gets a mirror of them
# under build/, so that builds for two kernels do not meet and the tree stays clean. What
# differs is copied with the time of the copy: a file that was edited during the last build
# is younger than its object.
.PHONY: mirror
mirror:
	@test -n '$(RELEASE)' || { echo "no kernel headers in KDIR='$(KDIR)':" \
		"make deps installs Debian's, or say KDIR=" >&2; exit 1; }
	@mkdir -p '$(MODULE_DIR)'
	@rsync -rpc --delete --exclude='*.mod.c' --include='*/' --include='*.[ch]' \
		--include=Kbuild --include=Kconfig --exclude='*' \
		Kbuild drivers include '$(MODULE_DIR)/'

.PHONY: module
module: mirror ## srn.ko for the kernel in KDIR
	+$(MAKE) -C '$(KDIR)' M='$(CURDIR)/$(MODULE_DIR)' $(if $(W),W=$(W)) $(if $(C),C=$(C)) modules
	@if [ '$(KDIR)' = '$(HEADERS)' ]; then \
		cp '$(MODULE_DIR)/$(ROOM)/srn.ko' $(BUILD)/srn.ko; fi

.PHONY: module-debug
module-debug: ## srn.ko and srn_kunit.ko for the debug kernel (builds that, too)
	@set -e; dir=$$(selftests/qemu/debug-kernel); \
	$(MAKE) --no-print-directory module KDIR="$$dir/build"

$(CMAKE_BUILD)/build.ninja:
	cmake -S userspace -B $(CMAKE_BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release

.PHONY: provider
provider: $(CMAKE_BUILD)/build.ninja ## libsrn-rdmav34.so and srn.driver
	cmake --build $(CMAKE_BUILD) -j $(JOBS) --target srn-rdmav34
	@cp $(CMAKE_BUILD)/provider/libsrn-rdmav34.so $(BUILD)/
	@echo 'driver srn' >$(BUILD)/srn.driver

.PHONY: tools
tools: $(CMAKE_BUILD)/build.ninja ## srnbench
	cmake --build $(CMAKE_BUILD) -j $(JOBS) --target srnbench

.PHONY: tests
tests: $(CMAKE_BUILD)/build.ninja ## everything in user space, test programs too
	cmake --build $(CMAKE_BUILD) -j $(JOBS)

##@ Run

.PHONY: demo
demo: deps ## two VMs talk RoCE to each other, with a table at the end
	+$(MAKE) --no-print-directory all
	selftests/demo/run

.PHONY: check
check: deps ## every test; the last line is 'N passed, N failed, N skipped'
	selftests/run

.PHONY: bench
bench: deps ## speed of srn beside rxe, in one VM, as ratios
	+$(MAKE) --no-print-directory all tools
	selftests/bench/run

test-%: ## only the suites whose name matches: test-verbs, test-wire/rc, ...
	selftests/run '$*'

.PHONY: kunit
kunit: ## KUnit on the debug kernel
	selftests/kunit/run.sh

.PHONY: style
style: ## checkpatch, SPDX lines, shellcheck
	selftests/run 'style/' '!style/warnings'

.PHONY: sparse
sparse: ## a build with W=1 and sparse (C=2) that must be silent
	selftests/run 'style/warnings'

##@ System

.PHONY: deps
deps: ## install the Debian packages that all of the above need
	selftests/lib/deps

.PHONY: install
install: all ## module, provider and manual into the running system (or DESTDIR)
	install -D -m 0644 '$(MODULE_DIR)/$(ROOM)/srn.ko' '$(DESTDIR)/lib/modules/$(RELEASE)/extra/srn.ko'
	install -D -m 0644 $(BUILD)/libsrn-rdmav34.so '$(DESTDIR)$(LIBDIR)/libibverbs/libsrn-rdmav34.so'
	install -D -m 0644 $(BUILD)/srn.driver '$(DESTDIR)/etc/libibverbs.d/srn.driver'
	install -D -m 0644 Documentation/man/srn.7 '$(DESTDIR)/usr/share/man/man7/srn.7'
	$(if $(DESTDIR),,depmod -a '$(RELEASE)')

.PHONY: uninstall
uninstall: ## take it all out again
	rm -f '$(DESTDIR)/lib/modules/$(RELEASE)/extra/srn.ko' \
		'$(DESTDIR)$(LIBDIR)/libibverbs/libsrn-rdmav34.so' \
		'$(DESTDIR)/etc/libibverbs.d/srn.driver' \
		'$(DESTDIR)/usr/share/man/man7/srn.7'
	$(if $(DESTDIR),,depmod -a '$(RELEASE)')

.PHONY: clean
clean: ## remove what was built; logs of test runs stay
	rm -rf $(BUILD)/module $(CMAKE_BUILD) $(BUILD)/srn.ko $(BUILD)/libsrn-rdmav34.so $(BUILD)/srn.driver

.PHONY: distclean
distclean: ## remove build/ (the debug kernel in the cache stays)
	rm -rf $(BUILD)

.PHONY: help
help: ## this list
	@echo 'usage: make [target] [KDIR=/path/to/kernel]   (without a target: all)'
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z%-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
