const PROXY = /^(?:https?|all|no)_proxy$/i;

/**
 * Returns the environment variables that configure the operator's proxy; empty without a proxy.
 * Connections through that proxy are checked by the proxy, not by this program.
 */
export function operatorProxy(environment: NodeJS.ProcessEnv): Record<string, string> {
  const named = Object.entries(environment).filter(
    (entry): entry is [string, string] => PROXY.test(entry[0]) && entry[1] !== undefined,
  );
  const hasProxy = named.some(([name, value]) => !/^no_/i.test(name) && value !== '');
  return hasProxy ? Object.fromEntries(named) : {};
}
