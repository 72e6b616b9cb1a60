/** One template to evaluate. */
export interface TemplateInput {
  readonly template: string;
  /** Refuse unknown variables (at save) instead of rendering them as "" (at send). */
  readonly strict: boolean;
  /** Give the text as a JSON document too, with values escaped for the strings that they stand in. */
  readonly isJson?: boolean;
}

/** A rendered text, `json` for `isJson`; or why a template cannot be rendered. */
export type TemplateOutput =
  | { readonly text: string; readonly json?: string }
  | {
      readonly fault: 'syntax' | 'undefined' | 'security' | 'limit' | 'runtime';
      /** For `undefined` and `security` the name concerned, else the engine's text. */
      readonly reason: string;
    };

export interface SandboxLimits {
  /** Nodes of the template that may be evaluated, loops included. */
  readonly maxSteps: number;
  /** Characters of a value that count as one more step. */
  readonly textPerStep: number;
  readonly maxOutputLength: number;
  readonly maxRange: number;
}

export interface SandboxTask {
  readonly templates: readonly TemplateInput[];
  readonly context: Readonly<Record<string, unknown>>;
  readonly limits: SandboxLimits;
  readonly openPaths: readonly string[];
}

/** The parts of the engine's untyped tree that the checks look at. */
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
  readonly key?: TreeNode;
  readonly operator?: { readonly value: string };
  readonly left?: TreeNode;
  readonly right?: TreeNode;
  readonly body?: readonly TreeNode[];
  readonly alternate?: readonly TreeNode[];
  readonly defaultBlock?: readonly TreeNode[];
  /** Returns the text that an expression prints for its value. */
  readonly print?: (value: EngineValue) => string;
  /** Of a node that stands for a value already evaluated. */
  readonly given?: EngineValue;
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

/** The parts of the template engine that are used. */
export interface TemplateEngine {
  readonly Environment: new () => EngineScope;
  readonly Interpreter: new (scope: EngineScope) => {
    evaluate: Evaluate;
    run(program: TreeNode): EngineValue;
  };
  tokenize(source: string, options: object): readonly unknown[];
  parse(tokens: readonly unknown[]): TreeNode;
}
