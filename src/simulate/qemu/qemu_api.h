// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

// QEMU's plugin interface, version 1, as its manual describes it ("QEMU TCG Plugins");
// Debian ships QEMU without a header for it. Only what this plugin uses is declared. What other
// versions have otherwise is in qemu_events.h; what stands here and not there is the same in all.
//
// A trap of QEMU 7.2: the read/write filter of memory callbacks is the wrong way round, so
// we register for both and ask each access what it is.

#include <cstddef>
#include <cstdint>

extern "C" {

using qemu_plugin_id_t = uint64_t;
using qemu_plugin_meminfo_t = uint32_t;

struct qemu_plugin_tb;    // a block of guest code while it is translated
struct qemu_plugin_insn;  // one instruction of it

struct qemu_info_t {
  const char* target_name;  // "x86_64", "aarch64"
  struct {
    int min;
    int cur;
  } version;  // of this interface
  bool system_emulation;
  union {
    struct {
      int smp_vcpus;
      int max_vcpus;
    } system;
  };
};

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

using qemu_plugin_vcpu_simple_cb_t = void (*)(qemu_plugin_id_t, unsigned vcpu);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu, void* data);
using qemu_plugin_vcpu_mem_cb_t = void (*)(unsigned vcpu, qemu_plugin_meminfo_t, uint64_t address,
                                           void* data);
using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);
using qemu_plugin_vcpu_syscall_cb_t = void (*)(qemu_plugin_id_t, unsigned vcpu, int64_t number,
                                               uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                               uint64_t, uint64_t, uint64_t);
using qemu_plugin_vcpu_syscall_ret_cb_t = void (*)(qemu_plugin_id_t, unsigned vcpu, int64_t number,
                                                   int64_t result);

using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t, void* data);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, qemu_plugin_vcpu_simple_cb_t);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_vcpu_tb_trans_cb_t);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, qemu_plugin_vcpu_udata_cb_t,
                                          qemu_plugin_cb_flags, void* data);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn*, qemu_plugin_vcpu_mem_cb_t,
                                      qemu_plugin_cb_flags, qemu_plugin_mem_rw, void* data);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, qemu_plugin_vcpu_syscall_cb_t);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t, qemu_plugin_vcpu_syscall_ret_cb_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_udata_cb_t, void* data);

size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, size_t index);
const void* qemu_plugin_insn_data(const qemu_plugin_insn*);
size_t qemu_plugin_insn_size(const qemu_plugin_insn*);
uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);
char* qemu_plugin_insn_disas(const qemu_plugin_insn*);  // to be freed; "" if it is none
void* qemu_plugin_insn_haddr(const qemu_plugin_insn*);  // where it is in QEMU's own memory

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);  // log2 of bytes
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
}
