import { randomUUID } from 'node:crypto';

import samlify from 'samlify';

import { SAML_CERTIFICATE, SAML_KEY } from './saml-certificate.js';
import { ENTRY_POINT, IDP_ENTITY_ID, type SamlRequest } from './saml-provider.js';

const { IdentityProvider, ServiceProvider, SamlLib, setSchemaValidator } = samlify;
const ATTRIBUTES = ['uid', 'groups'];
const SERVICE = {
  Binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
  Location: ENTRY_POINT,
};

// The library parses no requests until a schema validator is set. No validator is a dependency.
setSchemaValidator({ validate: () => Promise.resolve('not validated') });

const provider = IdentityProvider({
  entityID: IDP_ENTITY_ID,
  signingCert: SAML_CERTIFICATE,
  privateKey: SAML_KEY,
  requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  singleSignOnService: [SERVICE],
  // The library warns about metadata without this service.
  singleLogoutService: [SERVICE],
  loginResponseTemplate: {
    context: SamlLib.defaultLoginResponseTemplate.context,
    attributes: ATTRIBUTES.map((name) => ({
      name,
      valueTag: name,
      nameFormat: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic',
      valueXsiType: 'xs:string',
    })),
  },
});

/**
 * Creates the response to a login request with samlify, an independent identity provider.
 *
 * @param metadata document of the service provider, with the URL of the response and the parts to sign
 * @param url URL of the redirect binding, with the request
 * @returns the response as XML
 */
export async function samlifyResponse(
  metadata: string,
  url: string,
  { audience, callback }: SamlRequest,
  { uid, groups }: { uid: string; groups: string },
): Promise<string> {
  const service = ServiceProvider({ metadata });
  const query = Object.fromEntries(new URL(url).searchParams);
  const { extract } = await provider.parseLoginRequest(service, 'redirect', { query });
  const start = new Date().toISOString();
  const end = new Date(Date.now() + 300_000).toISOString();
  const render = (template: string) => ({
    id: `_${randomUUID()}`,
    context: SamlLib.replaceTagsByValue(template, {
      ...{ ID: `_${randomUUID()}`, AssertionID: `_${randomUUID()}`, IssueInstant: start },
      ...{ Issuer: IDP_ENTITY_ID, Audience: audience, Destination: callback },
      ...{ SubjectRecipient: callback, InResponseTo: String(extract.request?.id) },
      ...{ StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Success', NameID: uid },
      NameIDFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
      ...{ ConditionsNotBefore: start, ConditionsNotOnOrAfter: end, AuthnStatement: '' },
      ...{ SubjectConfirmationDataNotOnOrAfter: end, attrUid: uid, attrGroups: groups },
    }),
  });
  const { context } = await provider.createLoginResponse(service, { extract }, 'post', {}, render);
  return Buffer.from(context, 'base64').toString();
}
