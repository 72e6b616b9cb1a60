import fc from 'fast-check';
import { AddressGuard, resolveAllowed, type Resolver } from './address-guard.js';

const REFUSED = [
  ['loopback', '127.0.0.1'],
  ['loopback elsewhere in 127/8', '127.8.9.10'],
  ['short loopback', '127.1'],
  ['hexadecimal loopback', '0x7f.1'],
  ['dword loopback', '2130706433'],
  ['octal loopback', '0177.0.0.1'],
  ['unspecified', '0.0.0.0'],
  ['private 10', '10.1.2.3'],
  ['private 172', '172.16.0.1'],
  ['private 192', '192.168.1.1'],
  ['carrier grade NAT', '100.64.0.1'],
  ['link-local and cloud metadata', '169.254.169.254'],
  ['metadata at a public address', '168.63.129.16'],
  ['the same as a number', '2822734096'],
  ['documentation', '192.0.2.1'],
  ['benchmarking', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['IPv6 loopback', '::1'],
  ['IPv6 unspecified', '::'],
  ['IPv6 link-local', 'fe80::1'],
  ['IPv6 link-local with zone', 'fe80::1%eth0'],
  ['IPv6 unique local', 'fd00::1'],
  ['IPv6 site local', 'fec0::1'],
  ['IPv6 multicast', 'ff02::1'],
  ['IPv6 documentation', '2001:db8::1'],
  ['mapped loopback', '::ffff:127.0.0.1'],
  ['mapped public', '::ffff:8.8.8.8'],
  ['compatible loopback', '::127.0.0.1'],
  ['translated loopback', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['local NAT64', '64:ff9b:1::1'],
  ['6to4', '2002:7f00:1::'],
  ['Teredo', '2001::1'],
  ['no address at all', 'example.com'],
] as const;

const resolverOf =
  (...addresses: string[]): Resolver =>
  () =>
    Promise.resolve(
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

describe('AddressGuard', () => {
  it.each(REFUSED)('refuses %s (%s)', (_name, address) => {
    expect(new AddressGuard([]).isAllowed(address)).toBe(false);
  });

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700::1'])('allows the public address %s', (address) => {
    expect(new AddressGuard([]).isAllowed(address)).toBe(true);
  });

  it.each([
    ['127.0.0.0/8', '127.0.0.1'],
    ['127.0.0.0/8', '0x7f.1'],
    ['127.0.0.0/8', '::ffff:127.0.0.1'],
    ['10.0.0.0/8', '10.1.2.3'],
    ['::1', '::1'],
    ['fd00::/8', 'fd12::1'],
  ])('allows, with the setting %s, the address %s', (range, address) => {
    expect(new AddressGuard([range]).isAllowed(address)).toBe(true);
  });

  it('does not apply an IPv4 permission to translated IPv6 addresses', () => {
    const guard = new AddressGuard(['127.0.0.0/8']);
    expect(guard.isAllowed('64:ff9b::7f00:1')).toBe(false);
    expect(guard.isAllowed('2002:7f00:1::')).toBe(false);
  });

  it('refuses every address of 10/8 in every notation', () => {
    const guard = new AddressGuard([]);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffff }), (low) => {
        const value = 0x0a000000 + low;
        const spellings = [`${value}`, `0x${value.toString(16)}`, `10.${low}`, `012.${low}`];
        return spellings.every((spelling) => !guard.isAllowed(spelling));
      }),
    );
  });

  it('refuses a name if one of its addresses is private', async () => {
    const guard = new AddressGuard([], resolverOf('8.8.8.8', '10.0.0.1'));
    await expect(guard.resolve('mixed.test')).rejects.toMatchObject({
      kind: 'address',
      retryable: false,
    });
  });

  it('refuses a private IP address without a DNS lookup', async () => {
    const guard = new AddressGuard([], () => Promise.reject(new Error('must not be asked')));
    await expect(guard.resolve('[::1]')).rejects.toMatchObject({ kind: 'address' });
    await expect(guard.resolve('2130706433')).rejects.toMatchObject({ kind: 'address' });
  });

  it('reports an unresolvable name as retryable', async () => {
    const guard = new AddressGuard([], () => Promise.reject(new Error('ENOTFOUND')));
    await expect(guard.resolve('gone.test')).rejects.toMatchObject({
      kind: 'dns',
      retryable: true,
    });
  });

  it('names a range that is not a valid CIDR', () => {
    expect(() => new AddressGuard(['10.0.0.0/99'])).toThrow('10.0.0.0/99');
    expect(() => new AddressGuard(['localhost'])).toThrow('localhost');
  });
});

describe('resolveAllowed', () => {
  it('returns the address for the connection', async () => {
    const guard = new AddressGuard([], resolverOf('8.8.8.8'));
    await expect(resolveAllowed('mail.test', guard, 1000)).resolves.toEqual({
      address: '8.8.8.8',
      family: 4,
    });
  });

  it('stops waiting for a name server that never responds', async () => {
    const guard = new AddressGuard([], () => new Promise(() => undefined));
    await expect(resolveAllowed('slow.test', guard, 20)).rejects.toMatchObject({ kind: 'timeout' });
  });
});
