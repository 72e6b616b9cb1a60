import { SAML, ValidateInResponseTo, type Profile } from '@node-saml/node-saml';
import { messageOf } from '../common/errors/errors.js';
import { isRecord, listOf, memberOf } from '../common/records.js';
import type { AuthenticatorOf } from './authenticator.entity.js';
import type { Claims } from './external-rights.js';

/** Addresses of this controller in the configuration of a provider. */
export interface SamlAddresses {
  entityId: string;
  /** URL that the browser posts responses to. */
  callback: string;
}

type SamlConfiguration = AuthenticatorOf<'saml'>['configuration'];

/** A response to the request with an id, as a browser has sent it. */
export interface SamlTask {
  configuration: SamlConfiguration;
  addresses: SamlAddresses;
  id: string;
  sent: string;
}

/** The claims of a valid response, or the reason why it is refused. */
export type SamlOutcome = { readonly claims: Claims } | { readonly fault: string };

const SKEW_MS = 60_000;
/** Maximum age of a request, and of its response. */
export const LIFETIME_MS = 600_000;
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';

/** Verifies a response and returns its claims. The time can grow with the square of its length. */
export async function readSamlResponse(task: SamlTask): Promise<SamlOutcome> {
  try {
    return { claims: claimsOf(task.configuration, await profileOf(task)) };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

/**
 * Returns the library's client for one login. It accepts responses to the request of this login
 * only.
 */
export function samlOf(
  configuration: SamlConfiguration,
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
async function profileOf({ configuration, addresses, id, sent }: SamlTask): Promise<Profile> {
  // Entities could hide or multiply text. No provider needs them.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(Buffer.from(sent, 'base64').toString())) {
    throw new Error('it contains a document type declaration');
  }
  const { profile } = await samlOf(configuration, addresses, id).validatePostResponseAsync({
    SAMLResponse: sent,
  });
  if (!profile) throw new Error('it has no assertion');
  if (profile.issuer !== configuration.idp_entity_id) throw new Error('wrong issuer');
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

function claimsOf(configuration: SamlConfiguration, profile: Profile): Claims {
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
