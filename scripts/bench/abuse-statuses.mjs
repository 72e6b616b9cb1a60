/**
 * Statuses that prove that a request has reached the measured code. A request that is refused earlier measures
 * other code. A request that waits for the database may succeed or time out.
 *
 * @type {Readonly<Record<string, readonly number[]>>}
 */
const STATUSES = {
  'a compressed body': [401],
  JSON: [401],
  'a delivery without a signature': [403],
  'a login of many fields': [400],
  'a wrong password': [401],
  headers: [302],
  'YAML of 64 KB': [403],
  'a host with YAML': [201],
  'hosts with YAML': [201],
  'hosts with much JSON': [201],
  'a name of nine megabytes': [400, 413],
  // A caller without roles is refused before the content is checked, or for the content.
  'a deep object': [400, 403],
  'blocks of 120 KB': [400, 403],
  'blocks of 260 KB': [400, 403],
  'YAML of aliases': [400, 403],
  filters: [200],
  'filters over relations': [200, 503],
  'search terms': [200],
  orders: [200],
  ids: [200],
  'a large page': [200],
  'a page with a form': [200],
  'a variable of a megabyte': [201],
  'many variables': [201],
  'variables in an object': [201],
  'a hundred launches': [201],
  'variables of a hundred launches': [201],
  'an inventory for Ansible': [200],
  'rules without occurrences': [200],
  'a rule that occurs': [200],
  'exceptions without occurrences': [200],
  'years without a match': [200],
  'months without a match': [200],
  'a rule of many times': [200],
};
/** Statuses of all other requests, which are refused for their content. */
const DEFAULT_STATUSES = [400];

/**
 * @param {import('./abuse-requests.mjs').Abuse} one
 * @param {number} status
 * @throws Error for a status that does not prove that the request reached the measured code
 */
export function assertStatus({ name }, status) {
  const expected = STATUSES[name] ?? DEFAULT_STATUSES;
  if (expected.includes(status)) return;
  throw new Error(`"${name}" returned ${status}, not ${expected.join(' or ')}.`);
}
