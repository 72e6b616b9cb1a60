import type { HostOutcome } from '../../runs/run-overviews.repository.js';

/** Kinds of runs that send notifications, by their API type names. */
export type MessageRunKind =
  'job' | 'workflow_job' | 'project_update' | 'inventory_update' | 'ad_hoc_command' | 'system_job';

/** Counters of one host at the end of a play; `failed` is true if the host failed overall. */
export type HostCounters = Readonly<Omit<HostOutcome, 'job_id' | 'host_name'>>;

/** A node of a finished workflow, for the text summary. */
export interface WorkflowNodeFacts {
  readonly node: number;
  /** Run of the node; null if the node started none. */
  readonly job: { readonly id: number; readonly name: string; readonly status: string } | null;
}

/** The approval of an approval event. */
export interface ApprovalFacts {
  readonly id: number;
  readonly nodeName: string;
  /** Status: `pending`, `approved`, `timed_out` or `denied`. */
  readonly status: string;
  /** Absolute link to the workflow in the user interface. */
  readonly workflowUrl: string;
  readonly started: string | null;
  readonly finished: string | null;
}

/**
 * All data that a message can contain about a run, loaded by the caller. For an approval event, these
 * are the facts of the run that waits for the approval, and `approval`, so that `{{ job.* }}` also works
 * in approval texts.
 */
export interface MessageFacts {
  readonly kind: MessageRunKind;
  /**
   * The API representation of the run with its `summary_fields`. Only allow-listed keys reach a
   * template, so additional keys are safe.
   */
  readonly representation: Readonly<Record<string, unknown>>;
  /** Absolute link to the run in the user interface. */
  readonly uiUrl: string;
  readonly traceback: string;
  /** Variables as JSON text, with secrets replaced by `$encrypted$`. */
  readonly extraVars: string;
  /** Name of the machine credential. */
  readonly credential: string | null;
  /** Counters by host; null for kinds of runs without hosts, such as workflow jobs. */
  readonly hosts: Readonly<Record<string, HostCounters>> | null;
  readonly nodes?: readonly WorkflowNodeFacts[];
  readonly approval?: ApprovalFacts;
}

/**
 * Returns the facts as of the start of the run, because a short run can end before its start
 * message is rendered.
 */
export function asStarted({ representation, ...facts }: MessageFacts): MessageFacts {
  const start = { status: 'running', failed: false, finished: null, elapsed: 0 };
  return {
    ...facts,
    representation: { ...representation, ...start, job_explanation: '', artifacts: {} },
    traceback: '',
    ...(facts.hosts ? { hosts: {} } : {}),
    ...(facts.nodes ? { nodes: [] } : {}),
  };
}
