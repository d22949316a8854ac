#include "host/describe_machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>
#include <fmt/format.h>

#include "base/cpuid.h"
#include "base/file.h"
#include "base/text.h"
#include "host/capabilities_probe.h"

namespace culprit {
namespace {

std::string describe_cpu() {
  const std::string cpuinfo = read_file("/proc/cpuinfo").value_or("");
  for (const char* key : {"model name", "cpu model", "cpu", "Processor"}) {
    const std::string_view model = find_cpuinfo(cpuinfo, key);
    if (!model.empty()) return std::string(model);
  }
  const std::string_view part = find_cpuinfo(cpuinfo, "CPU part");  // Arm has numbers only
  if (part.empty()) return "";
  return fmt::format("Arm implementer {} part {}", find_cpuinfo(cpuinfo, "CPU implementer"), part);
}

/// The hypervisor as the CPU names it; "" if it says there is none or none that it names.
std::string read_hypervisor_leaf() {
#if defined(__x86_64__)
  constexpr unsigned kHypervisorBit = 1U << 31;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kHypervisorBit) == 0) return "";
  __cpuid(0x40000000, eax, ebx, ecx, edx);
  char signature[13] = "";
  std::memcpy(signature, &ebx, 4);
  std::memcpy(signature + 4, &ecx, 4);
  std::memcpy(signature + 8, &edx, 4);
  static constexpr struct {
    const char* signature;
    const char* name;
  } kKnown[] = {{"KVMKVMKVM", "kvm"},          {"Microsoft Hv", "hyper-v"},
                {"VMwareVMware", "vmware"},    {"XenVMMXenVMM", "xen"},
                {"TCGTCGTCGTCG", "qemu"},      {"bhyve bhyve ", "bhyve"},
                {" prl hyperv ", "parallels"}, {"VBoxVBoxVBox", "virtualbox"}};
  for (const auto& known : kKnown) {
    if (std::strcmp(signature, known.signature) == 0) return known.name;
  }
  return signature[0] == '\0' ? "unknown" : printable(signature);
#else
  return "";
#endif
}

std::string describe_virtualization() {
  std::string by_cpu = read_hypervisor_leaf();
  if (!by_cpu.empty()) return by_cpu;
  for (const char* path : {"/sys/hypervisor/type", "/proc/device-tree/hypervisor/compatible"}) {
    if (const Result<std::string> text = read_file(path))
      return std::string(trim(text->substr(0, text->find('\0'))));
  }
  // Arm has no such leaf: firmware tables name the machines that clouds make.
  const std::string text = read_file("/sys/class/dmi/id/product_name").value_or("");
  const std::string product(trim(text));
  for (const char* sign : {"KVM", "Virtual", "VMware", "HVM"}) {
    if (product.find(sign) != std::string::npos) return printable(product);
  }
  return "";
}

}  // namespace

Machine describe_machine() {
  Machine machine;
  utsname system{};
  if (::uname(&system) == 0) {
    machine.architecture = system.machine;
    machine.kernel_release = system.release;
  }
  machine.cpu_model = describe_cpu();
  machine.cpu_id = read_cpuid().value_or("");
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  machine.cpus_online = online > 0 ? static_cast<uint32_t>(online) : 0;
  machine.has_pmu = try_event(ProbeEvent::cycles, true, 0, -1) == 0;
  machine.virtualization = describe_virtualization();
  return machine;
}

}  // namespace culprit
