import { escapeHtml } from '../../common/escape-html.js';
import { FilterArguments, type Filter } from './filter-arguments.js';
import {
  areEqual,
  nodeOf,
  isJinjaList,
  numberOf,
  jinjaTextOf,
  requireLength,
  requirePrintable,
  type ValueFactory,
} from './jinja-values.js';
import { LIST_FILTERS } from './list-filters.js';
import { printf } from './printf.js';
import type { EngineValue, TreeNode } from './sandbox-task.js';
import { TEXT_FILTERS } from './text-filters.js';

/**
 * Built-in filters of Jinja 3.1 that the engine lacks, or whose results differ from Jinja's.
 * `urlize`, `xmlattr`, `attr`, `random`, `pprint`, `striptags` and `wordwrap` are not supported:
 * templates that use them are refused.
 */
const FILTERS: ReadonlyMap<string, Filter> = new Map(
  Object.entries({ ...TEXT_FILTERS, ...LIST_FILTERS }),
);

type EvaluateNode = (node: TreeNode | undefined) => EngineValue;

interface FilterTools {
  readonly evaluate: EvaluateNode;
  /** Applies a built-in filter of the engine. */
  readonly engineFilter: EvaluateNode;
  readonly make: ValueFactory;
  /** Values already marked as HTML; `escape` returns them unchanged. */
  readonly markup: WeakSet<EngineValue>;
}

interface OperatorTools {
  readonly evaluate: EvaluateNode;
  /** Applies an operator of the engine. */
  readonly engineOperator: EvaluateNode;
  readonly make: ValueFactory;
}

/** Returns true if the node applies `default`, which accepts undefined variables. */
export function isDefaultFilter(node: TreeNode): boolean {
  return ['default', 'd'].includes(filterOf(node));
}

const filterOf = ({ filter }: TreeNode): string =>
  String(filter?.callee?.value ?? filter?.value ?? '');

/**
 * Applies a filter. This function applies `FILTERS`, `safe`, the filters that escape, and `map`, `select` and
 * `reject` of lists; the engine applies the other filters, with a converted operand.
 */
export function applyFilter(
  node: TreeNode,
  operand: EngineValue,
  { evaluate, engineFilter, make, markup }: FilterTools,
): EngineValue {
  const name = filterOf(node);
  const args = node.filter?.args ?? [];
  const firstArgument = args[0]?.value;
  const call = (filter: string, value: EngineValue): EngineValue =>
    engineFilter({ ...node, operand: nodeOf(value), filter: filterNode(filter, args) });
  const filtered = (filter: string, value: EngineValue, params: readonly TreeNode[]): EngineValue =>
    evaluate({ ...node, operand: nodeOf(value), filter: filterNode(filter, params) });
  const marked = (value: EngineValue): EngineValue => {
    markup.add(value);
    return value;
  };
  const filter = FILTERS.get(name);
  if (filter) {
    const value = filter(operand, argumentsOf(args, evaluate), make);
    return name === 'tojson' ? marked(value) : value;
  }
  const list = isJinjaList(operand.value) ? operand.value : null;
  switch (name) {
    case 'd':
    case 'default':
      return call('default', operand);
    case 'safe':
      return marked(make.text(jinjaTextOf(operand)));
    case 'e':
    case 'escape':
      return markup.has(operand) ? operand : marked(make.text(htmlEscaped(jinjaTextOf(operand))));
    case 'forceescape':
      return marked(make.text(htmlEscaped(jinjaTextOf(operand))));
    case 'map':
    case 'select':
    case 'reject':
      if (!list) return call(name, operand);
      if (name !== 'map' && args.length === 0) {
        return make.list(list.filter((item) => isTruthy(item) === (name === 'select')));
      }
      if (args[0]?.type !== 'StringLiteral') return call(name, operand);
      return make.list(
        name === 'map'
          ? list.map((item) => filtered(String(firstArgument), item, args.slice(1)))
          : list.filter((item) => passes(item, firstArgument, evaluate) === (name === 'select')),
      );
    default:
      return call(name, operand);
  }
}

/**
 * Returns the arguments of a filter.
 *
 * @throws Error for `*` and `**`
 */
function argumentsOf(nodes: readonly TreeNode[], evaluate: EvaluateNode): FilterArguments {
  const positional: EngineValue[] = [];
  const named = new Map<string, EngineValue>();
  for (const node of nodes) {
    if (/Spread/.test(node.type)) throw new Error('filters do not accept unpacked arguments');
    if (node.type !== 'KeywordArgumentExpression') positional.push(evaluate(node));
    else if (isNode(node.value)) named.set(String(node.key?.value), evaluate(node.value));
  }
  return new FilterArguments(positional, named);
}

const isNode = (value: unknown): value is TreeNode =>
  typeof value === 'object' && value !== null && 'type' in value;

/** Returns true if `item is <test>` is true. */
function passes(item: EngineValue, test: unknown, evaluate: EvaluateNode): boolean {
  const identifier = { type: 'Identifier', value: test };
  return (
    evaluate({ type: 'TestExpression', operand: nodeOf(item), test: identifier }).value === true
  );
}

function filterNode(name: string, args: readonly TreeNode[]): TreeNode {
  const identifier = { type: 'Identifier', value: name };
  // The engine supports `default` only as a call, and other filters without arguments only as a
  // name.
  const isCall = args.length > 0 || name === 'default';
  return isCall ? { type: 'CallExpression', callee: identifier, args } : identifier;
}

/**
 * Applies the operators whose results in the engine differ from Python's or can be large; the engine
 * applies the others.
 */
export function applyOperator(
  node: TreeNode,
  { evaluate, engineOperator, make }: OperatorTools,
): EngineValue {
  const symbol = node.operator?.value ?? '';
  if (!['%', '*', '~', '+', '==', '!='].includes(symbol)) return engineOperator(node);
  const [first, second] = [evaluate(node.left), evaluate(node.right)];
  switch (symbol) {
    case '+':
      if ([first, second].some(({ value }) => typeof value === 'string')) {
        requirePrintable(first);
        requirePrintable(second);
      }
      return engineOperator({ ...node, left: nodeOf(first), right: nodeOf(second) });
    case '==':
    case '!=':
      return make.boolean(areEqual(first, second) === (symbol === '=='));
    case '~':
      return make.text(jinjaTextOf(first) + jinjaTextOf(second));
    case '%':
      return typeof first.value === 'string'
        ? make.text(printf(first.value, second))
        : remainder(first, second, make);
    default:
      return repeated(first, second, make);
  }
}

/** Returns the remainder, which has the sign of the divisor, as in Python. */
function remainder(left: EngineValue, right: EngineValue, make: ValueFactory): EngineValue {
  const [number, divisor] = [numberOf(left), numberOf(right)];
  if (divisor === 0) throw new Error('integer modulo by zero');
  const result = number - divisor * Math.floor(number / divisor) || 0 * divisor;
  return isFloat(left) || isFloat(right) ? make.float(result) : make.integer(result);
}

function repeated(left: EngineValue, right: EngineValue, make: ValueFactory): EngineValue {
  const [content, count] = typeof right.value === 'number' ? [left, right] : [right, left];
  if (typeof content.value !== 'string') {
    const product = numberOf(left) * numberOf(right);
    return isFloat(left) || isFloat(right) ? make.float(product) : make.integer(product);
  }
  const times = Math.max(numberOf(count), 0);
  requireLength(content.value.length * times);
  return make.text(content.value.repeat(times));
}

const isFloat = ({ type }: EngineValue): boolean => type === 'FloatValue';

const isTruthy = ({ value }: EngineValue): boolean =>
  isJinjaList(value) ? value.length > 0 : value instanceof Map ? value.size > 0 : Boolean(value);

/** Escapes HTML like Jinja, which escapes `"` as `&#34;`. */
const htmlEscaped = (text: string): string => escapeHtml(text).replaceAll('&quot;', '&#34;');
