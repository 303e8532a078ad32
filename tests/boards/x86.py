"""x86: a server with two sockets, a laptop, and a virtual machine.

- Server: two Xeon Gold 6226R by the ``lscpu`` at https://github.com/nviennot/core-to-core-latency/issues/127 (model,
  frequencies, two threads per core), cut down from sixteen cores per socket to two. Flags: those of the same generation
  in the ``/proc/cpuinfo`` at https://github.com/google/cadvisor/issues/2798. The numbering (first threads of all cores,
  then second threads: 0-1,4-5 on node 0) is that of the two-socket dump in
  https://github.com/sgl-project/sglang/pull/6452. Zones and DMI: what such servers show, names invented.
- Control groups of version 1 next to an empty version 2, as distributions of 2020 mount them.
"""

from __future__ import annotations

from pathlib import Path

from tests.boards.tree import (
    CPU,
    X86_64,
    Files,
    core,
    cpu_times,
    kernel,
    memory,
    paging,
    policy,
    process,
    swap,
    write_tree,
    zone,
)

_FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ss ht tm "
    "syscall nx pdpe1gb rdtscp lm constant_tsc pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 x2apic movbe popcnt aes "
    "xsave avx f16c rdrand bmi1 avx2 smep bmi2 erms avx512f avx512dq rdseed adx smap clflushopt clwb avx512cd "
    "avx512bw avx512vl xsaveopt xsavec xgetbv1 avx512_vnni arch_capabilities"
)


def x86_server(root: Path) -> Path:
    """Two sockets, each its own memory node, with two cores of two threads."""
    files = process("0-7", X86_64) | kernel("5.4.0-200-generic") | cpu_times(8) | paging()
    files |= memory(131_500_000, 120_000_000) | swap(("/dev/sda3", "partition", 8_388_604, 0))
    files |= zone(0, "x86_pkg_temp", 41_000) | zone(1, "x86_pkg_temp", 43_000)
    files |= {
        f"{CPU}/online": "0-7",
        "sys/class/dmi/id/sys_vendor": "Example Computer",
        "sys/class/dmi/id/product_name": "R2 Server",
        "sys/devices/system/node/node0/cpulist": "0-1,4-5",
        "sys/devices/system/node/node1/cpulist": "2-3,6-7",
        "proc/self/cgroup": "5:cpu,cpuacct:/box\n4:memory:/box\n3:cpuset:/\n0::/",
        "sys/fs/cgroup/unified/cgroup.controllers": "",
        "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/memory/box/memory.max_usage_in_bytes": "734003200",
        "sys/fs/cgroup/cpu/box/cpu.stat": "nr_periods 900\nnr_throttled 3\nthrottled_time 250000000",
        "proc/cpuinfo": "\n".join(_block(cpu, cpu // 2 % 2, cpu % 2) for cpu in range(8)),
    }
    for cpu in range(8):
        files |= core(cpu, f"{cpu % 4},{cpu % 4 + 4}", 3_900_000)
        files |= policy((cpu,), "powersave", "intel_pstate", (1_200_000, 2_900_000, 3_900_000))
    return write_tree(root, files)


def _block(cpu: int, socket: int, core_id: int) -> str:
    return (
        f"processor\t: {cpu}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
        f"model name\t: Intel(R) Xeon(R) Gold 6226R CPU @ 2.90GHz\nstepping\t: 7\nphysical id\t: {socket}\n"
        f"siblings\t: 4\ncore id\t\t: {core_id}\ncpu cores\t: 2\nflags\t\t: {_FLAGS}\nbugs\t\t: spectre_v1 spectre_v2\n"
    )


def x86_laptop(root: Path, physical: int = 2) -> Path:
    """Physical cores with two threads each: 0 and 1 are the two of the first."""
    logical = 2 * physical
    files = process(f"0-{logical - 1}", X86_64) | {f"{CPU}/online": f"0-{logical - 1}"}
    for cpu in range(logical):
        first = cpu - cpu % 2
        files |= core(cpu, f"{first}-{first + 1}", 4_600_000)
    return write_tree(root, files)


def virtual_machine(root: Path) -> Path:
    """Two cores of which the kernel knows neither speed nor siblings, some of whose time the host takes."""
    files: Files = process("0-1", X86_64) | cpu_times(2, stolen=40) | {f"{CPU}/online": "0-1"}
    return write_tree(root, files)
