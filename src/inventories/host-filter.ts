import { BadRequest } from '../common/errors/errors.js';
import { ExactNumber } from '../common/exact-json.js';
import type { ExpressionParts } from '../common/resource/expression.js';
import { and, or, type Sql } from '../database/sql.js';
import { hasFacts } from './host-facts.repository.js';
import {
  HostFilterError,
  parseHostFilter,
  type HostCondition,
  type HostFilter,
} from './host-filter-grammar.js';

const FACTS = 'ansible_facts';
/** Lookups that end the keys of list queries; facts only support comparison of whole values. */
const LOOKUP = /^(i?(exact|contains|startswith|endswith|regex)|gte?|lte?|in|isnull|search|int)$/;
/** Key prefixes of list queries that filters express with words, or do not support. */
const PREFIX = /^(not|or|chain)(__|$)/;

/**
 * Returns the condition on a row of hosts for a filter (docs/contract/resources.md#host-filters).
 *
 * @throws BadRequest for an invalid filter, Forbidden for a filter on a protected field
 */
export function hostFilterCondition(text: string, alias: string, parts: ExpressionParts): Sql {
  const compile = (filter: HostFilter): Sql => {
    if (filter.kind !== 'condition') {
      return (filter.kind === 'and' ? and : or)(...filter.parts.map(compile));
    }
    const path = filter.key.split('__');
    if (path[0] === FACTS) return hasFacts(alias, factsIn(path.slice(1), filter));
    return conditionOf(filter, parts);
  };
  try {
    return compile(parseHostFilter(text));
  } catch (error) {
    const isInvalid = error instanceof HostFilterError || error instanceof ConditionError;
    throw isInvalid ? new BadRequest(`Invalid query ${text}: ${error.message}`) : error;
  }
}

/** Error for a condition that filters do not support. */
class ConditionError extends Error {}

function conditionOf({ key, value, isQuoted }: HostCondition, parts: ExpressionParts): Sql {
  if (PREFIX.test(key)) throw new ConditionError(`Host has no field named '${key}'`);
  try {
    if (key === 'search') return parts.search(value);
    const isNull = value === 'null' && !isQuoted && !LOOKUP.test(key.split('__').at(-1) ?? '');
    return isNull ? parts.condition(`${key}__isnull`, 'true') : parts.condition(key, value);
  } catch (error) {
    throw error instanceof BadRequest ? new ConditionError(error.message) : error;
  }
}

/**
 * Returns the facts that a host must contain: `a__b=v` is `{"a": {"b": v}}`, `a[]__b=v` is `{"a":
 * [{"b": v}]}`.
 */
function factsIn(keys: readonly string[], { value, isQuoted }: HostCondition): object {
  const last = keys.at(-1) ?? '';
  const path = keys.length > 1 && last === 'exact' ? keys.slice(0, -1) : keys;
  if (path === keys && keys.length > 1 && LOOKUP.test(last)) {
    throw new BadRequest(`${FACTS} does not support searching with __${last}`);
  }
  if (path.length === 0 || path.some((name) => /^(\[\])*$/.test(name))) {
    throw new ConditionError(`${FACTS} is followed by the name of a fact, as in ${FACTS}__a__b`);
  }
  const [outermost = '', ...deeper] = path;
  const innermost: unknown = isQuoted ? value : typed(value);
  return nested(
    outermost,
    deeper.reduceRight((inner, name) => nested(name, inner), innermost),
  );
}

/** Returns an object with one key; `a[]` is a list that contains the value. */
const nested = (name: string, wanted: unknown): Record<string, unknown> =>
  name.endsWith('[]') ? { [name.slice(0, -2)]: [wanted] } : { [name]: wanted };

/** Converts an unquoted value to its JSON type. JSON numbers have no plus sign and no leading zeros. */
function typed(value: string): unknown {
  if (value === 'null') return null;
  if (value === 'true' || value === 'false') return value === 'true';
  const [, sign, digits] = /^(?:\+|(-))?0*(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  return digits === undefined ? value : new ExactNumber(`${sign ?? ''}${digits}`);
}
