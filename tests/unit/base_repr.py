#!/usr/bin/env python3
"""Writes base_repr.inc: doubles as bits, and their repr as Python writes it."""
import random
import struct

rng = random.Random(20240229)
values = [0.0, -0.0, 1.0, -1.0, 15.0, 0.1, 0.2, 0.1 + 0.2, 1 / 3, 1e-4, 1e-5, 9.9e-5, 123456.789, 1e15, 1e16, 1e17,
          9007199254740991.0, 9007199254740992.0, 9007199254740993.0, 9999999999999998.0, 12345678901234567.0,
          1e21, 1e22, 1e23, 1e100, 5e-324, 1e-323, 2.5e-323, 2.2250738585072014e-308, 2.225073858507201e-308,
          1.7976931348623157e308, 2.0 ** -44, 2.0 ** -1074, 2.0 ** 1023, 4.35, 0.3, 2.675, 1.005, 8.41, 9.5e-3, -1e-06]
values += [2.0 ** e for e in range(-1074, 1024, 13)]
values += [struct.unpack("<d", struct.pack("<Q", rng.getrandbits(63) % 0x7FF0000000000000))[0] for _ in range(200)]
values += [rng.uniform(-1000, 1000) for _ in range(60)]
values += [round(rng.uniform(0, 100), d) for d in range(1, 9) for _ in range(6)]

print("/* Made by base_repr.py: do not edit. */")
print("static const struct {\n  uint64_t bits;\n  const char *text;\n} reprs[] = {")
for v in values:
    bits = struct.unpack("<Q", struct.pack("<d", v))[0]
    print(f"    {{0x{bits:016x}u, \"{v!r}\"}},")
print("};")
