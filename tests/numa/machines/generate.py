#!/usr/bin/env python3
"""Writes the recorded machines of this folder as hwloc 2 XML: generate.py [FOLDER].

They are drawn from public descriptions, not dumped from hardware: counts of packages, nodes, cores, GPUs, switches and
bridges, link speeds and quirks are the real ones; PCI addresses, drive sizes and the numbers of huge pages are ours,
chosen so that the plans have something to decide (a short node, an odd total, a CPU offline)."""
import os
import sys

GB_S = {(3, 16): 15.753846, (3, 4): 3.938462, (4, 4): 7.876923, (4, 16): 31.507692, (5, 16): 63.015385, None: 0.0}
GIB = 1 << 30


def bits(ids, width):
    value = sum(1 << i for i in ids)
    words = max(1, (width + 31) // 32)
    return ",".join("0x%08x" % (value >> 32 * w & 0xFFFFFFFF) for w in reversed(range(words)))


class Machine:
    def __init__(self, name, cpus, nodes, info=(), offline=()):
        self.name, self.cpus, self.nodes, self.gp, self.out = name, cpus, nodes, 0, []
        self.all, self.offline = set(range(cpus)), set(offline)
        self.info = info

    def next_gp(self):
        self.gp += 1
        return self.gp

    def sets(self, cpus, nodes):
        width = self.cpus
        online = bits(set(cpus) - self.offline, width)
        return 'cpuset="%s" complete_cpuset="%s" nodeset="%s" complete_nodeset="%s"' % (
            online, bits(cpus, width), bits(nodes, 32), bits(nodes, 32))

    def line(self, depth, text):
        self.out.append("  " * depth + text)

    def open(self, depth, kind, cpus, nodes, more="", info=(), close=False):
        self.line(depth, '<object type="%s" %s gp_index="%d"%s%s>' % (
            kind, self.sets(cpus, nodes), self.next_gp(), " " + more if more else "", "/" if close else ""))
        for name, value in info:
            self.line(depth + 1, '<info name="%s" value="%s"/>' % (name, value))

    def close(self, depth):
        self.line(depth, "</object>")

    def node(self, depth, os_index, cpus, memory, pages_1g, pages_2m=0, subtype=None):
        more = 'os_index="%d"%s local_memory="%d"' % (os_index, ' subtype="%s"' % subtype if subtype else "", memory)
        self.open(depth, "NUMANode", cpus, [os_index], more)
        small = (memory - pages_1g * GIB - pages_2m * (2 << 20)) // 4096
        for size, count in ((4096, small), (2 << 20, pages_2m), (GIB, pages_1g)):
            self.line(depth + 1, '<page_type size="%d" count="%d"/>' % (size, count))
        self.close(depth)

    def cores(self, depth, cores, nodes):
        """cores: a list of tuples of CPU numbers."""
        for index, threads in cores:
            self.open(depth, "Core", threads, nodes, 'os_index="%d"' % index)
            for cpu in threads:
                if cpu not in self.offline:
                    self.open(depth + 1, "PU", [cpu], nodes, 'os_index="%d"' % cpu, close=True)
            self.close(depth)

    def cache(self, depth, cpus, nodes, mib):
        self.open(depth, "L3Cache", cpus, nodes,
                  'cache_size="%d" depth="3" cache_linesize="64" cache_associativity="16" cache_type="0"' % int(mib * (1 << 20)))

    # --- I/O -------------------------------------------------------------------------------------------------------
    def host_bridge(self, depth, first, last):
        self.line(depth, '<object type="Bridge" gp_index="%d" bridge_type="0-1" depth="0" bridge_pci="0000:[%02x-%02x]">' % (
            self.next_gp(), first, last))

    def bridge(self, depth, level, bus, dev, first, last, link, ident="8086:352a"):
        self.line(depth, '<object type="Bridge" gp_index="%d" bridge_type="1-1" depth="%d" bridge_pci="0000:[%02x-%02x]" '
                         'pci_busid="0000:%02x:%02x.0" pci_type="0604 [%s] [0000:0000] 00" pci_link_speed="%f">' % (self.next_gp(), level, first, last, bus, dev, ident, GB_S[link]))

    def device(self, depth, bus, dev, what):
        class_id, ident, name, link, osdev = what
        self.line(depth, '<object type="PCIDev" gp_index="%d" pci_busid="0000:%02x:%02x.0" '
                         'pci_type="%s [%s] [0000:0000] 00" pci_link_speed="%f">' % (
                             self.next_gp(), bus, dev, class_id, ident, GB_S[link]))
        self.line(depth + 1, '<info name="PCIDevice" value="%s"/>' % name)
        if osdev:
            osdev_type, osname = osdev
            self.line(depth + 1, '<object type="OSDev" gp_index="%d" name="%s" osdev_type="%d"%s/>' % (
                self.next_gp(), osname, osdev_type, ' subtype="Disk"' if osdev_type == 0 else ""))
        self.close(depth)

    def switch(self, depth, level, bus, devices, link):
        """An upstream port on `bus`, one downstream port per device on bus + 1, devices on the buses behind."""
        self.bridge(depth, level, bus, 0, bus + 1, bus + 1 + len(devices), link, "1000:c030")
        for i, what in enumerate(devices):
            self.bridge(depth + 1, level + 1, bus + 1, i, bus + 2 + i, bus + 2 + i, what[3], "1000:c030")
            self.device(depth + 2, bus + 2 + i, 0, what)
            self.close(depth + 1)
        self.close(depth)

    def root_with_switch(self, depth, bus, devices, link):
        """host bridge > root port > switch > devices: 3 + len(devices) bridges."""
        last = bus + 2 + len(devices)
        self.host_bridge(depth, bus, last)
        self.bridge(depth + 1, 1, bus, 1, bus + 1, last, link)
        self.switch(depth + 2, 2, bus + 1, devices, link)
        self.close(depth + 1)
        self.close(depth)

    # --- file ------------------------------------------------------------------------------------------------------
    def begin(self, complete_nodes):
        self.line(0, '<?xml version="1.0" encoding="UTF-8"?>')
        self.line(0, '<!DOCTYPE topology SYSTEM "hwloc2.dtd">')
        self.line(0, '<topology version="2.0">')
        online, nodes = bits(self.all - self.offline, self.cpus), bits(complete_nodes, 32)
        self.line(1, '<object type="Machine" os_index="0" cpuset="%s" complete_cpuset="%s" allowed_cpuset="%s" nodeset="%s" '
                     'complete_nodeset="%s" allowed_nodeset="%s" gp_index="%d">' % (
                         online, bits(self.all, self.cpus), online, nodes, nodes, nodes, self.next_gp()))
        for name, value in (("DMIProductName", self.name),) + tuple(self.info):
            self.line(2, '<info name="%s" value="%s"/>' % (name, value))

    def end(self, distances):
        self.close(1)
        order = sorted(distances)
        if len(order) < 2:
            self.line(0, "</topology>")
            return
        ids = "".join("%d " % n for n in order)
        self.line(1, '<distances2 type="NUMANode" nbobjs="%d" kind="5" name="NUMALatency" indexing="os">' % len(order))
        self.line(2, '<indexes length="%d">%s</indexes>' % (len(ids), ids))
        for row in order:
            text = "".join("%d " % distances[row][col] for col in order)
            self.line(2, '<u64values length="%d">%s</u64values>' % (len(text), text))
        self.line(1, "</distances2>")
        self.line(0, "</topology>")

    def save(self, folder, file):
        with open(os.path.join(folder, file + ".xml"), "w") as f:
            f.write("\n".join(self.out) + "\n")


def gpu(ident, name, link):
    return ("0302", "10de:" + ident, name, link, None)


count = {"nvme": 0, "nic": 0}


def nvme(link=(4, 4)):
    count["nvme"] += 1
    return ("0108", "1d0f:cd01", "NVMe SSD Controller", link, (0, "nvme%dn1" % (count["nvme"] - 1)))


def nic():
    count["nic"] += 1
    return ("0200", "1d0f:efa2", "Elastic Fabric Adapter", (5, 16), (3, "rdmap%d" % (count["nic"] - 1)))


def flat(near, *levels):
    """Distances by position: levels = (group size, distance) from small to large."""
    return lambda a, b: near if a == b else next(d for size, d in levels if a // size == b // size)


def matrix(nodes, rule):
    return {a: {b: rule(a, b) for b in nodes} for a in nodes}


def two_package(folder, file, title, cores_per_package, l3_mib, l3_per_package, model, pages, memory_gib, roots, extra=None):
    """Two packages of one node each. CPUs: core c of package p is CPU p*C + c, its sibling is 2*C later.
    roots: per package a list of (bus, devices, link)."""
    count.update(nvme=0, nic=0)
    C = cores_per_package
    m = Machine(title, 4 * C, 2)
    m.begin([0, 1])
    for p in range(2):
        cores = [(p * C + c, (p * C + c, p * C + c + 2 * C)) for c in range(C)]
        cpus = [t for _, ts in cores for t in ts]
        m.open(2, "Package", cpus, [p], 'os_index="%d"' % p, (("CPUModel", model),))
        m.node(3, p, cpus, memory_gib * GIB, pages[p])
        per = C // l3_per_package
        for i in range(l3_per_package):
            part = cores[i * per:(i + 1) * per]
            m.cache(3, [t for _, ts in part for t in ts], [p], l3_mib)
            m.cores(4, part, [p])
            m.close(3)
        if p == 0 and extra:
            extra(m, 3)
        for bus, devices, link in roots[p]:
            if callable(devices):
                devices(m, 3, bus)
            else:
                m.root_with_switch(3, bus, devices, link)
        m.close(2)
    m.end(matrix([0, 1], flat(10, (2, 21))))
    m.save(folder, file)


def boot_host_bridge(m, depth):
    """A host bridge with the boot drive directly on it: one more bridge."""
    m.host_bridge(depth, 0, 0)
    m.device(depth + 1, 0, 4, ("0108", "1d0f:8061", "NVMe EBS Controller", None, (0, "nvme90n1")))
    m.close(depth)


def p4d(folder):
    a100 = gpu("20b0", "GA100 [A100 SXM4 40GB]", (4, 16))

    def root(bus):
        return (bus, [a100, a100, nvme(), nvme(), nic()], (4, 16))
    two_package(folder, "p4d", "p4d.24xlarge", 24, 35.75, 1, "Intel Xeon Platinum 8275CL", (128, 128), 576,
                [[root(0x10), root(0x20)], [root(0x90), root(0xa0)]])


def p5(folder):
    h100 = gpu("2330", "GH100 [H100 SXM5 80GB]", (5, 16))

    def root(bus):
        return (bus, [h100, nvme()] + [nic() for _ in range(8)], (5, 16))
    # 8 x (host bridge, root port, upstream port, 10 downstream ports) + 1 = 105 bridges; node 1 is short of pages
    two_package(folder, "p5", "p5.48xlarge", 48, 32, 6, "AMD EPYC 7R13", (120, 48), 1024,
                [[root(b) for b in (0x10, 0x20, 0x30, 0x40)], [root(b) for b in (0x80, 0x90, 0xa0, 0xb0)]], boot_host_bridge)


def p5en(folder):
    h200 = gpu("2335", "GH100 [H200 SXM 141GB]", (5, 16))

    def root(bus):
        return (bus, [h200, h200, nvme(), nvme()] + [nic() for _ in range(8)], (5, 16))
    # 4 x (host bridge, root port, upstream port, 12 downstream ports) + 1 = 61 bridges: two GPUs share each uplink
    two_package(folder, "p5en", "p5en.48xlarge", 48, 105, 1, "Intel Xeon Platinum 8488C", (200, 200), 1024,
                [[root(0x10), root(0x30)], [root(0x90), root(0xb0)]], boot_host_bridge)


def p6(folder):
    b200 = gpu("2901", "GB100 [B200]", (5, 16))

    def root(bus):
        return (bus, [b200, nvme(), nic()], (5, 16))
    two_package(folder, "p6-b200", "p6-b200.48xlarge", 48, 160, 1, "Intel Xeon Platinum 8559C", (100, 100), 1024,
                [[root(b) for b in (0x10, 0x20, 0x30, 0x40)], [root(b) for b in (0x80, 0x90, 0xa0, 0xb0)]], boot_host_bridge)


def dgx2(folder):
    v100 = gpu("1db8", "GV100GL [Tesla V100 SXM3 32GB]", (3, 16))
    ib = ("0207", "15b3:1017", "MT27800 Family [ConnectX-5]", (3, 16), (3, "mlx5"))

    def half(m, depth, bus):
        """Two tiers: root port > switch > two switches > two GPUs and a port each. Four GPUs share one Gen3 x16."""
        m.host_bridge(depth, bus, bus + 0x1f)
        m.bridge(depth + 1, 1, bus, 0, bus + 1, bus + 0x1f, (3, 16), "8086:2030")
        m.bridge(depth + 2, 2, bus + 1, 0, bus + 2, bus + 0x1f, (3, 16), "10b5:9797")
        for i in range(2):
            up = bus + 3 + i * 8
            m.bridge(depth + 3, 3, bus + 2, i, up, up + 5, (3, 16), "10b5:9797")
            m.switch(depth + 4, 4, up, [v100, v100, ib], (3, 16))
            m.close(depth + 3)
        m.close(depth + 2)
        m.close(depth + 1)
        m.close(depth)
    two_package(folder, "dgx2", "NVIDIA DGX-2", 24, 33, 1, "Intel Xeon Platinum 8168", (96, 96), 768,
                [[(0x20, half, None), (0x40, half, None)], [(0x90, half, None), (0xc0, half, None)]])


def clusters(folder, file, title, model, per_package, l3, cores_per_l3, l3_mib, pages, memory_gib, gpus, link, distance, offline=()):
    """Two packages of `per_package` nodes each; core c's sibling is all cores later; gpus: node -> (bus, device)."""
    nodes = 2 * per_package
    per_node = l3 * cores_per_l3
    C = nodes * per_node
    m = Machine(title, 2 * C, nodes, offline=offline)
    m.begin(range(nodes))
    for p in range(2):
        mine = range(p * per_package, (p + 1) * per_package)
        cpus = [t for n in mine for c in range(per_node) for t in (n * per_node + c, n * per_node + c + C)]
        m.open(2, "Package", cpus, mine, 'os_index="%d"' % p, (("CPUModel", model),))
        for n in mine:
            cores = [(n * per_node + c, (n * per_node + c, n * per_node + c + C)) for c in range(per_node)]
            all_threads = [t for _, ts in cores for t in ts]
            m.open(3, "Group", all_threads, [n], 'kind="1000" subkind="0"')
            m.node(4, n, all_threads, memory_gib * GIB, pages[n])
            for i in range(l3):
                part = cores[i * cores_per_l3:(i + 1) * cores_per_l3]
                m.cache(4, [t for _, ts in part for t in ts], [n], l3_mib)
                m.cores(5, part, [n])
                m.close(4)
            if n in gpus:
                bus, what = gpus[n]
                m.host_bridge(4, bus, bus + 1)
                m.bridge(5, 1, bus, 1, bus + 1, bus + 1, link)
                m.device(6, bus + 1, 0, what)
                m.close(5)
                m.close(4)
            m.close(3)
        m.close(2)
    m.end(matrix(range(nodes), flat(10, *distance)))
    m.save(folder, file)


def snc4(folder):
    h100 = gpu("2331", "GH100 [H100 PCIe]", (5, 16))
    clusters(folder, "snc4", "two-socket Xeon, SNC-4", "Intel Xeon Platinum 8468", 4, 1, 12, 26.25, [12] * 8, 64,
             {0: (0x10, h100), 2: (0x30, h100), 5: (0x90, h100), 7: (0xb0, h100)}, (5, 16), ((4, 12), (8, 21)))


def nps4(folder):
    l40 = gpu("26b9", "AD102GL [L40S]", (4, 16))
    clusters(folder, "nps4", "two-socket EPYC, NPS-4", "AMD EPYC 9274F", 4, 2, 3, 32, [24, 24, 24, 0, 24, 24, 24, 24], 96,
             {n: (0x10 + 0x10 * n, l40) for n in range(8)}, (4, 16), ((4, 12), (8, 32)), offline=(95,))


def vm(folder):
    """One socket, no SMT shown, the GPU straight on a root complex that reports no links."""
    count.update(nvme=0, nic=0)
    m = Machine("one-socket VM", 16, 1)
    m.begin([0])
    cpus = range(16)
    m.open(2, "Package", cpus, [0], 'os_index="0"', (("CPUModel", "Intel Xeon Processor (SapphireRapids)"),))
    m.node(3, 0, cpus, 128 * GIB, 4, 4096)
    m.cache(3, cpus, [0], 16)
    m.cores(4, [(c, (c,)) for c in cpus], [0])
    m.close(3)
    m.close(2)
    m.host_bridge(2, 0, 0)
    m.device(3, 0, 3, nvme(None))
    m.device(3, 0, 5, gpu("2335", "GH100 [H200 SXM 141GB]", None))
    m.close(2)
    m.end(matrix([0], flat(10)))
    m.save(folder, "vm1")


def unknown(folder):
    """Two sockets; the firmware has no _PXM for the GPUs' root bridges: numa_node is -1, hwloc hangs them on the machine."""
    a40 = gpu("2235", "GA102GL [A40]", (4, 16))
    m = Machine("two-socket server, GPUs at numa_node -1", 64, 2)
    m.begin([0, 1])
    for p in range(2):
        cores = [(p * 16 + c, (p * 16 + c, p * 16 + c + 32)) for c in range(16)]
        cpus = [t for _, ts in cores for t in ts]
        m.open(2, "Package", cpus, [p], 'os_index="%d"' % p, (("CPUModel", "AMD EPYC 7343"),))
        m.node(3, p, cpus, 256 * GIB, (40, 80)[p])
        for i in range(4):
            part = cores[i * 4:i * 4 + 4]
            m.cache(3, [t for _, ts in part for t in ts], [p], 32)
            m.cores(4, part, [p])
            m.close(3)
        m.close(2)
    for bus in (0x20, 0x40, 0x80, 0xc0):
        m.host_bridge(2, bus, bus + 1)
        m.bridge(3, 1, bus, 1, bus + 1, bus + 1, (4, 16), "1022:1483")
        m.device(4, bus + 1, 0, a40)
        m.close(3)
        m.close(2)
    m.end(matrix([0, 1], flat(10, (2, 32))))
    m.save(folder, "unknown")


def gpumem(folder):
    """Coherent CPU+GPU modules: GPU memory shows as nodes 4 and 12, a CXL card as CPU-less node 2."""
    gh = gpu("2342", "GH100 [GH200 120GB]", (5, 16))
    m = Machine("two GH200-like modules with a CXL node", 16, 5)
    m.begin([0, 1, 2, 4, 12])
    for p in range(2):
        cpus = range(p * 8, p * 8 + 8)
        own = [0, 2, 4] if p == 0 else [1, 12]
        m.open(2, "Package", cpus, own, 'os_index="%d"' % p, (("CPUModel", "Neoverse-V2"),))
        m.node(3, p, cpus, 480 * GIB, 30)
        m.node(3, (4, 12)[p], cpus, 96 * GIB, 0, 0, "GPUMemory")
        if p == 0:
            m.node(3, 2, cpus, 256 * GIB, 50)
        m.cache(3, cpus, own, 114)
        m.cores(4, [(c, (c,)) for c in cpus], own)
        m.close(3)
        bus = 0x01 + 0x40 * p
        m.host_bridge(3, bus, bus + 1)
        m.bridge(4, 1, bus, 0, bus + 1, bus + 1, (5, 16), "10de:22b8")
        m.device(5, bus + 1, 0, gh)
        m.close(4)
        m.close(3)
        m.close(2)
    kind = {0: 0, 2: 0, 4: 0, 1: 1, 12: 1}

    def rule(a, b):
        if a == b:
            return 10
        return (40 if kind[a] == kind[b] else 80) if max(a, b) > 1 else 40
    m.end(matrix([0, 1, 2, 4, 12], rule))
    m.save(folder, "gpumem")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for make in (p4d, p5, p5en, p6, dgx2, snc4, nps4, vm, unknown, gpumem):
        make(folder)


if __name__ == "__main__":
    main()
