import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { LoginRefused, resultOr } from '../common/errors/errors.js';
import { parseJson } from '../common/fields/json-bounds.js';
import { currentScope } from '../common/http/request-scope.js';
import { openState, sealState } from '../common/http/sealed-state.js';
import { isRecord, listOf } from '../common/records.js';
import { Database } from '../database/database.js';
import { BaseUrl } from '../settings/base-url.service.js';
import { PasskeysRepository } from './passkeys.repository.js';
import type { Passkey } from './second-factor.entity.js';

const LIFETIME_MS = 300_000;
const RP_NAME = 'Automation Controller';

/** Options for the browser, and the sealed challenge that verifies the browser's response. */
export interface Ceremony {
  options: object;
  state: string;
}

/** Parts of a passkey that the authenticator created. */
export type NewPasskey = Pick<Passkey, 'credential_id' | 'public_key' | 'counter' | 'transports'>;

/** WebAuthn ceremonies for the address in the setting `BASE_URL`. */
@Injectable()
export class Passkeys {
  constructor(
    private readonly stored: PasskeysRepository,
    private readonly database: Database,
    private readonly baseUrl: BaseUrl,
    private readonly box: SecretBox,
  ) {}

  /** Returns true if passkeys can be used at the address. Browsers refuse IP addresses. */
  async areUsable(origin: string): Promise<boolean> {
    const { id } = await this.site(origin);
    return isIP(id.replace(/^\[|\]$/g, '')) === 0;
  }

  /** Starts the creation of a passkey in the session of the request. */
  async beginCreation({ id, username }: Actor, origin: string): Promise<Ceremony> {
    const known = await this.stored.ofUser(id);
    const options = await generateRegistrationOptions({
      rpName: RP_NAME,
      rpID: (await this.site(origin)).id,
      userName: username,
      userID: handleOf(id),
      excludeCredentials: known.map((passkey) => ({ id: passkey.credential_id })),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    });
    return { options, state: this.seal(creationOf(id), options.challenge) };
  }

  /** Returns the passkey that a browser has created; null if the response is not valid. */
  async created(
    { id }: Actor,
    origin: string,
    state: unknown,
    sent: unknown,
  ): Promise<NewPasskey | null> {
    const opened = openState(this.box, creationOf(id), state);
    const credentialSent = credentialIn(sent);
    if (!opened || !credentialSent) return null;
    const { response, ...parts } = credentialSent;
    const attestationObject = String(response.attestationObject);
    if (!OFFLINE_FORMATS.has(formatOf(attestationObject))) return null;
    const site = await this.site(origin);
    const result = await verifyRegistrationResponse({
      response: {
        ...parts,
        response: { clientDataJSON: String(response.clientDataJSON), attestationObject },
      },
      expectedChallenge: String(opened.challenge),
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: false,
    }).catch(() => null);
    if (!result?.verified) return null;
    const { credential } = result.registrationInfo;
    return {
      credential_id: credential.id,
      public_key: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: transportsIn(response.transports),
    };
  }

  /**
   * Starts a login with one of the passkeys of a user; returns null if the user cannot use
   * passkeys.
   */
  async beginUse(user: number, origin: string): Promise<Ceremony | null> {
    const known = await this.stored.ofUser(user);
    if (known.length === 0 || !(await this.areUsable(origin))) return null;
    const options = await generateAuthenticationOptions({
      rpID: (await this.site(origin)).id,
      userVerification: 'preferred',
      allowCredentials: known.map(({ credential_id: id, transports }) => ({
        id,
        transports: transportsIn(transports),
      })),
    });
    return { options, state: this.seal(useOf(user), options.challenge) };
  }

  /**
   * Starts a login with a passkey alone, which the authenticator finds by the address. Returns null
   * if passkeys cannot be used at the address.
   */
  async beginPasswordless(origin: string): Promise<Ceremony | null> {
    if (!(await this.areUsable(origin))) return null;
    const options = await generateAuthenticationOptions({
      rpID: (await this.site(origin)).id,
      userVerification: 'required',
    });
    return { options, state: this.seal(PASSWORDLESS, options.challenge) };
  }

  /** @throws LoginRefused if the response is not valid, or was used before */
  async use(
    { id, username }: Pick<Actor, 'id' | 'username'>,
    origin: string,
    state: unknown,
    sent: unknown,
  ): Promise<void> {
    const opened = openState(this.box, useOf(id), state);
    const response = credentialIn(sent);
    const known = await this.stored.ofUser(id);
    const passkey = known.find(({ credential_id: credentialId }) => credentialId === response?.id);
    const isRight =
      opened && response && passkey && (await this.accepts(passkey, { origin, opened, response }));
    if (!isRight) throw new LoginRefused(NOT_ACCEPTED, username);
  }

  /**
   * Returns the id of the user whose passkey signed the challenge. The authenticator must have
   * verified the user.
   *
   * @throws LoginRefused if the response is not valid, or was used before
   */
  async usePasswordless(origin: string, state: unknown, sent: unknown): Promise<number> {
    const opened = openState(this.box, PASSWORDLESS, state);
    const response = credentialIn(sent);
    const passkey =
      opened && response && (await this.stored.findOneBy({ credential_id: response.id }));
    const isRight =
      passkey &&
      response.response.userHandle === handleOf(passkey.user_id).toString('base64url') &&
      (await this.accepts(passkey, { origin, opened, response, verifiesUser: true }));
    if (!isRight) throw new LoginRefused(NOT_ACCEPTED);
    return passkey.user_id;
  }

  /** Records the use of a passkey, if the response is valid and new. */
  private async accepts(
    { id, credential_id: credentialId, public_key: key, counter: lastCounter }: Passkey,
    { origin, opened, response: credentialSent, verifiesUser = false }: SignedChallenge,
  ): Promise<boolean> {
    const { response, ...parts } = credentialSent;
    const site = await this.site(origin);
    const result = await verifyAuthenticationResponse({
      response: {
        ...parts,
        response: {
          clientDataJSON: String(response.clientDataJSON),
          authenticatorData: String(response.authenticatorData),
          signature: String(response.signature),
        },
      },
      expectedChallenge: String(opened.challenge),
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      credential: {
        id: credentialId,
        publicKey: new Uint8Array(Buffer.from(key, 'base64url')),
        counter: lastCounter,
      },
      requireUserVerification: verifiesUser,
    }).catch(() => null);
    if (!result?.verified) return false;
    const { newCounter: counter } = result.authenticationInfo;
    const issued = Number(opened.issued);
    return this.database.transaction(() => this.stored.use({ id, counter, issued }));
  }

  private seal(context: readonly unknown[], challenge: string): string {
    return sealState(this.box, context, { challenge, issued: Date.now() }, LIFETIME_MS);
  }

  /**
   * Returns the public address: `BASE_URL`, or the address of the request if the setting is empty.
   */
  private async site(requested: string): Promise<{ id: string; origin: string }> {
    const { hostname: id, origin } = new URL(await this.baseUrl.get(requested));
    return { id, origin };
  }
}

/** Contexts of sealed challenges: a use is bound to the user, a creation also to the session. */
const creationOf = (user: number): unknown[] => ['passkey', user, currentScope()?.sessionDigest];
const useOf = (user: number): unknown[] => ['passkey login', user];
const PASSWORDLESS = ['passkey alone'];

const NOT_ACCEPTED = 'The passkey was not accepted. Try again.';

/** Returns the user handle in passkeys. */
const handleOf = (user: number) => Buffer.from(`user ${user}`);

/** Response of an authenticator to a challenge. */
interface SignedChallenge {
  origin: string;
  /** Content of the sealed challenge. */
  opened: Record<string, unknown>;
  response: SentCredential;
  /** True if the authenticator must have verified its user, such as by a fingerprint. */
  verifiesUser?: boolean;
}

/** Credential as a browser sends it. The library verifies the texts of the response. */
interface SentCredential {
  id: string;
  rawId: string;
  type: 'public-key';
  clientExtensionResults: object;
  response: Readonly<Record<string, unknown>>;
}

/** Parses the credential that a browser sent as JSON; returns null if it is invalid. */
function credentialIn(sent: unknown): SentCredential | null {
  const parsed = typeof sent === 'string' ? resultOr(() => parseJson(sent), null) : null;
  if (!isRecord(parsed) || !isRecord(parsed.response)) return null;
  const { id, rawId, response, type } = parsed;
  if (typeof id !== 'string' || type !== 'public-key') return null;
  return { id, rawId: String(rawId), type, clientExtensionResults: {}, response };
}

/**
 * Formats of attestations that the library verifies without a request. For other formats it requests lists of
 * revoked certificates, from any address in the certificates that the browser sent.
 */
const OFFLINE_FORMATS: ReadonlySet<unknown> = new Set(['none', 'packed', 'fido-u2f', 'tpm']);

/** Returns the format of an attestation; null if the attestation is invalid. */
const formatOf = (attestation: string): unknown =>
  resultOr(() => decodeAttestationObject(isoBase64URL.toBuffer(attestation)).get('fmt'), null);

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

const transportsIn = (transports: unknown): (typeof TRANSPORTS)[number][] =>
  TRANSPORTS.filter((transport) => listOf(transports).includes(transport));
