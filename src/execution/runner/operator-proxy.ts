const PROXY = /^(?:https?|all|no)_proxy$/i;

/**
 * The variables by which the operator's environment names a proxy: what leaves by it is that one's to guard.
 * Empty where there is none.
 */
export function operatorProxy(environment: NodeJS.ProcessEnv): Record<string, string> {
  const named = Object.entries(environment).filter(
    (entry): entry is [string, string] => PROXY.test(entry[0]) && entry[1] !== undefined,
  );
  const isThere = named.some(([name, value]) => !/^no_/i.test(name) && value !== '');
  return isThere ? Object.fromEntries(named) : {};
}
