import 'reflect-metadata';
import { createHash, webcrypto } from 'node:crypto';
import { AuthorizationList, KeyDescription } from '@peculiar/asn1-android';
import { AsnSerializer, OctetString } from '@peculiar/asn1-schema';
import * as x509 from '@peculiar/x509';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { sealState } from '../common/http/sealed-state.js';
import type { Database } from '../database/database.js';
import type { BaseUrl } from '../settings/base-url.service.js';
import type { PasskeysRepository } from './passkeys.repository.js';
import { Passkeys } from './passkeys.service.js';

const ORIGIN = 'https://controller.example';
const CHALLENGE = 'AAAA';
const KEY_DESCRIPTION = '1.3.6.1.4.1.11129.2.1.17';
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const VALID = { notBefore: new Date('2020-01-01'), notAfter: new Date('2090-01-01') };

const digestOf = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const newKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

/** Returns a passkey as Android attests it, with certificates that name an address. */
async function attested(address: string, clientData: string): Promise<Buffer> {
  const [rootKeys, keys] = [await newKeys(), await newKeys()];
  const signing = { signingAlgorithm: ALGORITHM, ...VALID };
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ name: 'CN=root', keys: rootKeys, ...signing },
  });
  const description = new KeyDescription({
    attestationChallenge: new OctetString(digestOf(clientData)),
    softwareEnforced: new AuthorizationList(),
    teeEnforced: new AuthorizationList(),
  });
  const leaf = await x509.X509CertificateGenerator.create({
    ...{ subject: 'CN=leaf', issuer: root.subject, publicKey: keys.publicKey, ...signing },
    signingKey: rootKeys.privateKey,
    extensions: [
      new x509.Extension(KEY_DESCRIPTION, false, AsnSerializer.serialize(description)),
      new x509.CRLDistributionPointsExtension([address]),
    ],
  });
  const { x = '', y = '' } = await webcrypto.subtle.exportKey('jwk', keys.publicKey);
  const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64url'));
  const key = isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]),
  );
  const flags = Buffer.from([0x41, 0, 0, 0, 0]);
  const id = Buffer.concat([Buffer.alloc(16), Buffer.from([0, 4]), Buffer.alloc(4)]);
  const authData = Buffer.concat([digestOf('controller.example'), flags, id, key]);
  const x5c = [leaf, root].map(({ rawData }) => new Uint8Array(rawData));
  const attStmt = new Map<string, unknown>([
    ['alg', -7],
    ['sig', new Uint8Array(8)],
    ['x5c', x5c],
  ]);
  return Buffer.from(
    isoCBOR.encode(
      new Map<string, unknown>([
        ['fmt', 'android-key'],
        ['attStmt', attStmt],
        ['authData', new Uint8Array(authData)],
      ]) as never,
    ),
  );
}

it('requests no address from the certificates of a passkey', async () => {
  x509.cryptoProvider.set(webcrypto as Crypto);
  const requested = jest.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('refused'));
  const box = new SecretBox('key');
  const baseUrl = { get: async () => ORIGIN } as unknown as BaseUrl;
  const passkeys = new Passkeys({} as PasskeysRepository, {} as Database, baseUrl, box);
  const clientData = JSON.stringify({
    ...{ type: 'webauthn.create', challenge: CHALLENGE, origin: ORIGIN },
  });
  const attestation = await attested('http://169.254.169.254/latest/', clientData);
  const sent = {
    ...{ id: 'AAAAAA', rawId: 'AAAAAA', type: 'public-key' },
    response: {
      clientDataJSON: Buffer.from(clientData).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
    },
  };
  const state = sealState(box, ['passkey', 1, undefined], { challenge: CHALLENGE }, 60_000);
  const created = await passkeys.created({ id: 1 } as Actor, ORIGIN, state, JSON.stringify(sent));
  expect([created, requested.mock.calls]).toEqual([null, []]);
});
