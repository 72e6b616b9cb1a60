import { createPrivateKey } from 'node:crypto';
import { resultOr } from '../../common/errors/errors.js';

/**
 * Result of checking a text with private keys: an error message for the user, or `isEncrypted`,
 * which is true if a key needs a passphrase.
 */
export type SshKeyCheck = { fault: string } | { fault: null; isEncrypted: boolean };

interface PemBlock {
  label: string;
  lines: string[];
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]{1,40})-----$/;
const END = /^-----END ([A-Z0-9 ]{1,40})-----$/;
const MARKER = /-----(?:BEGIN|END) [A-Z0-9 ]{1,40}-----/g;
const HEADER = /^[A-Za-z0-9-]+: /;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Words before `PRIVATE KEY`: legacy PEM, PKCS 8 plain and encrypted, and OpenSSH's own format. */
const KEY_TYPES = new Set(['RSA', 'DSA', 'EC', 'OPENSSH', '', 'ENCRYPTED']);

const OPENSSH_MAGIC = Buffer.from('openssh-key-v1\0', 'latin1');
const LONGEST_TAG = 16;
/** Smallest block size in bytes of the ciphers that PEM headers name. */
const CIPHER_BLOCK = 8;
/** Prefix of an OpenSSH key without passphrase: magic, then length and name of the cipher `none`. */
const OPENSSH_PLAIN = Buffer.from('openssh-key-v1\0\0\0\0\x04none', 'latin1');

/**
 * Checks a text that should contain at least one private key, and optionally certificates. Messages never
 * quote the text.
 */
export function checkSshKey(text: string): SshKeyCheck {
  const blocks = toBlocks(text);
  if (!blocks) return { fault: 'Invalid certificate or key.' };
  const checks = blocks.map(checkBlock);
  const faulty = checks.find((check) => check.fault !== null);
  if (faulty) return faulty;
  if (!blocks.some(isPrivateKey)) return { fault: 'At least one private key is required.' };
  return {
    fault: null,
    isEncrypted: checks.some((check) => check.fault === null && check.isEncrypted),
  };
}

/**
 * Converts a text that `checkSshKey` accepts to the format that ssh tools require: markers on separate
 * lines, no whitespace around lines, and 64 characters per line.
 */
export function repairSshKey(text: string): string {
  return (toBlocks(text) ?? []).map(textOf).join('');
}

/** Returns true if a text is a valid private key with a passphrase. */
export function isEncryptedKey(text: string): boolean {
  const check = checkSshKey(text);
  return check.fault === null && check.isEncrypted;
}

const bodyOf = ({ lines }: PemBlock): string =>
  lines
    .filter((line) => !HEADER.test(line))
    .join('')
    .replace(/\s/g, '');

function textOf(block: PemBlock): string {
  const headers = block.lines.filter((line) => HEADER.test(line));
  const lines = [
    `-----BEGIN ${block.label}-----`,
    ...(headers.length > 0 ? [...headers, ''] : []),
    ...(bodyOf(block).match(/.{1,64}/g) ?? []),
    `-----END ${block.label}-----`,
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * Returns the PEM blocks of a text; null if there is text other than blank lines outside of blocks.
 */
function toBlocks(text: string): PemBlock[] | null {
  const blocks: PemBlock[] = [];
  let open: PemBlock | null = null;
  for (const line of text
    .replace(MARKER, '\n$&\n')
    .split('\n')
    .map((part) => part.trim())) {
    const begin: string | undefined = BEGIN.exec(line)?.[1];
    const end = END.exec(line)?.[1];
    if (begin !== undefined) {
      if (open) return null;
      open = { label: begin, lines: [] };
    } else if (end !== undefined) {
      if (open?.label !== end) return null;
      blocks.push(open);
      open = null;
    } else if (open) open.lines.push(line);
    else if (line !== '') return null;
  }
  return open || blocks.length === 0 ? null : blocks;
}

function checkBlock(block: PemBlock): SshKeyCheck {
  if (!isPrivateKey(block) && block.label !== 'CERTIFICATE') {
    return { fault: `Unsupported PEM object type: "${block.label}"` };
  }
  const keyType = block.label.replace(/ ?PRIVATE KEY$/, '');
  if (isPrivateKey(block) && !KEY_TYPES.has(keyType)) {
    return { fault: `Invalid private key: unsupported type "${keyType}"` };
  }
  const body = bodyOf(block);
  if (!BASE64.test(body)) return { fault: 'Invalid base64-encoded data' };
  if (isPrivateKey(block) && !isComplete(keyType, block, Buffer.from(body, 'base64'))) {
    return { fault: 'Invalid private key: it is damaged or a part of it is missing.' };
  }
  return {
    fault: null,
    isEncrypted: isPrivateKey(block) && isEncryptedBlock(keyType, block, body),
  };
}

/** Returns true if the bytes of a key are complete, as far as can be verified without its passphrase. */
function isComplete(keyType: string, block: PemBlock, bytes: Buffer): boolean {
  if (keyType === 'OPENSSH') return isOpenSsh(bytes);
  if (keyType === 'ENCRYPTED') return isDerSequence(bytes);
  if (block.lines.some((line) => HEADER.test(line))) return bytes.length % CIPHER_BLOCK === 0;
  return resultOr(() => createPrivateKey(textOf(block)), null) !== null;
}

/** Returns true for a DER sequence whose length equals the length in its header. */
function isDerSequence(bytes: Buffer): boolean {
  const [tag, length = 0] = bytes;
  const size = length & 0x7f;
  if (tag !== 0x30 || (length & 0x80) === 0 || size === 0 || size > 4) return false;
  return bytes.length > 2 + size && bytes.readUIntBE(2, size) === bytes.length - 2 - size;
}

/**
 * Returns true for a complete key in OpenSSH's format (PROTOCOL.key): cipher, key derivation and its
 * options, public keys, private part.
 */
function isOpenSsh(bytes: Buffer): boolean {
  if (!bytes.subarray(0, OPENSSH_MAGIC.length).equals(OPENSSH_MAGIC)) return false;
  let offset = OPENSSH_MAGIC.length;
  const number = (): number => {
    offset += 4;
    return offset > bytes.length ? Infinity : bytes.readUInt32BE(offset - 4);
  };
  const skip = (): void => {
    const length = number();
    offset += length;
  };
  for (let text = 0; text < 3; text += 1) skip();
  const keys = number();
  for (let key = 0; key < keys && offset < bytes.length; key += 1) skip();
  skip();
  // Some ciphers add a tag after the private part.
  return offset <= bytes.length && bytes.length - offset <= LONGEST_TAG;
}

function isEncryptedBlock(keyType: string, { lines }: PemBlock, body: string): boolean {
  if (keyType === 'ENCRYPTED') return true;
  if (keyType === 'OPENSSH') {
    return !Buffer.from(body, 'base64').subarray(0, OPENSSH_PLAIN.length).equals(OPENSSH_PLAIN);
  }
  return lines.some((line) => /^Proc-Type: .*ENCRYPTED/.test(line));
}

function isPrivateKey({ label }: PemBlock): boolean {
  return label.endsWith('PRIVATE KEY');
}
