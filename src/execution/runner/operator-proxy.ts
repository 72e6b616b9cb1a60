import { join } from 'node:path';
import type { AddressGuard } from '../../outbound/address-guard.js';
import { GuardedHttpProxy } from '../sandbox/guarded-http-proxy.js';

const PROXY = /^(?:https?|all|no)_proxy$/i;

/**
 * Returns the environment variables that configure the operator's proxy; null without a proxy.
 * Connections through that proxy are checked by the proxy, not by this program.
 */
export function operatorProxy(): Record<string, string> | null {
  const named = Object.entries(process.env).filter(
    (entry): entry is [string, string] => PROXY.test(entry[0]) && entry[1] !== undefined,
  );
  return anyProxyOf(Object.fromEntries(named)) === '' ? null : Object.fromEntries(named);
}

/** Returns the address of one of the proxies; empty if none is named. */
const anyProxyOf = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables).find(([name, value]) => !/^no_/i.test(name) && value !== '')?.[1] ?? '';

/**
 * Runs a task with the variables of the operator's proxy or, without one, of a local proxy that connects
 * only to addresses which the guard permits. Python also follows redirects to ftp, which uses a proxy only if
 * one is named for ftp.
 *
 * @param task receives the environment variables and the messages of the rejected connections
 * @param folder folder for the socket of the local proxy, which `PROXY_SOCKET` then names, in place of a port
 */
export async function withHttpProxy<T>(
  guard: AddressGuard,
  task: (environment: Record<string, string>, refusals: readonly string[]) => Promise<T>,
  folder?: string,
): Promise<T> {
  const operator = operatorProxy();
  if (operator) return task({ ...operator, ftp_proxy: anyProxyOf(operator) }, []);
  const socket = folder === undefined ? undefined : join(folder, 'proxy');
  const proxy = await GuardedHttpProxy.open(guard, socket);
  try {
    const { url } = proxy;
    const variables: Record<string, string> =
      socket === undefined
        ? { http_proxy: url, https_proxy: url, ftp_proxy: url }
        : { PROXY_SOCKET: socket };
    return await task(variables, proxy.refusals);
  } finally {
    await proxy.close();
  }
}
