import { messageOf } from '../../common/errors/errors.js';
import { jinjaAs, withoutRawBlocks } from '../../common/jinja.js';
import { applyFilter, applyOperator, isDefaultFilter } from './jinja-dialect.js';
import { ValueFactory, isJinjaList, nodeOf, jinjaTextOf } from './jinja-values.js';
import { JsonValues } from './json-values.js';
import type {
  EngineScope,
  EngineValue,
  Evaluate,
  SandboxLimits,
  SandboxTask,
  TemplateEngine,
  TemplateInput,
  TemplateOutput,
  TreeNode,
} from './sandbox-task.js';

const engine = jinjaAs<TemplateEngine>();

/** Error that a check of the sandbox throws. */
interface SandboxFault extends Error {
  readonly fault: 'undefined' | 'security' | 'limit';
}

/** Renders every template of a task; a failing template does not affect the others. */
export function renderAll(task: SandboxTask): TemplateOutput[] {
  return task.templates.map((input) => {
    try {
      return renderOne(input, task);
    } catch (error) {
      if (error instanceof RangeError) return { fault: 'limit', reason: 'it is too deeply nested' };
      const reason = messageOf(error);
      if (isSandboxFault(error)) return { fault: error.fault, reason };
      return { fault: error instanceof SyntaxError ? 'syntax' : 'runtime', reason };
    }
  });
}

function renderOne({ template, strict, isJson }: TemplateInput, task: SandboxTask): TemplateOutput {
  const { maxTemplateLength: max, maxOutputLength } = task.limits;
  if (template.length > max)
    throw createFault('limit', `it has ${template.length} characters, at most ${max} are allowed`);
  const values = isJson ? new JsonValues() : null;
  const program = addOutputs(parseTemplate(template), values);
  const scope = createScope(task);
  const interpreter = new engine.Interpreter(scope);
  guardInterpreter(interpreter, scope, strict, task);
  const rendered = String(interpreter.run(program).value);
  const output = values ? values.fill(rendered) : { text: rendered };
  if (output.text.length > maxOutputLength) throw createFault('limit', 'the text is too long');
  return output;
}

/** Block nodes that print nothing, or only the content of their blocks. */
const STATEMENTS = new Set(['If', 'For', 'Set', 'Macro', 'Comment', 'Break', 'Continue']);

/**
 * Returns a tree whose expressions print their values as Jinja does. Values that are printed
 * directly, and not by a macro or `set`, are stored in `values`.
 */
function addOutputs(node: TreeNode, values: JsonValues | null): TreeNode {
  const isDirect = ['Program', 'If', 'For'].includes(node.type);
  const inner = isDirect ? values : null;
  const block = (nodes: readonly TreeNode[]): TreeNode[] =>
    nodes.map((part) => {
      if (part.type === 'StringLiteral') return part;
      const printed = addOutputs(part, inner);
      return STATEMENTS.has(part.type)
        ? printed
        : {
            type: 'Output',
            operand: printed,
            print: (value) => inner?.add(value) ?? jinjaTextOf(value),
          };
    });
  const { body, alternate, defaultBlock } = node;
  if (!body) return node;
  if (node.type === 'FilterStatement') {
    const operand = { type: 'Program', body: block(body) };
    return { ...node, type: 'FilterExpression', operand };
  }
  return {
    ...node,
    body: block(body),
    ...(alternate && { alternate: block(alternate) }),
    ...(defaultBlock && { defaultBlock: block(defaultBlock) }),
  };
}

/**
 * Parses a template. The engine reports syntax errors in several error classes; this function
 * converts all of them to SyntaxErrors.
 */
function parseTemplate(template: string) {
  try {
    // No options: the defaults of Jinja keep the line breaks after block tags.
    return engine.parse(engine.tokenize(withoutRawBlocks(template), {}));
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new SyntaxError(messageOf(error), { cause: error });
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
 * Wraps the method that evaluates every node: counts steps, rejects internal names, reports unknown
 * variables in strict mode, and lets filters and operators return the results of Jinja. The engine
 * stores its values in Maps, so no name can reach a JavaScript prototype.
 */
function guardInterpreter(
  interpreter: { evaluate: Evaluate },
  scope: EngineScope,
  strict: boolean,
  task: SandboxTask,
): void {
  const original = interpreter.evaluate.bind(interpreter);
  const steps = new StepCounter(task.limits);
  /**
   * Greater than zero inside `default(...)` and `is defined`, where unknown variables are allowed.
   */
  let lenientDepth = 0;
  const lenient: Evaluate = (node, inner) => {
    lenientDepth++;
    try {
      return interpreter.evaluate(node, inner);
    } finally {
      lenientDepth--;
    }
  };
  const make = new ValueFactory(
    (node) => interpreter.evaluate(node, scope),
    () => scope.lookupVariable(''),
  );
  const markup = new WeakSet<EngineValue>();
  const dispatch: Evaluate = (node, inner) => {
    const evaluate = (part: TreeNode | undefined): EngineValue => interpreter.evaluate(part, inner);
    const engineNode = (part: TreeNode | undefined): EngineValue => original(part, inner);
    switch (node?.type) {
      case 'Iterated':
        return evaluate(node.operand);
      case 'For':
      case 'CallStatement':
      case 'CallExpression':
        return original(withIterated(node), inner);
      case 'MemberExpression':
        // A member of a list or dictionary is found without reading the others.
        if (node.property?.type === 'SliceExpression') return original(node, inner);
        return original({ ...node, object: nodeOf(guarded(node.object, inner)) }, inner);
      case 'Output':
        return make.text(node.print?.(evaluate(node.operand)) ?? '');
      case 'FilterExpression': {
        const input = isDefaultFilter(node) ? lenient(node.operand, inner) : evaluate(node.operand);
        return applyFilter(node, input, { evaluate, engineFilter: engineNode, make, markup });
      }
      case 'TestExpression':
        return original({ ...node, operand: nodeOf(lenient(node.operand, inner)) }, inner);
      case 'BinaryExpression':
        return applyOperator(node, { evaluate, engineOperator: engineNode, make });
      default:
        return original(node, inner) ?? make.missing();
    }
  };
  const guarded: Evaluate = (node, inner) => {
    steps.count();
    if (node?.engineValue) return node.engineValue;
    refuseInternals(node);
    const value = dispatch(node, inner);
    steps.countText(value);
    if (strict && lenientDepth === 0) refuseUnknown(node, value, task.openPaths);
    return value;
  };
  interpreter.evaluate = (node, inner) => steps.countItems(node, guarded(node, inner));
}

/** Counts the work of an evaluation in steps. */
class StepCounter {
  private steps = 0;

  constructor(private readonly limits: SandboxLimits) {}

  count(steps = 1): void {
    this.steps += steps;
    if (this.steps > this.limits.maxSteps) throw createFault('limit', 'it takes too many steps');
  }

  countText({ value }: EngineValue): void {
    if (typeof value !== 'string') return;
    if (value.length > this.limits.maxOutputLength) {
      throw createFault('limit', 'the text is too long');
    }
    this.count(Math.floor(value.length / this.limits.textPerStep));
  }

  /** Counts the items of a node's value and returns the value. */
  countItems(node: TreeNode | undefined, result: EngineValue): EngineValue {
    const { value } = result;
    const items = isJinjaList(value) ? value.length : value instanceof Map ? value.size : 0;
    const { newItemsPerStep, itemsPerStep } = this.limits;
    const perStep = CAN_BE_NEW.has(node?.type) ? newItemsPerStep : itemsPerStep;
    if (!node?.engineValue) this.count(Math.floor(items / perStep));
    return result;
  }
}

/** Types of nodes whose lists and dictionaries can have new items. */
const CAN_BE_NEW = new Set<string | undefined>(['CallExpression', 'FilterExpression', 'Iterated']);

/**
 * Returns a loop or call whose iterated or unpacked items count as new, because the engine creates
 * values for them.
 */
function withIterated(node: TreeNode): TreeNode {
  const { iterable, lhs, argument, call, args } = node;
  const iterated = (operand: TreeNode): TreeNode => ({ type: 'Iterated', operand });
  if (call) return { ...node, call: withIterated(call) };
  if (lhs) return { ...node, lhs: iterated(lhs) };
  if (iterable) {
    return { ...node, iterable: iterable.lhs ? withIterated(iterable) : iterated(iterable) };
  }
  if (argument) return { ...node, argument: iterated(argument) };
  if (!args) return node;
  const isUnpacked = (part: TreeNode): boolean => part.type.includes('Spread');
  return { ...node, args: args.map((part) => (isUnpacked(part) ? withIterated(part) : part)) };
}

/**
 * Refuses attributes that start with an underscore, variables that start with two underscores, and the
 * attributes `constructor` and `prototype`.
 */
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

/** Returns the path of a node: `job.artifacts['key']` as `job.artifacts.key`. */
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
