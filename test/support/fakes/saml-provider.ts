import { inflateRawSync } from 'node:zlib';
import { randomBytes } from 'node:crypto';

import { SignedXml } from 'xml-crypto';

import { SAML_KEY } from './saml-certificate.js';

export const ENTRY_POINT = 'https://idp.example.com/sso?tenant=1';
export const IDP_ENTITY_ID = 'https://idp.example.com/metadata';

const ASSERTION = "//*[local-name(.)='Assertion']";
const RESPONSE = "/*[local-name(.)='Response']";
const NAMESPACES =
  'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';

/** Request of a login, as the browser sends it. */
export interface SamlRequest {
  id: string;
  callback: string;
  audience: string;
  relayState: string;
}

/** Reads the request in a URL of the redirect binding. */
export function samlRequestIn(url: string): SamlRequest {
  const { searchParams } = new URL(url);
  const deflated = Buffer.from(searchParams.get('SAMLRequest') ?? '', 'base64');
  const xml = inflateRawSync(deflated).toString();
  const read = (pattern: RegExp): string => pattern.exec(xml)?.[1] ?? '';
  return {
    id: read(/ ID="([^"]+)"/),
    callback: read(/AssertionConsumerServiceURL="([^"]+)"/),
    audience: read(/<saml:Issuer[^>]*>([^<]+)</),
    relayState: searchParams.get('RelayState') ?? '',
  };
}

export interface AssertionFacts {
  nameId: string;
  format?: string;
  issuer?: string;
  audience?: string;
  recipient?: string;
  /** Request id in the signed assertion; null omits the id. */
  subjectRequest?: string | null;
  /** Request id in the response, which need not be signed; null omits the id. */
  request?: string | null;
  /** Seconds from now. */
  notBefore?: number;
  notOnOrAfter?: number;
  attributes?: Record<string, string | string[]>;
}

const instant = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();
const newId = (): string => `_${randomBytes(12).toString('hex')}`;
const attribute = (name: string, value: string | undefined | null): string =>
  value === undefined || value === null ? '' : ` ${name}="${value}"`;

/** Returns an assertion without a signature. */
export function assertionOf(request: SamlRequest, facts: AssertionFacts): string {
  const { notBefore = -5, notOnOrAfter = 300, attributes = {} } = facts;
  const subjectRequest = facts.subjectRequest === undefined ? request.id : facts.subjectRequest;
  const statements = Object.entries(attributes).map(
    ([name, values]) =>
      `<saml:Attribute Name="${name}">${[values]
        .flat()
        .map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`)
        .join('')}</saml:Attribute>`,
  );
  return (
    `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${newId()}" Version="2.0" IssueInstant="${instant(0)}">` +
    `<saml:Issuer>${facts.issuer ?? IDP_ENTITY_ID}</saml:Issuer>` +
    `<saml:Subject><saml:NameID${attribute('Format', facts.format)}>${facts.nameId}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${instant(notOnOrAfter)}" Recipient="${facts.recipient ?? request.callback}"${attribute('InResponseTo', subjectRequest)}/></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions NotBefore="${instant(notBefore)}" NotOnOrAfter="${instant(notOnOrAfter)}"><saml:AudienceRestriction><saml:Audience>${facts.audience ?? request.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
    (statements.length > 0
      ? `<saml:AttributeStatement>${statements.join('')}</saml:AttributeStatement>`
      : '') +
    `</saml:Assertion>`
  );
}

/** Returns a response with assertions. */
export const responseOf = (
  request: SamlRequest,
  content: string,
  { request: inResponseTo = request.id, issuer = IDP_ENTITY_ID }: Partial<AssertionFacts> = {},
): string =>
  `<samlp:Response ${NAMESPACES} ID="${newId()}" Version="2.0" IssueInstant="${instant(0)}" Destination="${request.callback}"${attribute('InResponseTo', inResponseTo)}>` +
  `<saml:Issuer>${issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>${content}</samlp:Response>`;

/** Signs the assertion, or the whole response. */
export function signed(
  xml: string,
  { key = SAML_KEY, part = 'assertion' }: { key?: string; part?: 'assertion' | 'response' } = {},
): string {
  const signature = new SignedXml({
    privateKey: key,
    signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  });
  const target = part === 'assertion' ? ASSERTION : RESPONSE;
  signature.addReference({
    xpath: target,
    transforms: [
      'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
      'http://www.w3.org/2001/10/xml-exc-c14n#',
    ],
    digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
  });
  const reference = `${target}/*[local-name(.)='Issuer']`;
  signature.computeSignature(xml, { location: { reference, action: 'after' } });
  return signature.getSignedXml();
}
