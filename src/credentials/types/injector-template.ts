import { messageOf } from '../../common/errors/errors.js';
import { jinjaAs, MAX_ENGINE_TEXT, printedLength, withoutRawBlocks } from '../../common/jinja.js';

/**
 * Node of a parsed template. `value` is the name of an identifier, `property` the right side of a
 * member.
 */
interface Node {
  type: string;
  value?: unknown;
  property?: Node;
  callee?: Node;
  args?: Node[];
}

interface RuntimeValue {
  type: string;
  value: unknown;
  toString(): string;
}

interface Scope {
  variables: Map<string, RuntimeValue>;
  set(name: string, value: unknown): RuntimeValue;
}

interface TemplateInterpreter {
  run(program: Node): RuntimeValue;
  evaluate(statement: Node | undefined, scope: Scope): RuntimeValue;
  applyFilter(operand: RuntimeValue, filter: Node, scope: Scope): RuntimeValue;
  evaluateArguments(nodes: Node[], scope: Scope): [RuntimeValue[], Map<string, RuntimeValue>];
}

const { Environment, Interpreter, parse, tokenize } = jinjaAs<{
  Environment: new () => Scope;
  Interpreter: new (scope: Scope) => TemplateInterpreter;
  tokenize: (source: string) => unknown[];
  parse: (tokens: unknown[]) => Node;
}>();

/** Maximum number of evaluated nodes per rendering. Real injectors need a few dozen. */
const MAX_STEPS = 20_000;

/**
 * Maximum work per rendering: the characters of all texts, and the weighted elements of all lists and
 * dictionaries, over all steps. A step on a megabyte of text counts as one step but takes a millisecond.
 */
const MAX_WORK = 8 * MAX_ENGINE_TEXT;
/** Work per element of a list or dictionary, for which a loop creates values of up to 400 bytes. */
const WORK_OF_ELEMENT = 64;

/** Filters of the engine that can write their arguments once for each element or line. */
const REPEATING_FILTERS: ReadonlySet<unknown> = new Set(['indent', 'join', 'tojson']);

/**
 * Maximum length of a template. The parser looks for a tag after each run of spaces, so its cost grows
 * with the square of the length.
 */
const MAX_TEMPLATE_LENGTH = 4_096;

/** Reason why a template cannot be used. */
export type TemplateFault = 'syntax' | 'undefined' | 'limit' | 'runtime';

/**
 * Error of `renderInjector`. The message contains variable names and syntax of the template, never
 * values.
 */
export class TemplateError extends Error {
  constructor(
    readonly fault: TemplateFault,
    message: string,
  ) {
    super(message);
    this.name = 'TemplateError';
  }
}

/** Names that a template can use: inputs by id, and `tower`. */
export type TemplateScope = Record<string, unknown>;

/**
 * Renders one injector. Only the scope and the constants are defined: there is no `range`, no clock and
 * no access outside the interpreter, and steps and text are limited.
 *
 * @param strict true to treat an undefined name as an error instead of an empty text; used when a type is
 *   saved
 * @throws TemplateError
 */
export function renderInjector(template: string, scope: TemplateScope, strict = false): string {
  const program = compile(template);
  const environment = new Environment();
  const constants = { true: true, false: false, none: null, True: true, False: false, None: null };
  // The scope replaces the interpreter's own names, and cannot redeclare the constants.
  environment.variables.clear();
  for (const [name, value] of Object.entries({ ...scope, ...constants }))
    environment.set(name, value);
  try {
    const text = String(new LimitedInterpreter(environment, strict).run(program).value);
    if (text.includes('\0')) throw new TemplateError('runtime', 'produces a null character');
    return text;
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    // The interpreter's own messages can quote values, so they are not passed on.
    throw new TemplateError('runtime', 'the template cannot be evaluated with these inputs');
  }
}

function compile(template: string): Node {
  if (template.length > MAX_TEMPLATE_LENGTH) {
    throw new TemplateError('limit', `longer than ${MAX_TEMPLATE_LENGTH} characters`);
  }
  try {
    return parse(tokenize(withoutRawBlocks(template)));
  } catch (error) {
    throw new TemplateError('syntax', messageOf(error));
  }
}

/** Interpreter that limits steps and text, and matches Jinja where the base class does not. */
class LimitedInterpreter extends Interpreter {
  #steps = 0;
  #work = 0;

  constructor(
    environment: Scope,
    private readonly strict: boolean,
  ) {
    super(environment);
  }

  override evaluate(statement: Node | undefined, environment: Scope): RuntimeValue {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) throw new TemplateError('limit', 'too many steps');
    if (statement?.type === 'Macro' || statement?.type === 'CallStatement') {
      throw new TemplateError('syntax', 'macros are not supported');
    }
    const value = super.evaluate(statement, environment);
    const length = printedLength(value, MAX_ENGINE_TEXT);
    requireLength(length);
    this.#work += length + elementsOf(value) * WORK_OF_ELEMENT;
    if (this.#work > MAX_WORK) throw new TemplateError('limit', 'too much text in too many steps');
    if (this.strict && value.type === 'UndefinedValue') refuseUndefined(statement);
    // Jinja prints booleans like Python, and playbooks compare with that text.
    if (value.type === 'BooleanValue') value.toString = () => (value.value ? 'True' : 'False');
    return value;
  }

  /** Checks the length of the result before the filter creates it. */
  override applyFilter(operand: RuntimeValue, filter: Node, environment: Scope): RuntimeValue {
    const name = filter.callee?.value;
    if (REPEATING_FILTERS.has(name)) {
      const size = this.sizeOf(filter.args ?? [], environment);
      const text = typeof operand.value === 'string' ? operand.value : null;
      const parts = name === 'join' ? text?.length : text?.split('\n').length;
      requireLength(printedLength(operand, MAX_ENGINE_TEXT, size) + size * (parts ?? 0));
    }
    return super.applyFilter(operand, filter, environment);
  }

  /** Returns the number of characters that arguments can add to each element or line. */
  private sizeOf(nodes: Node[], environment: Scope): number {
    const [positional, named] = this.evaluateArguments(nodes, environment);
    return [...positional, ...named.values()].reduce(
      (size, argument) =>
        size +
        (typeof argument.value === 'number'
          ? Math.abs(argument.value)
          : printedLength(argument, MAX_ENGINE_TEXT)),
      0,
    );
  }
}

function requireLength(length: number): void {
  if (length <= MAX_ENGINE_TEXT) return;
  throw new TemplateError('limit', `produces more than ${MAX_ENGINE_TEXT} characters`);
}

const elementsOf = ({ value }: RuntimeValue): number =>
  Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0;

function refuseUndefined(node: Node | undefined): void {
  if (node?.type === 'Identifier') {
    throw new TemplateError('undefined', `'${String(node.value)}' is undefined`);
  }
  if (node?.type === 'MemberExpression') {
    throw new TemplateError(
      'undefined',
      `attribute '${String(node.property?.value)}' is undefined`,
    );
  }
}
