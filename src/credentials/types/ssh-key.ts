/** What is known of a text with private keys: a fault for the user, or whether a key needs a passphrase. */
export type SshKeyCheck = { fault: string } | { fault: null; isEncrypted: boolean };

interface PemBlock {
  label: string;
  lines: string[];
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]{1,40})-----$/;
const END = /^-----END ([A-Z0-9 ]{1,40})-----$/;
const HEADER = /^[A-Za-z0-9-]+: /;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Words before `PRIVATE KEY`: legacy PEM, PKCS 8 plain and encrypted, and OpenSSH's own format. */
const KEY_TYPES = new Set(['RSA', 'DSA', 'EC', 'OPENSSH', '', 'ENCRYPTED']);

/** An OpenSSH key begins with this and the length and name of its cipher; `none` means no passphrase. */
const OPENSSH_PLAIN = Buffer.from('openssh-key-v1\0\0\0\0\x04none', 'latin1');

/** Checks a text that should hold at least one private key, and perhaps certificates. Faults never quote the text. */
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

/** Whether a text is a readable private key with a passphrase. */
export function isEncryptedKey(text: string): boolean {
  const check = checkSshKey(text);
  return check.fault === null && check.isEncrypted;
}

/** The PEM blocks of a text; null when anything but blank lines stands outside of a block. */
function toBlocks(text: string): PemBlock[] | null {
  const blocks: PemBlock[] = [];
  let open: PemBlock | null = null;
  for (const line of text.split('\n').map((part) => part.trim())) {
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
  const body = block.lines.filter((line) => line !== '' && !HEADER.test(line)).join('');
  if (!BASE64.test(body)) return { fault: 'Invalid base64-encoded data' };
  return {
    fault: null,
    isEncrypted: isPrivateKey(block) && isEncryptedBlock(keyType, block, body),
  };
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
