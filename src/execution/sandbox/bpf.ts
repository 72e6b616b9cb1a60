/** One instruction of a classic BPF program, the format of the kernel's system call filters. */
export interface Instruction {
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
export const MAX_INSTRUCTIONS = 4096;

const CODES = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, end: 0x06 } as const;

/** Loads 32 bits of the kernel's description of a call (`struct seccomp_data`). */
export const load = (offset: number): Instruction => ({ code: CODES.load, value: offset });

/** Ends the program and returns an action code to the kernel. */
export const end = (action: number): Instruction => ({ code: CODES.end, value: action });

/** Runs `then` if the loaded value is equal to `value`; otherwise continues after `then`. */
export const whenEqual = (value: number, then: readonly Instruction[]): Instruction[] =>
  when(CODES.equal, value, then);

/** Runs `then` if the loaded value is at least `value`. */
export const whenAtLeast = (value: number, then: readonly Instruction[]): Instruction[] =>
  when(CODES.atLeast, value, then);

/** Runs `then` if the loaded value has any of the bits of `value`. */
export const whenAnyBit = (value: number, then: readonly Instruction[]): Instruction[] =>
  when(CODES.anyBit, value, then);

function when(code: number, value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code, skipIf: 0, skipElse: then.length, value }, ...then];
}

/** Encodes the program as `struct sock_filter`, in the byte order of x86 and ARM. */
export function assemble(instructions: readonly Instruction[]): Buffer {
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
