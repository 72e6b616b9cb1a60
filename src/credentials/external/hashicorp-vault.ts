import { textInput } from '../types/inputs.js';
import {
  once,
  type SecretLocation,
  type SecretStore,
  pathSegments,
  segmentOf,
  type StoreContext,
  baseOf,
  bearer,
  JSON_HEADERS,
} from './secret-store.js';
import { requiredField, objectIn, tokenOf } from './store-response.js';
import type { OutboundRequest, OutboundResponse } from '../../outbound/outbound-client.js';
import type { CredentialInputs } from '../types/definition.js';
import { memberOf } from '../../common/records.js';
import { LookupError } from './lookup-error.js';

/** Paths at which Vault shows the token of a request, also in a namespace. */
const OWN_TOKEN = /(?:^|\/)auth\/token\/lookup(?:-self)?$/;

/** Reads key-value secrets from HashiCorp Vault, with both versions of the engine. */
export const hashicorpVault: SecretStore = (inputs, context) => {
  const session = new VaultSession(inputs, context);
  const secrets = new Map<string, Promise<Record<string, unknown>>>();
  const isVersioned = textInput(inputs, 'api_version') === 'v2';
  return {
    close: () => session.close(),
    async read(location) {
      const path = pathOf(location, isVersioned);
      // A user who may only use the store would get its token.
      if (OWN_TOKEN.test(path)) throw new LookupError('The token of the store cannot be read.');
      const secret = await once(secrets, JSON.stringify([location.auth_path ?? '', path]), () =>
        session.data({ method: 'GET', path }, location),
      );
      const key = location.secret_key ?? '';
      const isInside = isVersioned || !Object.hasOwn(secret, key);
      return requiredField(isInside ? secret.data : secret, key, location.secret_path ?? '');
    },
  };
};

/** Signs public keys with the SSH engine of HashiCorp Vault. */
export const hashicorpVaultSsh: SecretStore = (inputs, context) => {
  const session = new VaultSession(inputs, context);
  const certificates = new Map<string, Promise<Record<string, unknown>>>();
  return {
    close: () => session.close(),
    async read(location) {
      const { secret_path: mount = '', role = '', public_key, valid_principals } = location;
      const path = [...pathSegments(mount), 'sign', segmentOf(role, 'role')].join('/');
      const body = JSON.stringify({
        public_key,
        ...(valid_principals ? { valid_principals } : {}),
      });
      const data = await once(certificates, JSON.stringify([location.auth_path, path, body]), () =>
        session.data({ method: 'POST', path, body }, location),
      );
      return requiredField(data, 'signed_key', mount);
    },
  };
};

/** Returns path and query of a secret below `/v1/`. */
function pathOf(
  {
    secret_backend: backend = '',
    secret_path: path = '',
    secret_version: version = '',
  }: SecretLocation,
  isVersioned: boolean,
): string {
  const parts = [...pathSegments(backend), ...pathSegments(path)];
  if (!isVersioned) return parts.join('/');
  const mounted = pathSegments(backend).length || 1;
  const query = version === '' ? '' : `?version=${encodeURIComponent(version)}`;
  return [...parts.slice(0, mounted), 'data', ...parts.slice(mounted)].join('/') + query;
}

/** Login with HashiCorp Vault's API: mount, request body, and path after `login`. */
interface Login {
  mount: string;
  body: Record<string, string>;
  suffix?: string;
}

/** Calls HashiCorp Vault with one credential. Logs in once for each authentication path. */
class VaultSession {
  private readonly tokens = new Map<string, Promise<string>>();
  /** Tokens that logins of this session created; `close` revokes them. */
  private readonly issued: string[] = [];
  private readonly base: string;
  private readonly tls: OutboundRequest['tls'];

  constructor(
    private readonly inputs: CredentialInputs,
    private readonly context: StoreContext,
  ) {
    this.base = `${baseOf(textInput(inputs, 'url'))}/v1/`;
    const [ca, cert, key] = ['cacert', 'client_cert_public', 'client_cert_private'].map((id) =>
      textInput(inputs, id),
    );
    this.tls = { ...(ca ? { ca } : {}), ...(cert && key ? { cert, key } : {}) };
  }

  /** Sends a request and returns the `data` of the response. */
  async data(
    request: { path: string } & Pick<OutboundRequest, 'method' | 'body'>,
    { auth_path: authPath = '' }: SecretLocation,
  ): Promise<Record<string, unknown>> {
    const token = await once(this.tokens, authPath, () => this.token(authPath));
    const response = objectIn(await this.send(request, token));
    const data = memberOf(response, 'data');
    if (typeof data !== 'object' || data === null) {
      throw new LookupError('The response has no data.');
    }
    return { ...data };
  }

  /** Revokes the tokens that logins created. */
  async close(): Promise<void> {
    const request = { method: 'POST', path: 'auth/token/revoke-self' } as const;
    await Promise.all(this.issued.splice(0).map((token) => this.send(request, token)));
  }

  private async token(authPath: string): Promise<string> {
    const storedToken = textInput(this.inputs, 'token');
    if (storedToken !== '') return storedToken;
    const { mount, body, suffix } = await this.login(authPath);
    const path = [
      'auth',
      ...pathSegments(mount),
      'login',
      ...(suffix ? pathSegments(suffix) : []),
    ].join('/');
    const response = await this.send({ method: 'POST', path, body: JSON.stringify(body) });
    const token = tokenOf(memberOf(objectIn(response).auth, 'client_token'));
    this.issued.push(token);
    return token;
  }

  /** Returns the first authentication method with complete inputs, in the order of precedence. */
  private async login(authPath: string): Promise<Login> {
    const [username = '', password = '', role_id = '', secret_id = '', kubernetes = '', name = ''] =
      ['username', 'password', 'role_id', 'secret_id', 'kubernetes_role', 'client_cert_role'].map(
        (id) => textInput(this.inputs, id),
      );
    // The default of the input is the mount of AppRole; the other methods have other default mounts.
    const configuredMount = textInput(this.inputs, 'default_auth_path');
    const mountOr = (defaultMount: string): string =>
      authPath ||
      (configuredMount === '' || configuredMount === 'approle' ? defaultMount : configuredMount);
    if (username && password) {
      return { mount: mountOr('userpass'), body: { password }, suffix: username };
    }
    if (role_id && secret_id) return { mount: mountOr('approle'), body: { role_id, secret_id } };
    if (kubernetes) {
      const jwt = await this.context.podToken(this.base);
      return { mount: mountOr('kubernetes'), body: { role: kubernetes, jwt } };
    }
    if (this.tls?.cert) return { mount: mountOr('cert'), body: name ? { name } : {} };
    const [role = '', audience = ''] = ['jwt_role', 'jwt_aud'].map((id) =>
      textInput(this.inputs, id),
    );
    if (role && audience) {
      const jwt = await this.context.runToken(audience, 'login');
      return { mount: mountOr('jwt'), body: { role, jwt } };
    }
    throw new LookupError(
      'Token, username and password, AppRole, Kubernetes or TLS authentication parameters must be set.',
    );
  }

  private async send(
    { path, ...request }: { path: string } & Pick<OutboundRequest, 'method' | 'body'>,
    token?: string,
  ): Promise<OutboundResponse> {
    const namespace = textInput(this.inputs, 'namespace');
    return this.context.call({
      ...request,
      url: this.base + path,
      headers: {
        ...(token === undefined ? {} : { 'X-Vault-Token': token, ...bearer(token) }),
        ...(request.body === undefined ? {} : JSON_HEADERS),
        ...(namespace ? { 'X-Vault-Namespace': namespace } : {}),
      },
      ...(this.tls ? { tls: this.tls } : {}),
    });
  }
}
