import { generateKeyPairSync } from 'node:crypto';

const PASSPHRASE = 'unlock me';

/** Private keys in every format that users paste, generated at run time: the repository contains no key. */
export interface SampleKeys {
  plain: Record<string, string>;
  encrypted: Record<string, string>;
}

const pem = (label: string, bytes: Buffer): string => {
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
};

/** Returns a key in the format of OpenSSH, with meaningless key material. */
const openSsh = (cipher: string): string => {
  const text = (content: Buffer | string): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    return Buffer.concat([length, Buffer.from(content)]);
  };
  const parts = [
    Buffer.from('openssh-key-v1\0'),
    ...[cipher, cipher === 'none' ? 'none' : 'bcrypt', ''].map(text),
    Buffer.from([0, 0, 0, 1]),
    ...[Buffer.alloc(51, 7), Buffer.alloc(136, 7)].map(text),
  ];
  return pem('OPENSSH PRIVATE KEY', Buffer.concat(parts));
};

/** Generates one small key in each format. */
export function sampleKeys(): SampleKeys {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cipher = { cipher: 'aes-128-cbc', passphrase: PASSPHRASE };
  const text = (type: 'pkcs8' | 'sec1', options = {}): string =>
    privateKey.export({ type, format: 'pem', ...options }).toString();
  return {
    plain: { pkcs8: text('pkcs8'), legacy: text('sec1'), openSsh: openSsh('none') },
    encrypted: {
      pkcs8: text('pkcs8', cipher),
      legacy: text('sec1', cipher),
      openSsh: openSsh('aes256-ctr'),
    },
  };
}
