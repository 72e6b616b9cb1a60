import type { OutboundRequest } from '../../common/outbound/outbound-client.js';
import { isRecord } from '../../common/records.js';
import type { CredentialInputs } from '../types/definition.js';
import { textInput } from '../types/inputs.js';
import { LookupError } from './lookup-error.js';
import type { SecretPlace, SecretReader, SecretStore, StoreCall } from './secret-store.js';
import { objectIn, storeTextOf } from './store-answer.js';

/** Login with HashiCorp Vault's API: the request body, and the path after `login`. */
interface Login {
  mount: string;
  body: Record<string, string>;
  suffix?: string;
}

/** Reads key-value secrets from HashiCorp Vault, with both versions of the engine. */
export const hashicorpVault: SecretStore = (inputs, call) => new VaultReader(inputs, call);

class VaultReader implements SecretReader {
  private readonly tokens = new Map<string, Promise<string>>();
  private readonly secrets = new Map<string, Promise<Record<string, unknown>>>();
  private readonly base: string;
  private readonly tls: OutboundRequest['tls'];

  constructor(
    private readonly inputs: CredentialInputs,
    private readonly call: StoreCall,
  ) {
    this.base = `${textInput(inputs, 'url').replace(/\/+$/, '')}/v1/`;
    const [ca, cert, key] = ['cacert', 'client_cert_public', 'client_cert_private'].map((id) =>
      textInput(inputs, id),
    );
    this.tls = { ...(ca ? { ca } : {}), ...(cert && key ? { cert, key } : {}) };
  }

  async read(place: SecretPlace): Promise<string> {
    const path = this.pathOf(place);
    const authPath = place.auth_path ?? '';
    const secret = await once(this.secrets, JSON.stringify([authPath, path]), () =>
      this.fetch(path, authPath),
    );
    const key = place.secret_key ?? '';
    const isInside = this.isVersioned || !Object.hasOwn(secret, key);
    const value = memberOf(isInside ? secret.data : secret, key);
    if (value === undefined || value === null) {
      throw new LookupError(`"${key}" is not present at ${place.secret_path ?? ''}.`);
    }
    return storeTextOf(value);
  }

  private get isVersioned(): boolean {
    return textInput(this.inputs, 'api_version') === 'v2';
  }

  /** Returns path and query below `/v1/`. */
  private pathOf({
    secret_backend: backend = '',
    secret_path: path = '',
    secret_version: version = '',
  }: SecretPlace): string {
    const parts = [...partsOf(backend), ...partsOf(path)];
    if (!this.isVersioned) return parts.join('/');
    const mounted = partsOf(backend).length || 1;
    const query = version === '' ? '' : `?version=${encodeURIComponent(version)}`;
    return [...parts.slice(0, mounted), 'data', ...parts.slice(mounted)].join('/') + query;
  }

  private async fetch(path: string, authPath: string): Promise<Record<string, unknown>> {
    const token = await once(this.tokens, authPath, () => this.token(authPath));
    const headers = { 'X-Vault-Token': token, Authorization: `Bearer ${token}` };
    const answer = await this.send({ method: 'GET', url: this.base + path, headers });
    const { data } = objectIn(answer);
    if (!isRecord(data)) throw new LookupError('The answer has no data.');
    return data;
  }

  private async token(authPath: string): Promise<string> {
    const given = textInput(this.inputs, 'token');
    if (given !== '') return given;
    const { mount, body, suffix } = this.login(authPath);
    const path = ['auth', ...partsOf(mount), 'login', ...(suffix ? partsOf(suffix) : [])].join('/');
    const headers = { 'Content-Type': 'application/json' };
    const answer = await this.send({
      method: 'POST',
      url: this.base + path,
      headers,
      body: JSON.stringify(body),
    });
    const token = memberOf(objectIn(answer).auth, 'client_token');
    if (typeof token !== 'string' || token === '') {
      throw new LookupError('The store answered the login without a token.');
    }
    return token;
  }

  /** Returns the first authentication method with complete inputs, in the order of precedence. */
  private login(authPath: string): Login {
    const [username = '', password = '', role_id = '', secret_id = '', kubernetes = '', name = ''] =
      ['username', 'password', 'role_id', 'secret_id', 'kubernetes_role', 'client_cert_role'].map(
        (id) => textInput(this.inputs, id),
      );
    // The default of the input is the mount of AppRole; the other methods have other default mounts.
    const own = textInput(this.inputs, 'default_auth_path');
    const mountOr = (usual: string): string =>
      authPath || (own === '' || own === 'approle' ? usual : own);
    if (username && password) {
      return { mount: mountOr('userpass'), body: { password }, suffix: username };
    }
    if (role_id && secret_id) return { mount: mountOr('approle'), body: { role_id, secret_id } };
    // This login would send the identity of the worker's pod to a server that users choose.
    if (kubernetes) throw new LookupError('Logging in by a Kubernetes role is not supported.');
    if (this.tls?.cert) return { mount: mountOr('cert'), body: name ? { name } : {} };
    throw new LookupError(
      'Token, username and password, AppRole or TLS authentication parameters must be set.',
    );
  }

  private send(request: OutboundRequest) {
    const namespace = textInput(this.inputs, 'namespace');
    return this.call({
      ...request,
      headers: { ...request.headers, ...(namespace ? { 'X-Vault-Namespace': namespace } : {}) },
      ...(this.tls ? { tls: this.tls } : {}),
    });
  }
}

/**
 * Returns the segments of a path, encoded for a URL.
 *
 * @throws LookupError for segments that lead to another path
 */
function partsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.some((part) => part === '.' || part === '..')) {
    throw new LookupError('A path may not have "." or ".." in it.');
  }
  return parts.map(encodeURIComponent);
}

const memberOf = (value: unknown, key: string): unknown =>
  isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** Returns the cached promise of a key, or creates it. */
function once<T>(known: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const asked = known.get(key) ?? ask();
  known.set(key, asked);
  return asked;
}
