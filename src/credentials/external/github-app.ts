import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { resultOr } from '../../common/errors/errors.js';
import { textInput } from '../types/inputs.js';
import { LookupError } from './lookup-error.js';
import { memoized, type SecretStore, baseOf, bearer, segmentOf } from './secret-store.js';
import { tokenIn } from './store-response.js';

/** Lifetime of the app's JWT in seconds. GitHub accepts up to ten minutes. */
const PROOF_SECONDS = 5 * 60;
/** Maximum time in seconds by which the clock of this machine can be ahead of GitHub's. */
const CLOCK_SECONDS = 60;

/** Gets tokens of one installation of a GitHub App. They are valid for an hour. */
export const githubApp: SecretStore = (inputs, { call }) => ({
  read: memoized(async () => {
    const installation = segmentOf(textInput(inputs, 'install_id'), 'install_id');
    const response = await call({
      method: 'POST',
      url: `${baseOf(textInput(inputs, 'github_url'))}/app/installations/${installation}/access_tokens`,
      headers: {
        Accept: 'application/vnd.github+json',
        ...bearer(await proof(textInput(inputs, 'app_id'), textInput(inputs, 'private_rsa_key'))),
      },
    });
    return tokenIn(response, 'token');
  }),
});

function proof(app: string, key: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({})
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(app)
    .setIssuedAt(now - CLOCK_SECONDS)
    .setExpirationTime(now + PROOF_SECONDS)
    .sign(rsaKey(key));
}

/** @throws LookupError */
function rsaKey(pem: string): KeyObject {
  // The message of the library could quote the key.
  const key = resultOr(() => createPrivateKey(pem), null);
  if (key?.asymmetricKeyType === 'rsa') return key;
  throw new LookupError(
    'The private key of the app is not an RSA key in PEM without a passphrase.',
  );
}
