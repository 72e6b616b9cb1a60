import { Secret, TOTP } from 'otpauth';

const ISSUER = 'Automation Controller';
/** Accepted clock drift, in steps of 30 seconds. */
const DRIFT = 1;
const SECRET_BYTES = 20;
const RECOVERY_BYTES = 10;

/** Returns a new secret in Base32. */
export const newSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** Returns a new recovery code: 80 random bits in Base32, in groups of four. */
export const newRecoveryCode = (): string =>
  new Secret({ size: RECOVERY_BYTES }).base32.replace(/.{4}(?!$)/g, '$&-');

const totpOf = (secret: string, label = ''): TOTP =>
  new TOTP({ issuer: ISSUER, label, secret, algorithm: 'SHA1', digits: 6, period: 30 });

/** Returns the URI of a secret that authenticator apps read from a QR code. */
export const uriOf = (secret: string, username: string): string =>
  totpOf(secret, username).toString();

/** Returns the time step of a code; null if the code is wrong. */
export function stepOf(secret: string, code: string, timestamp = Date.now()): number | null {
  const totp = totpOf(secret);
  const drift = totp.validate({ token: code, timestamp, window: DRIFT });
  return drift === null ? null : totp.counter({ timestamp }) + drift;
}
