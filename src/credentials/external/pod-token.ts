import { readFile } from 'node:fs/promises';
import type { Settings } from '../../config/settings.js';
import { LookupError } from './lookup-error.js';

/**
 * Returns the token of the service account of this process's pod, which proves the identity of the
 * process. Users choose the servers of stores, so only servers in the setting get the token.
 *
 * @throws LookupError
 */
export async function podToken(
  {
    VAULT_KUBERNETES_AUTH_HOSTS: hosts,
    VAULT_KUBERNETES_TOKEN_FILE: file,
  }: Pick<Settings, 'VAULT_KUBERNETES_AUTH_HOSTS' | 'VAULT_KUBERNETES_TOKEN_FILE'>,
  url: string,
): Promise<string> {
  const { host } = new URL(url);
  if (!hosts.includes(host)) {
    throw new LookupError(
      `A Kubernetes role cannot be used with ${host}: the setting VAULT_KUBERNETES_AUTH_HOSTS does not name it.`,
    );
  }
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new LookupError('The token of the Kubernetes service account cannot be read.');
  }
}
