import { jinjaAs } from '../../common/jinja.js';
import type {
  EngineScope,
  EngineValue,
  Evaluate,
  SandboxTask,
  TemplateEngine,
  TemplateInput,
  TemplateOutput,
  TreeNode,
} from './sandbox-task.js';

const engine = jinjaAs<TemplateEngine>();

/** Thrown by the checks. */
interface SandboxFault extends Error {
  readonly fault: 'undefined' | 'security' | 'limit';
}

/** Renders every template of a task; one that fails does not disturb the others. */
export function renderAll(task: SandboxTask): TemplateOutput[] {
  return task.templates.map((input) => {
    try {
      return { text: renderOne(input, task) };
    } catch (error) {
      if (error instanceof RangeError) return { fault: 'limit', reason: 'it is too deeply nested' };
      const reason = error instanceof Error ? error.message : String(error);
      if (isSandboxFault(error)) return { fault: error.fault, reason };
      return { fault: error instanceof SyntaxError ? 'syntax' : 'runtime', reason };
    }
  });
}

function renderOne(input: TemplateInput, task: SandboxTask): string {
  const program = parseTemplate(input.template);
  const scope = createScope(task);
  const interpreter = new engine.Interpreter(scope);
  guardInterpreter(interpreter, scope, input.strict, task);
  const text = String(interpreter.run(program).value);
  if (text.length > task.limits.maxOutputLength) throw createFault('limit', 'the text is too long');
  return text;
}

/** The engine reports faults of the grammar in several error classes; here all are SyntaxErrors. */
function parseTemplate(template: string) {
  try {
    // No options: the defaults of Jinja keep the line breaks after block tags.
    return engine.parse(engine.tokenize(template, {}));
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new SyntaxError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function createScope(task: SandboxTask): EngineScope {
  const scope = new engine.Environment();
  const range = (start: number, stop?: number, step = 1): number[] => {
    const [from, to] = stop === undefined ? [0, start] : [start, stop];
    const length = Math.max(Math.ceil((to - from) / step), 0);
    if (!Number.isFinite(length) || length > task.limits.maxRange) {
      throw createFault('limit', `range() gives at most ${task.limits.maxRange} numbers`);
    }
    return Array.from({ length }, (_, index) => from + index * step);
  };
  const constants = { true: true, True: true, false: false, False: false, none: null, None: null };
  for (const [name, value] of Object.entries({ ...constants, range, ...task.context })) {
    scope.set(name, value);
  }
  return scope;
}

/**
 * Wraps the one method every node passes through: counts steps, bounds intermediate texts, refuses
 * names of internals, reports unknown variables in strict mode and adds the filters the engine
 * lacks. The engine keeps its values in Maps, so no name reaches a JavaScript prototype anyway.
 */
function guardInterpreter(
  interpreter: { evaluate: Evaluate },
  scope: EngineScope,
  strict: boolean,
  task: SandboxTask,
): void {
  const original = interpreter.evaluate.bind(interpreter);
  const { maxSteps, maxOutputLength, textPerStep } = task.limits;
  let steps = 0;
  const spend = (count: number): void => {
    if ((steps += count) > maxSteps) throw createFault('limit', 'it takes too many steps');
  };
  /** Above zero inside `default(...)` and `is defined`, where unknown variables are the point. */
  let forgiving = 0;
  const forgive: Evaluate = (node, inner) => {
    forgiving++;
    try {
      return interpreter.evaluate(node, inner);
    } finally {
      forgiving--;
    }
  };
  const dispatch: Evaluate = (node, inner) => {
    if (node?.type === 'FilterExpression') {
      const operand = (isDefault(node) ? forgive : interpreter.evaluate)(node.operand, inner);
      return applyFilter(node, operand, (changed) => original(changed, inner), scope);
    }
    if (node?.type === 'TestExpression') {
      return original({ ...node, operand: given(forgive(node.operand, inner)) }, inner);
    }
    return original(node, inner) ?? scope.lookupVariable('');
  };
  interpreter.evaluate = (node, inner) => {
    spend(1);
    if (node?.given) return node.given;
    refuseInternals(node);
    const value = dispatch(node, inner);
    const length = typeof value.value === 'string' ? value.value.length : 0;
    if (length > maxOutputLength) throw createFault('limit', 'the text is too long');
    spend(Math.floor(length / textPerStep));
    if (strict && forgiving === 0) refuseUnknown(node, value, task.openPaths);
    return value;
  };
}

/** A node that stands for a value already evaluated. */
function given(value: EngineValue): TreeNode {
  return { type: 'Given', given: value };
}

function isDefault(node: TreeNode): boolean {
  const name = node.filter?.callee?.value ?? node.filter?.value;
  return name === 'default' || name === 'd';
}

/** Applies a filter: those the engine lacks are made here, the others get a fitting operand. */
function applyFilter(
  node: TreeNode,
  operand: EngineValue,
  evaluate: (node: TreeNode) => EngineValue,
  scope: EngineScope,
): EngineValue {
  const name = String(node.filter?.callee?.value ?? node.filter?.value);
  const args = node.filter?.args ?? [];
  const word = args[0]?.value;
  const call = (filter: string, value: EngineValue, own = args): EngineValue =>
    evaluate({ ...node, operand: given(value), filter: filterNode(filter, own) });
  const list = isList(operand.value) ? operand.value : null;
  switch (name) {
    case 'd':
    case 'default':
      return call('default', operand);
    case 'round':
      return createValue(scope, roundTo(operand.value, word));
    case 'first':
    case 'last': {
      const characters = typeof operand.value === 'string' ? [...operand.value] : [];
      const items = list ?? characters.map((character) => createValue(scope, character));
      return items.at(name === 'first' ? 0 : -1) ?? createValue(scope, undefined);
    }
    case 'map':
    case 'select':
    case 'reject':
      if (!list || args[0]?.type !== 'StringLiteral') return call(name, operand);
      return createList(
        scope,
        name === 'map'
          ? list.map((item) => call(String(word), item, args.slice(1)))
          : list.filter((item) => passes(item, word, evaluate) === (name === 'select')),
      );
    case 'int':
      return isMissing(operand) ? createValue(scope, 0) : call(name, operand);
    default:
      return call(name, isText(name, operand) ? createValue(scope, textOf(operand)) : operand);
  }
}

/** What `item is <test>` says. */
function passes(
  item: EngineValue,
  test: unknown,
  evaluate: (node: TreeNode) => EngineValue,
): boolean {
  const identifier = { type: 'Identifier', value: test };
  return (
    evaluate({ type: 'TestExpression', operand: given(item), test: identifier }).value === true
  );
}

function filterNode(name: string, args: readonly TreeNode[]): TreeNode {
  const identifier = { type: 'Identifier', value: name };
  // The engine knows `default` only as a call, other filters without arguments only as a name.
  const isCall = args.length > 0 || name === 'default';
  return isCall ? { type: 'CallExpression', callee: identifier, args } : identifier;
}

/** Whether a filter works on text and must be given the operand as one. */
function isText(filter: string, operand: EngineValue): boolean {
  if (typeof operand.value === 'string') return false;
  if (/^(length|join)$/.test(filter)) return isMissing(operand);
  return /^(upper|lower|title|capitalize|trim|replace|indent)$/.test(filter);
}

function isMissing({ value }: EngineValue): boolean {
  return value === null || value === undefined;
}

function textOf(operand: EngineValue): string {
  return isMissing(operand) ? '' : String(operand);
}

function roundTo(value: unknown, digits: unknown): number {
  const number = Number(value);
  if (!Number.isFinite(number)) throw new Error('round needs a number');
  return Number(number.toFixed(Math.min(Math.max(Number(digits ?? 0), 0), 20)));
}

/** A runtime value of the engine, whose classes are not exported. */
function createValue(scope: EngineScope, value: unknown): EngineValue {
  if (value === undefined) return scope.lookupVariable('');
  return new scope.constructor().set('value', value);
}

/** The values in a list of the engine. */
function isList(value: unknown): value is EngineValue[] {
  return Array.isArray(value);
}

function createList(scope: EngineScope, items: EngineValue[]): EngineValue {
  const list = createValue(scope, []);
  if (isList(list.value)) list.value.push(...items);
  return list;
}

/** Attributes with an underscore are internals in every sandbox of this template language. */
function refuseInternals(node: TreeNode | undefined): void {
  if (node?.type !== 'MemberExpression' && node?.type !== 'Identifier') return;
  const name = String((node.type === 'Identifier' ? node.value : node.property?.value) ?? '');
  const internal = node.type === 'Identifier' ? /^__/ : /^(_.*|constructor|prototype)$/;
  if (internal.test(name)) throw createFault('security', name);
}

function refuseUnknown(
  node: TreeNode | undefined,
  value: EngineValue,
  openPaths: readonly string[],
): void {
  if (value.type !== 'UndefinedValue') return;
  if (node?.type !== 'Identifier' && node?.type !== 'MemberExpression') return;
  const path = pathOf(node);
  if (openPaths.some((open) => path.startsWith(`${open}.`))) return;
  throw createFault('undefined', path.slice(path.lastIndexOf('.') + 1));
}

/** `job.artifacts['key']` as `job.artifacts.key`. */
function pathOf(node: TreeNode | undefined): string {
  if (node?.type !== 'MemberExpression') return String(node?.value ?? '');
  return `${pathOf(node.object)}.${String(node.property?.value ?? '')}`;
}

function createFault(fault: SandboxFault['fault'], message: string): SandboxFault {
  return Object.assign(new Error(message), { fault });
}

function isSandboxFault(error: unknown): error is SandboxFault {
  return error instanceof Error && 'fault' in error;
}
