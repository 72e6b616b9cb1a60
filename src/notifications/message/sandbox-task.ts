/** One template to evaluate. */
export interface TemplateInput {
  readonly template: string;
  /** Refuse unknown variables (at save) instead of rendering them as "" (at send). */
  readonly strict: boolean;
}

/** What becomes of a template: text, or why there is none. */
export type TemplateOutput =
  | { readonly text: string }
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
