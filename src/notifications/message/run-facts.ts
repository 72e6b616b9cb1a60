/** The kinds of run that notify, as their API type names. */
export type RunKind =
  | 'job'
  | 'workflow_job'
  | 'project_update'
  | 'inventory_update'
  | 'ad_hoc_command'
  | 'system_job'
  | 'workflow_approval';

/** Counters of one host at the end of a play; `failed` tells whether the host failed in all. */
export interface HostCounters {
  readonly ok: number;
  readonly changed: number;
  readonly dark: number;
  readonly failures: number;
  readonly skipped: number;
  readonly processed: number;
  readonly rescued: number;
  readonly ignored: number;
  readonly failed: boolean;
}

/** A node of a finished workflow, for the text summary. */
export interface WorkflowNodeFacts {
  readonly node: number;
  /** Null when the node started nothing. */
  readonly job: { readonly id: number; readonly name: string; readonly status: string } | null;
}

/** The approval that an approval event is about. */
export interface ApprovalFacts {
  readonly id: number;
  readonly nodeName: string;
  /** `pending`, `approved`, `timed_out` or `denied`. */
  readonly status: string;
  /** Absolute link to the workflow in the user interface. */
  readonly workflowUrl: string;
  readonly started: string | null;
  readonly finished: string | null;
}

/**
 * Everything a message can say about a run, gathered by the caller in one read. For an approval
 * event these are the facts of the parent workflow job, with `approval` beside them, so that
 * `{{ job.* }}` works in approval texts too.
 */
export interface RunFacts {
  readonly kind: RunKind;
  /**
   * The API representation of the run with its `summary_fields`. Only allow-listed keys of it
   * reach a template, so passing more is safe.
   */
  readonly representation: Readonly<Record<string, unknown>>;
  /** Absolute link to the run in the user interface. */
  readonly uiUrl: string;
  readonly traceback: string;
  /** Variables as JSON text, secrets already replaced by `$encrypted$`. */
  readonly extraVars: string;
  /** Name of the machine credential. */
  readonly credential: string | null;
  /** Null for runs without hosts of their own, such as workflows. */
  readonly hosts: Readonly<Record<string, HostCounters>> | null;
  readonly nodes?: readonly WorkflowNodeFacts[];
  readonly approval?: ApprovalFacts;
}
