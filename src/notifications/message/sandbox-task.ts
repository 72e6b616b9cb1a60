/** One template to evaluate. */
export interface TemplateInput {
  readonly template: string;
  /** True to refuse unknown variables (when saving); false to render them as "" (when sending). */
  readonly strict: boolean;
  /**
   * True to also return the text as a JSON document, in which values are escaped for the strings
   * that contain them.
   */
  readonly isJson?: boolean;
}

/** A rendered text, with `json` for `isJson`; or the reason why the template cannot be rendered. */
export type TemplateOutput =
  | { readonly text: string; readonly json?: string }
  | {
      readonly fault: 'syntax' | 'undefined' | 'security' | 'limit' | 'runtime';
      /** Name of the field for `undefined` and `security`; otherwise the engine's error message. */
      readonly reason: string;
    };

export interface SandboxLimits {
  readonly maxTemplateLength: number;
  /** Maximum number of steps: evaluated nodes, including loop iterations, and the sizes of values. */
  readonly maxSteps: number;
  /** Number of characters of a value that count as one more step. */
  readonly textPerStep: number;
  /** Number of items of a list or dictionary that count as one more step when they are read. */
  readonly itemsPerStep: number;
  /** Number of items that count as one more step when they can be new or are iterated over. */
  readonly newItemsPerStep: number;
  readonly maxOutputLength: number;
  readonly maxRange: number;
}

export interface SandboxTask {
  readonly templates: readonly TemplateInput[];
  readonly context: Readonly<Record<string, unknown>>;
  readonly limits: SandboxLimits;
  readonly openPaths: readonly string[];
}

/** The parts of the engine's untyped tree that the checks read. */
export interface TreeNode {
  readonly type: string;
  readonly value?: unknown;
  readonly object?: TreeNode;
  readonly property?: TreeNode;
  readonly computed?: boolean;
  readonly operand?: TreeNode;
  readonly filter?: TreeNode;
  readonly test?: TreeNode;
  readonly callee?: TreeNode;
  readonly args?: readonly TreeNode[];
  /** Argument of `*` and `**`. */
  readonly argument?: TreeNode;
  /** Value that a `for` block iterates over. With a condition, the value is in `lhs`. */
  readonly iterable?: TreeNode;
  readonly call?: TreeNode;
  readonly lhs?: TreeNode;
  readonly key?: TreeNode;
  readonly operator?: { readonly value: string };
  readonly left?: TreeNode;
  readonly right?: TreeNode;
  readonly body?: readonly TreeNode[];
  readonly alternate?: readonly TreeNode[];
  readonly defaultBlock?: readonly TreeNode[];
  /** Returns the printed text of an expression's value. */
  readonly print?: (value: EngineValue) => string;
  /** Value of a node that represents an already evaluated value. */
  readonly engineValue?: EngineValue;
}

export interface EngineValue {
  readonly type: string;
  readonly value: unknown;
}

export interface EngineScope {
  readonly constructor: new () => EngineScope;
  set(name: string, value: unknown): EngineValue;
  lookupVariable(name: string): EngineValue;
}

export type Evaluate = (node: TreeNode | undefined, scope: EngineScope) => EngineValue;

/** The parts of the template engine that this module uses. */
export interface TemplateEngine {
  readonly Environment: new () => EngineScope;
  readonly Interpreter: new (scope: EngineScope) => {
    evaluate: Evaluate;
    run(program: TreeNode): EngineValue;
  };
  tokenize(source: string, options: object): readonly unknown[];
  parse(tokens: readonly unknown[]): TreeNode;
}
