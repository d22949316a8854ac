#include "events/cpu_tables.h"

#include <array>

#include "base/text.h"

namespace culprit {
namespace {

constexpr CpuEvent kNeoverseN1[] = {
    {"L1I_CACHE_REFILL", 0x01},  {"INST_RETIRED", 0x08},
    {"EXC_TAKEN", 0x09},         {"CPU_CYCLES", 0x11},
    {"INST_SPEC", 0x1b},         {"BR_MIS_PRED_RETIRED", 0x22},
    {"STALL_FRONTEND", 0x23},    {"STALL_BACKEND", 0x24},
    {"L3D_CACHE_REFILL", 0x2a},  {"REMOTE_ACCESS", 0x31},
    {"DTLB_WALK", 0x34},         {"ITLB_WALK", 0x35},
    {"LL_CACHE_RD", 0x36},       {"LL_CACHE_MISS_RD", 0x37},
    {"L1D_TLB_REFILL_RD", 0x4c}, {"L2D_CACHE_REFILL_RD", 0x52},
    {"BUS_ACCESS_RD", 0x60},     {"LD_SPEC", 0x70},
    {"ST_SPEC", 0x71},           {"DP_SPEC", 0x73},
    {"ASE_SPEC", 0x74},          {"VFP_SPEC", 0x75},
    {"BR_RETURN_SPEC", 0x79},    {"ISB_SPEC", 0x7c},
    {"DSB_SPEC", 0x7d},          {"DMB_SPEC", 0x7e},
};

constexpr CpuEvent kNeoverseV1[] = {
    {"INST_RETIRED", 0x08},
    {"EXC_TAKEN", 0x09},
    {"BR_MIS_PRED", 0x10},
    {"CPU_CYCLES", 0x11},
    {"BR_MIS_PRED_RETIRED", 0x22},
    {"STALL_FRONTEND", 0x23},
    {"STALL_BACKEND", 0x24},
    {"REMOTE_ACCESS", 0x31},
    {"DTLB_WALK", 0x34},
    {"ITLB_WALK", 0x35},
    {"LL_CACHE_RD", 0x36},
    {"LL_CACHE_MISS_RD", 0x37},
    {"L1D_CACHE_LMISS_RD", 0x39},
    {"OP_RETIRED", 0x3a},
    {"OP_SPEC", 0x3b},
    {"STALL", 0x3c},
    {"STALL_SLOT_BACKEND", 0x3d},
    {"STALL_SLOT_FRONTEND", 0x3e},
    {"STALL_SLOT", 0x3f},
    {"L1D_TLB_REFILL_RD", 0x4c},
    {"STALL_BACKEND_MEM", 0x4005},
    {"L1I_CACHE_LMISS", 0x4006},
    {"L2D_CACHE_LMISS_RD", 0x4009},
    // These are as on N1.
    {"BUS_ACCESS_RD", 0x60},
    {"LD_SPEC", 0x70},
    {"ST_SPEC", 0x71},
    {"DP_SPEC", 0x73},
    {"ASE_SPEC", 0x74},
    {"VFP_SPEC", 0x75},
    {"BR_RETURN_SPEC", 0x79},
    {"ISB_SPEC", 0x7c},
    {"DSB_SPEC", 0x7d},
    {"DMB_SPEC", 0x7e},
};

/// What the architecture itself defines; a core may lack some.
constexpr CpuEvent kArmv8[] = {
    {"SW_INCR", 0x00},          {"L1I_CACHE_REFILL", 0x01}, {"L1I_TLB_REFILL", 0x02},
    {"L1D_CACHE_REFILL", 0x03}, {"L1D_CACHE", 0x04},        {"L1D_TLB_REFILL", 0x05},
    {"INST_RETIRED", 0x08},     {"EXC_TAKEN", 0x09},        {"BR_MIS_PRED", 0x10},
    {"CPU_CYCLES", 0x11},       {"BR_PRED", 0x12},          {"MEM_ACCESS", 0x13},
    {"L1I_CACHE", 0x14},        {"L2D_CACHE", 0x16},        {"L2D_CACHE_REFILL", 0x17},
    {"BUS_ACCESS", 0x19},       {"STALL_FRONTEND", 0x23},   {"STALL_BACKEND", 0x24},
};

constexpr CpuEvent kPower9[] = {
    {"PM_RUN_CYC", 0x200f4},
    {"PM_RUN_INST_CMPL", 0x400fa},
    {"PM_1PLUS_PPC_CMPL", 0x100f2},
    {"PM_CMPLU_STALL", 0x1e054},
    {"PM_ICT_NOSLOT_CYC", 0x100f8},
    {"PM_CMPLU_STALL_DMISS_L2L3", 0x1003c},
    {"PM_CMPLU_STALL_DMISS_L21_L31", 0x2c018},
    {"PM_CMPLU_STALL_DMISS_LMEM", 0x30038},
    {"PM_CMPLU_STALL_DMISS_REMOTE", 0x2c01c},
    {"PM_CMPLU_STALL_DCACHE_MISS", 0x2c012},
    {"PM_CMPLU_STALL_DMISS_L3MISS", 0x4c01a},
    {"PM_CMPLU_STALL_ERAT_MISS", 0x4c012},
    {"PM_CMPLU_STALL_LHS", 0x2c01a},
    {"PM_CMPLU_STALL_LMQ_FULL", 0x4c014},
    {"PM_LSU_LMQ_FULL_CYC", 0xd0b8},
    {"PM_ICT_NOSLOT_IC_MISS", 0x2d01a},
    {"PM_ICT_NOSLOT_IC_L3", 0x3e052},
    {"PM_ICT_NOSLOT_IC_L3MISS", 0x4e010},
    {"PM_CMPLU_STALL_FXLONG", 0x4d016},
    {"PM_CMPLU_STALL_DPLONG", 0x3405c},
    {"PM_CMPLU_STALL_VDPLONG", 0x3c05a},
    {"PM_CMPLU_STALL_DFLONG", 0x1005a},
    {"PM_CMPLU_STALL_VFXLONG", 0x2e018},
    {"PM_CMPLU_STALL_SRQ_FULL", 0x30016},
    {"PM_CMPLU_STALL_STORE_FINISH", 0x2c014},
    {"PM_CMPLU_STALL_STORE_DATA", 0x30026},
    {"PM_ICT_NOSLOT_BR_MPRED", 0x4d01e},
    {"PM_ICT_NOSLOT_BR_MPRED_ICMISS", 0x34058},
    {"PM_CMPLU_STALL_BRU", 0x4d018},
    {"PM_BR_MPRED_CMPL", 0x400f6},
    {"PM_CMPLU_STALL_THRD", 0x1001c},
    {"PM_CMPLU_STALL_FLUSH_ANY_THREAD", 0x1e056},
    {"PM_NTC_ISSUE_HELD_ARB", 0x2e016},
    {"PM_NTC_ISSUE_HELD_DARQ_FULL", 0x1006a},
    {"PM_BR_MPRED_LSTACK", 0x48ac},
    {"PM_CMPLU_STALL_ANY_SYNC", 0x1e05a},
    {"PM_CMPLU_STALL_LWSYNC", 0x10036},
    {"PM_CMPLU_STALL_HWSYNC", 0x30036},
    {"PM_ICT_NOSLOT_DISP_HELD_SYNC", 0x4d01c},
    {"PM_CMPLU_STALL_EXCEPTION", 0x3003a},
    {"PM_CMPLU_STALL_MTFPSCR", 0x4e012},
};

/// AMD's own names. In bits 32 to 35: the code's upper four.
constexpr CpuEvent kZen5[] = {
    {"ls_int_taken", 0x2c},
    {"ls_dmnd_fills_from_sys.local_l2", 0x143},
    {"ls_dmnd_fills_from_sys.local_ccx", 0x243},
    {"ls_dmnd_fills_from_sys.near_cache", 0x443},
    {"ls_dmnd_fills_from_sys.dram_io_near", 0x843},
    {"ls_dmnd_fills_from_sys.far_cache", 0x1043},
    {"ls_dmnd_fills_from_sys.dram_io_far", 0x4043},
    {"ls_any_fills_from_sys.dram_io_near", 0x844},
    {"ls_l1_d_tlb_miss.tlb_reload_4k_l2_hit", 0x145},
    {"ls_l1_d_tlb_miss.tlb_reload_4k_l2_miss", 0x1045},
    {"ls_l1_d_tlb_miss.tlb_reload_2m_l2_miss", 0x4045},
    {"ls_alloc_mab_count", 0x5f},
    {"ls_not_halted_cyc", 0x76},
    {"ic_cache_fill_l2", 0x82},
    {"ic_cache_fill_sys", 0x83},
    {"bp_l1_tlb_miss_l2_tlb_miss.if4k", 0x185},
    {"bp_l2_btb_correct", 0x8b},
    {"bp_de_redirect", 0x91},
    {"bp_redirects.resync", 0x19f},
    {"de_no_dispatch_per_slot.no_ops_from_frontend", 0x1000001a0},
    {"de_no_dispatch_per_slot.backend_stalls", 0x100001ea0},
    {"de_no_dispatch_per_slot.smt_contention", 0x1000060a0},
    {"de_op_queue_empty", 0xa9},
    {"de_src_op_disp.x86_decoder", 0x1aa},
    {"de_src_op_disp.op_cache", 0x2aa},
    {"de_src_op_disp.all", 0x7aa},
    {"de_dis_ops_from_decoder.any_fp_dispatch", 0x4ab},
    {"de_dispatch_stall_cycle_dynamic_tokens_part1.load_queue_rsrc_stall", 0x2ae},
    {"de_dispatch_stall_cycle_dynamic_tokens_part1.store_queue_rsrc_stall", 0x4ae},
    {"de_dispatch_stall_cycle_dynamic_tokens_part1.fp_sch_rsrc_stall", 0x40ae},
    {"de_dispatch_stall_cycle_dynamic_tokens_part2.al_tokens", 0x1af},
    {"de_dispatch_stall_cycle_dynamic_tokens_part2.retq", 0x20af},
    {"ex_ret_instr", 0xc0},
    {"ex_ret_ops", 0xc1},
    {"ex_ret_ucode_instr", 0x1000000c1},
    {"ex_ret_ucode_ops", 0x1000000c2},
    {"ex_ret_brn_misp", 0xc3},
    {"ex_ret_near_ret", 0xc8},
    {"ex_div_busy", 0xd3},
    {"ex_div_count", 0xd4},
    {"ex_no_retire.empty", 0x1d6},
    {"ex_no_retire.not_complete", 0x2d6},
    {"ex_no_retire.other", 0x8d6},
    {"ex_no_retire.thread_not_selected", 0x10d6},
    {"ex_no_retire.load_not_complete", 0xa2d6},
};

constexpr CpuTable kTables[] = {
    {"amd64_fam1ah_zen5", "AMD Zen 5",
     "AMD's lists in Linux: tools/perf/pmu-events/arch/x86/amdzen5", kZen5},
    {"arm_n1", "Arm Neoverse N1",
     "Arm Neoverse N1 Core Technical Reference Manual, PMU events; libpfm4 git 91970fe "
     "lib/events/arm_neoverse_n1_events.h",
     kNeoverseN1},
    {"arm_v1", "Arm Neoverse V1",
     "Arm Neoverse V1 PMU Guide; libpfm4 git 91970fe lib/events/arm_neoverse_v1_events.h",
     kNeoverseV1},
    {"armv8_pmuv3", "Armv8 of any maker",
     "Arm Architecture Reference Manual for A-profile (DDI 0487), Performance Monitors "
     "Extension: architectural and common microarchitectural events",
     kArmv8},
    {"power9", "IBM POWER9",
     "POWER9 Performance Monitor Unit User's Guide; libpfm4 git 91970fe "
     "lib/events/power9_events.h",
     kPower9},
};

}  // namespace

std::span<const CpuTable> cpu_tables() {
  return kTables;
}

const CpuTable* find_cpu_table(std::string_view name) {
  for (const CpuTable& table : kTables) {
    if (is_same_word(table.name, name)) return &table;
  }
  return nullptr;
}

const CpuEvent* find_cpu_event(const CpuTable& table, std::string_view name) {
  for (const CpuEvent& event : table.events) {
    if (is_same_word(event.name, name)) return &event;
  }
  return nullptr;
}

}  // namespace culprit
