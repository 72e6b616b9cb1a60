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
  const hasProxy = named.some(([name, value]) => !/^no_/i.test(name) && value !== '');
  return hasProxy ? Object.fromEntries(named) : null;
}

/**
 * Runs a task with the variables of the operator's proxy or, without one, of a local proxy that connects
 * only to addresses which the guard permits.
 *
 * @param task receives the environment variables and the messages of the rejected connections
 */
export async function withHttpProxy<T>(
  guard: AddressGuard,
  task: (environment: Record<string, string>, refusals: readonly string[]) => Promise<T>,
): Promise<T> {
  const operator = operatorProxy();
  if (operator) return task(operator, []);
  const proxy = await GuardedHttpProxy.open(guard);
  try {
    return await task({ http_proxy: proxy.url, https_proxy: proxy.url }, proxy.refusals);
  } finally {
    await proxy.close();
  }
}
