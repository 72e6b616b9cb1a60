import { INSTRUCTION_BYTES, REFUSED_CALLS, systemCallFilter } from './system-calls.js';

const [ALLOWED, ERROR] = [0x7fff0000, 0x00050000];
const ERRORS = { EPERM: ERROR + 1, ENOSYS: ERROR + 38, EAFNOSUPPORT: ERROR + 97 };
const X86_64 = 0xc000003e;
const I386 = 0x40000003;
const AARCH64 = 0xc00000b7;

/** Returns the result of the filter for a call, evaluated like in the kernel (Documentation/bpf/classic). */
function resultOf(program: Buffer, processor: number, call: number, argument = 0): number {
  const data = new Map([
    [0, call],
    [4, processor],
    [16, argument],
  ]);
  let loaded = 0;
  for (let at = 0; at < program.length; at += INSTRUCTION_BYTES) {
    const value = program.readUInt32LE(at + 4);
    const tests: Record<number, () => boolean> = {
      0x15: () => loaded === value,
      0x35: () => loaded >= value,
      0x45: () => (loaded & value) !== 0,
    };
    const code = program.readUInt16LE(at);
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data.get(value) ?? NaN;
    else at += INSTRUCTION_BYTES * program.readUInt8(at + (tests[code]?.() ? 2 : 3));
  }
  throw new Error('The program has no end.');
}

const filterOf = (processor: string, keepsProcessors = false): Buffer => {
  const filter = systemCallFilter(processor, keepsProcessors);
  if (!filter) throw new Error(`There is no filter for ${processor}.`);
  return filter;
};

const [NEW_USER, NEW_THREAD] = [0x10000011, 0x3d0f00];

describe.each([
  { name: 'x64', own: X86_64, read: 0, keyctl: 250, mount: 165, clone: 56, socket: 41, pin: 203 },
  {
    name: 'arm64',
    own: AARCH64,
    read: 63,
    keyctl: 219,
    mount: 40,
    clone: 220,
    socket: 198,
    pin: 122,
  },
])('the filter of system calls for $name', (one) => {
  const { name, own, read, keyctl, mount, clone, socket, pin } = one;
  const filter = filterOf(name);

  it('allows common system calls', () => {
    expect(resultOf(filter, own, read)).toBe(ALLOWED);
    expect(resultOf(filter, own, clone, NEW_THREAD)).toBe(ALLOWED);
    for (const family of [1, 2, 10, 16]) {
      expect(resultOf(filter, own, socket, family)).toBe(ALLOWED);
    }
  });

  it('refuses keys, mounts, new user namespaces and unusual sockets', () => {
    expect(resultOf(filter, own, keyctl)).toBe(ERRORS.EPERM);
    expect(resultOf(filter, own, mount)).toBe(ERRORS.EPERM);
    expect(resultOf(filter, own, clone, NEW_USER)).toBe(ERRORS.EPERM);
    for (const family of [0, 17, 38, 40]) {
      expect(resultOf(filter, own, socket, family)).toBe(ERRORS.EAFNOSUPPORT);
    }
  });

  it('refuses exactly the listed calls', () => {
    const calls = Array.from({ length: 500 }, (_, call) => call);
    const refused = calls.filter((call) => resultOf(filter, own, call) === ERRORS.EPERM);
    expect(refused).toHaveLength(REFUSED_CALLS.length);
  });

  it('refuses to change the CPU affinity if the run is pinned', () => {
    expect(resultOf(filter, own, pin)).toBe(ALLOWED);
    const keeping = filterOf(name, true);
    expect(resultOf(keeping, own, pin)).toBe(ERRORS.EPERM);
    expect(resultOf(keeping, own, pin + 1)).toBe(ALLOWED);
  });

  it('reports calls that it cannot inspect as not implemented', () => {
    expect(resultOf(filter, own, 435)).toBe(ERRORS.ENOSYS);
    expect(resultOf(filter, I386, read)).toBe(ERRORS.ENOSYS);
  });
});

it('calls of the x32 ABI are not implemented', () => {
  expect(resultOf(filterOf('x64'), X86_64, 0x40000000)).toBe(ERRORS.ENOSYS);
});

it('there is no filter for an architecture with unknown call numbers', () => {
  expect(systemCallFilter('s390x')).toBeNull();
});
