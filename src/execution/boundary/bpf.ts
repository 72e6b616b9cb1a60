/** One instruction of a classic BPF program, as the kernel's filters of system calls are written in. */
export interface Instruction {
  readonly code: number;
  /** Instructions to leave out where a comparison holds, and where it does not. */
  readonly skipIf?: number;
  readonly skipElse?: number;
  readonly value: number;
}

/** Bytes of an instruction. */
export const INSTRUCTION_BYTES = 8;
/** Most instructions the kernel takes. */
export const MOST_INSTRUCTIONS = 4096;

const CODES = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, end: 0x06 } as const;

/** Loads 32 bits from what the kernel tells of a call (`struct seccomp_data`). */
export const load = (offset: number): Instruction => ({ code: CODES.load, value: offset });

/** Ends the program with a verdict. */
export const end = (verdict: number): Instruction => ({ code: CODES.end, value: verdict });

/** Does `then` where what was loaded is the value, and goes on behind it otherwise. */
export const whenEqual = (value: number, then: readonly Instruction[]): Instruction[] =>
  when(CODES.equal, value, then);

/** The same where it is the value or more. */
export const whenAtLeast = (value: number, then: readonly Instruction[]): Instruction[] =>
  when(CODES.atLeast, value, then);

/** The same where it has one of the bits. */
export const whenAnyBit = (value: number, then: readonly Instruction[]): Instruction[] =>
  when(CODES.anyBit, value, then);

function when(code: number, value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code, skipIf: 0, skipElse: then.length, value }, ...then];
}

/** The program as the kernel takes it: `struct sock_filter`, in the order of bytes of x86 and ARM. */
export function assemble(instructions: readonly Instruction[]): Buffer {
  if (instructions.length > MOST_INSTRUCTIONS) throw new Error('The program is too long.');
  const program = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  for (const [index, { code, skipIf = 0, skipElse = 0, value }] of instructions.entries()) {
    const start = index * INSTRUCTION_BYTES;
    program.writeUInt16LE(code, start);
    // A jump is one byte: what is longer throws here.
    program.writeUInt8(skipIf, start + 2);
    program.writeUInt8(skipElse, start + 3);
    program.writeUInt32LE(value, start + 4);
  }
  return program;
}
