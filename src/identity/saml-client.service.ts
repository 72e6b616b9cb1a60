import { randomBytes } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { SAML, ValidateInResponseTo, type Profile } from '@node-saml/node-saml';
import { messageOf, type Forbidden } from '../common/errors/errors.js';
import { isRecord, listOf, memberOf } from '../common/records.js';
import { Database } from '../database/database.js';
import type { AuthenticatorOf } from './authenticator.entity.js';
import { refused } from './external-logins.service.js';
import type { Claims } from './external-rights.js';
import type { LoginChecks } from './oauth-client.service.js';
import { SamlResponsesRepository } from './saml-responses.repository.js';

/** Addresses of this controller in the configuration of a provider. */
export interface SamlAddresses {
  entityId: string;
  /** URL that the browser posts responses to. */
  callback: string;
}

type SamlProvider = AuthenticatorOf<'saml'>;

const SKEW_MS = 60_000;
/** Maximum age of a request, and of its response. */
const LIFETIME_MS = 600_000;
const MAX_RESPONSE = 262_144;
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';

/** SAML 2.0 with the redirect binding for requests and the POST binding for responses. */
@Injectable()
export class SamlClient {
  private readonly logger = new Logger('SingleSignOn');

  constructor(
    private readonly database: Database,
    private readonly responses: SamlResponsesRepository,
  ) {}

  /** Starts a login. Returns the URL to redirect the browser to, and the checks of the callback. */
  async begin(
    provider: SamlProvider,
    addresses: SamlAddresses,
  ): Promise<LoginChecks & { url: string }> {
    const state = randomBytes(24).toString('base64url');
    const id = `_${randomBytes(24).toString('hex')}`;
    const url = await samlOf(provider, addresses, id).getAuthorizeUrlAsync(state, undefined, {});
    return { url, state, nonce: id, verifier: '' };
  }

  /**
   * Verifies a response: signature of the assertion, issuer, audience, times, request and
   * recipient. A response is accepted once.
   *
   * @returns the attributes, and claims of OpenID Connect from the attributes that the
   *   configuration names
   * @throws Forbidden with the reason
   */
  async complete(
    provider: SamlProvider,
    addresses: SamlAddresses,
    { nonce: id }: LoginChecks,
    sent: unknown,
  ): Promise<Claims> {
    let claims: Claims;
    try {
      claims = claimsOf(provider, await profileOf(provider, addresses, id, sent));
    } catch (error) {
      throw this.refusalOf(provider, messageOf(error).slice(0, 100));
    }
    const isFirst = await this.database.transaction(() =>
      this.responses.take(id, LIFETIME_MS / 1000),
    );
    if (!isFirst) throw this.refusalOf(provider, 'the response was used before');
    return claims;
  }

  private refusalOf(provider: SamlProvider, reason: string): Forbidden {
    this.logger.warn({ message: 'login failed', authenticator: provider.slug, reason });
    return refused(`The response of the identity provider ${provider.name} is invalid: ${reason}.`);
  }

  /** Returns the metadata that a provider is configured with. */
  metadata(provider: SamlProvider, addresses: SamlAddresses): string {
    return samlOf(provider, addresses, '').generateServiceProviderMetadata(null);
  }
}

/**
 * Returns the library's client for one login. It accepts responses to the request of this login
 * only.
 */
function samlOf(
  { configuration }: SamlProvider,
  { entityId, callback }: SamlAddresses,
  id: string,
): SAML {
  const requestTime = new Date().toISOString();
  return new SAML({
    callbackUrl: callback,
    entryPoint: configuration.entry_point,
    issuer: entityId,
    audience: entityId,
    idpCert: certificatesIn(configuration.certificates),
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    validateInResponseTo: ValidateInResponseTo.always,
    requestIdExpirationPeriodMs: LIFETIME_MS,
    acceptedClockSkewMs: SKEW_MS,
    maxAssertionAgeMs: LIFETIME_MS,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    generateUniqueId: () => id,
    cacheProvider: {
      saveAsync: () => Promise.resolve(null),
      getAsync: (requestId) => Promise.resolve(requestId === id ? requestTime : null),
      removeAsync: () => Promise.resolve(null),
    },
  });
}

/** Returns the profile of a valid response. */
async function profileOf(
  provider: SamlProvider,
  addresses: SamlAddresses,
  id: string,
  sent: unknown,
): Promise<Profile> {
  if (typeof sent !== 'string' || sent.length > MAX_RESPONSE)
    throw new Error('it is missing or too large');
  // Entities could hide or multiply text. No provider needs them.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(Buffer.from(sent, 'base64').toString())) {
    throw new Error('it contains a document type declaration');
  }
  const { profile } = await samlOf(provider, addresses, id).validatePostResponseAsync({
    SAMLResponse: sent,
  });
  if (!profile) throw new Error('it has no assertion');
  if (profile.issuer !== provider.configuration.idp_entity_id) throw new Error('wrong issuer');
  if (!isConfirmed(profile, id, addresses.callback)) throw new Error('wrong request or recipient');
  return profile;
}

/**
 * Returns true if the signed assertion is for the request and the callback. The library does not check
 * this.
 */
function isConfirmed(profile: Profile, id: string, callback: string): boolean {
  const [subject] = listOf(memberOf(profile.getAssertion?.().Assertion, 'Subject'));
  return listOf(memberOf(subject, 'SubjectConfirmation')).some((confirmation) => {
    const [data] = listOf(memberOf(confirmation, 'SubjectConfirmationData'));
    const attributes = memberOf(data, '$');
    return (
      memberOf(memberOf(confirmation, '$'), 'Method') === BEARER &&
      memberOf(attributes, 'InResponseTo') === id &&
      memberOf(attributes, 'Recipient') === callback
    );
  });
}

function claimsOf({ configuration }: SamlProvider, profile: Profile): Claims {
  const attributes = isRecord(profile.attributes) ? profile.attributes : {};
  const textOf = (name: string): unknown => listOf([attributes[name]].flat())[0];
  const { subject_attribute: subject } = configuration;
  if (subject === '' && profile.nameIDFormat === TRANSIENT) {
    throw new Error('its NameID changes at each login, set a subject attribute');
  }
  const sub = subject === '' ? profile.nameID : textOf(subject);
  if (typeof sub !== 'string' || sub === '') throw new Error('it contains no subject');
  return {
    ...attributes,
    sub,
    preferred_username: textOf(configuration.username_attribute),
    given_name: textOf(configuration.first_name_attribute),
    family_name: textOf(configuration.last_name_attribute),
    email: textOf(configuration.email_attribute),
  };
}

/** Returns the PEM certificates of a text. */
const certificatesIn = (text: string): string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
