# SPDX-License-Identifier: GPL-2.0-only

KDIR ?= /lib/modules/$(shell uname -r)/build

.PHONY: modules install clean check debug-kernel demo bench lint help

modules:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install

clean:
	$(MAKE) -C $(KDIR) M=$(CURDIR) clean

check:
	tests/check $(T)

debug-kernel:
	tests/vm/kernel-debug $(or $(FLAVOUR),debug)

demo:
	tests/demo

bench:
	tests/bench

lint:
	tests/lint/run

help:
	@echo 'make                  quarry.ko for the running kernel, or KDIR=path/of/its/build'
	@echo 'make install          and install it'
	@echo 'make clean            remove what was built'
	@echo 'make demo             see it work: a block device over RDMA, in a VM'
	@echo 'make check            the whole test suite, in VMs; sets itself up (root, Debian)'
	@echo 'make check T=rdma     one group; T="rdma/003 host" some of it'
	@echo 'make check KERNEL=7.3 with the newest kernel of Debian backports (default 6.12)'
	@echo 'make check KERNEL=debug with KASAN, lockdep, kmemleak, KUnit, injected faults'
	@echo 'make check KERNEL=kcsan T=stress  the hunt for data races'
	@echo 'make debug-kernel     build that kernel now; FLAVOUR=kcsan the other'
	@echo 'make bench            measure: null_blk, NVMe over rxe, NVMe over TCP, Quarry'
	@echo 'make lint             warnings, sparse, checkpatch, kernel-doc, shellcheck, layers'
