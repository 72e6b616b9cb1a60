/** One instruction of a classic BPF program, the format of the kernel's system call filters. */
interface Instruction {
  readonly code: number;
  /**
   * Number of instructions to skip if the comparison is true; `skipElse`: if the comparison is false.
   */
  readonly skipIf?: number;
  readonly skipElse?: number;
  readonly value: number;
}

/** Size of an instruction in bytes. */
export const INSTRUCTION_BYTES = 8;
/** Maximum number of instructions that the kernel accepts. */
const MAX_INSTRUCTIONS = 4096;

const CODES = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, end: 0x06 } as const;

/** Loads 32 bits of the kernel's description of a call (`struct seccomp_data`). */
const load = (offset: number): Instruction => ({ code: CODES.load, value: offset });

/** Ends the program and returns an action code to the kernel. */
const end = (action: number): Instruction => ({ code: CODES.end, value: action });

/** Runs `then` if the loaded value is equal to `value`; otherwise continues after `then`. */
const whenEqual = (value: number, then: readonly Instruction[]): Instruction[] =>
  when(CODES.equal, value, then);

/** Runs `then` if the loaded value is at least `value`. */
const whenAtLeast = (value: number, then: readonly Instruction[]): Instruction[] =>
  when(CODES.atLeast, value, then);

/** Runs `then` if the loaded value has any of the bits of `value`. */
const whenAnyBit = (value: number, then: readonly Instruction[]): Instruction[] =>
  when(CODES.anyBit, value, then);

function when(code: number, value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code, skipIf: 0, skipElse: then.length, value }, ...then];
}

/** Encodes the program as `struct sock_filter`, in the byte order of x86 and ARM. */
function assemble(instructions: readonly Instruction[]): Buffer {
  if (instructions.length > MAX_INSTRUCTIONS) throw new Error('The program is too long.');
  const program = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  for (const [index, { code, skipIf = 0, skipElse = 0, value }] of instructions.entries()) {
    const start = index * INSTRUCTION_BYTES;
    program.writeUInt16LE(code, start);
    // A jump distance is one byte. A longer distance throws a RangeError.
    program.writeUInt8(skipIf, start + 2);
    program.writeUInt8(skipElse, start + 3);
    program.writeUInt32LE(value, start + 4);
  }
  return program;
}

/** Processor architectures that have a filter, by their name in Node. */
type Processor = 'x64' | 'arm64';

/** Architecture numbers `AUDIT_ARCH_*` of linux/audit.h. */
const AUDIT_ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

/**
 * System calls that no playbook needs and that expose a large part of the kernel to a run. Numbers
 * from asm/unistd_64.h (x64) and asm-generic/unistd.h (arm64).
 */
const REFUSED: Readonly<Record<string, Readonly<Record<Processor, number>>>> = {
  // Kernel keyrings, which belong to an account and not to a namespace.
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  keyctl: { x64: 250, arm64: 219 },
  // Programs inside the kernel, and the subsystems with the most vulnerabilities.
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  io_uring_setup: { x64: 425, arm64: 425 },
  io_uring_enter: { x64: 426, arm64: 426 },
  io_uring_register: { x64: 427, arm64: 427 },
  // Access to other processes.
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  kcmp: { x64: 312, arm64: 272 },
  pidfd_getfd: { x64: 438, arm64: 438 },
  // Changes of mounts and namespaces.
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  move_mount: { x64: 429, arm64: 429 },
  open_tree: { x64: 428, arm64: 428 },
  fsopen: { x64: 430, arm64: 430 },
  fsconfig: { x64: 431, arm64: 431 },
  fsmount: { x64: 432, arm64: 432 },
  fspick: { x64: 433, arm64: 433 },
  mount_setattr: { x64: 442, arm64: 442 },
  pivot_root: { x64: 155, arm64: 41 },
  setns: { x64: 308, arm64: 268 },
  unshare: { x64: 272, arm64: 97 },
  // Administration of the machine.
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  reboot: { x64: 169, arm64: 142 },
  acct: { x64: 163, arm64: 89 },
  syslog: { x64: 103, arm64: 116 },
  // Access to files by handle, which bypasses the permissions of folders.
  open_by_handle_at: { x64: 304, arm64: 265 },
  fanotify_init: { x64: 300, arm64: 262 },
};
/** Refused if a command is pinned to processors: its affinity is set before it starts. */
const SET_AFFINITY: Record<Processor, number> = { x64: 203, arm64: 122 };
const CLONE: Record<Processor, number> = { x64: 56, arm64: 220 };
/** The flags of `clone3` are behind a pointer, which a filter cannot read. */
const CLONE3 = 435;
/** Names of both calls; filters cannot read the flags of `clone3`. */
export const CLONE_CALLS = { plain: 'clone', hidden: 'clone3' } as const;
const SOCKET: Record<Processor, number> = { x64: 41, arm64: 198 };

/** Flag of `clone` for a new user namespace. */
export const NEW_USER_NAMESPACE = 0x10000000;
/** Allowed socket families by number: local, IPv4, IPv6, and netlink, which lists addresses. */
export const FAMILIES: readonly number[] = [1, 2, 10, 16];
/** Bit that marks calls in the 32-bit form of x86-64. */
const X32_CALLS = 0x40000000;

/** Offsets of fields in `struct seccomp_data`. */
const OFFSETS = { call: 0, processor: 4, firstArgument: 16 } as const;

export const ERRORS = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;
const ALLOWED = end(0x7fff0000);
const refusedWith = (error: keyof typeof ERRORS): Instruction => end(0x00050000 | ERRORS[error]);

/**
 * Returns the compiled system call filter for programs inside the sandbox. A refused call returns
 * an error to the program, so that the program can fall back. Returns null for an unknown processor
 * architecture.
 *
 * @param refusesAffinity true if programs may not change their processor affinity
 */
export function systemCallFilter(
  processor: string = process.arch,
  refusesAffinity = false,
): Buffer | null {
  return isKnown(processor) ? assemble(filterFor(processor, refusesAffinity)) : null;
}

/** Names of the calls that are refused independently of their arguments. */
export const REFUSED_CALLS = Object.keys(REFUSED);

const isKnown = (processor: string): processor is Processor => processor in AUDIT_ARCHITECTURES;

function filterFor(processor: Processor, refusesAffinity: boolean): Instruction[] {
  const refused = [refusedWith('EPERM')];
  const unsupported = [refusedWith('ENOSYS')];
  return [
    load(OFFSETS.processor),
    // A 32-bit program uses other call numbers, so the rules below apply to the native architecture
    // only.
    ...whenEqual(AUDIT_ARCHITECTURES[processor], [
      load(OFFSETS.call),
      ...(processor === 'x64' ? whenAtLeast(X32_CALLS, unsupported) : []),
      ...Object.values(REFUSED).flatMap((numbers) => whenEqual(numbers[processor], refused)),
      ...(refusesAffinity ? whenEqual(SET_AFFINITY[processor], refused) : []),
      // Programs fall back to `clone` if `clone3` is reported as missing.
      ...whenEqual(CLONE3, unsupported),
      ...whenEqual(CLONE[processor], [
        load(OFFSETS.firstArgument),
        ...whenAnyBit(NEW_USER_NAMESPACE, refused),
        ALLOWED,
      ]),
      ...whenEqual(SOCKET[processor], [
        load(OFFSETS.firstArgument),
        ...FAMILIES.flatMap((family) => whenEqual(family, [ALLOWED])),
        refusedWith('EAFNOSUPPORT'),
      ]),
      ALLOWED,
    ]),
    ...unsupported,
  ];
}
